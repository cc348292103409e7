// Measures the frames of the timeline in Debian's Chromium, which draws in software, while one zooms and pans with the
// keys:
//
//   testing/page/run.sh --install
//   node bench/frames.mjs GOTRACE_DUMP TRACE [WIDTHxHEIGHT [FRAGMENT [SCROLL]]]
//
// The window has 1920x1080 pixels without another size. FRAGMENT is what stands after # in the page's URL, such as
// 'timeline?open=group:0', and SCROLL how far the lanes are scrolled down, in pixels.

import {ready, settle, startServer} from '../testing/page/served_page.mjs';

const {chromium} = await import(new URL('../build/page/node_modules/playwright-core/index.mjs', import.meta.url));

const [dump, trace, size = '1920x1080', fragment = 'timeline', scroll = '0'] = process.argv.slice(2);
const [width, height] = size.split('x').map(Number);
const server = await startServer(dump, trace);
const browser = await chromium.launch({executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox', '--disable-gpu']});
try {
  const page = await browser.newPage({viewport: {width, height}});
  await page.goto(`${server.url}#${fragment}`);
  await ready(page, 300000);
  await page.evaluate(`window.gotrace.views.get('timeline').scroll.scrollTop = ${Number(scroll)}`);
  await page.waitForTimeout(200);
  await settle(page);
  await page.evaluate(() => {
    const timeline = window.gotrace.views.get('timeline');
    timeline.frameTimes.length = 0;
    window.intervals = [];
    let last = performance.now();
    const frame = (now) => {
      window.intervals.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  for (const key of ['w', 'd', 's', 'a', 'w', 'w', 'a', 's']) {
    await page.keyboard.down(key);
    await page.waitForTimeout(700);
    await page.keyboard.up(key);
  }
  const {lanes, drawn, intervals} = await page.evaluate(() => {
    const timeline = window.gotrace.views.get('timeline'), top = timeline.scroll.scrollTop;
    const isShown = (row) => row.y + row.height > top && row.y < top + timeline.viewHeight;
    return {lanes: timeline.rows.filter((row) => row.id && isShown(row)).length, drawn: timeline.frameTimes, intervals: window.intervals};
  });
  const text = (times) => {
    times.sort((a, b) => a - b);
    const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1);
    return `50 % within ${at(0.5)}, 95 % within ${at(0.95)}, all within ${at(1)} ms`;
  };
  console.log(`${lanes} lanes; drawing ${drawn.length} frames: ${text(drawn)}; from frame to frame: ${text(intervals)}`);
} finally {
  await browser.close();
  await server.stop();
}
