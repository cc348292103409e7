// Tests the page in a real browser, on traces that are given:
//
//   node browser_test.mjs --dump=GOTRACE_DUMP [--chromium=PROGRAM] [--all] TRACE...
//
// All tests run on the first trace, or on all with --all. Only two run on the others: every view, and the way from a
// lock to the timeline. Any message on the browser's console is a failure. run.sh starts it.

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {pathToFileURL} from 'node:url';

import {chromium} from 'playwright-core';

import {ready, settle, startServer} from './served_page.mjs';

const flags = {}, traces = [];
for (const arg of process.argv.slice(2)) {
  const match = /^--([a-z]+)(?:=([^]*))?$/.exec(arg);
  if (match) flags[match[1]] = match[2] ?? true; else traces.push(arg);
}
const VIEWS = ['summary', 'timeline', 'goroutines', 'tasks', 'regions', 'locks', 'latency', 'gc', 'procs', 'heap', 'leaks',
               'profile', 'path', 'events', 'sql'];

const browser = await chromium.launch({executablePath: flags.chromium ?? '/usr/bin/chromium-headless-shell',
                                       args: ['--no-sandbox', '--disable-gpu']});
let failures = 0;

async function withPage(url, fragment, options, test) {
  const page = await browser.newPage({viewport: {width: 1600, height: 1000}, ...options});
  const messages = [];
  let lost = false;
  const origin = url.startsWith('file:') ? url : new URL(url).origin;
  page.on('console', (m) => { if (!lost) messages.push(m.text()); });
  page.on('pageerror', (e) => messages.push(e.stack ?? e.message));
  page.on('dialog', (d) => { messages.push(`dialog ${d.message()}`); void d.dismiss(); });
  page.on('request', (r) => { if (!r.url().startsWith(origin) && !r.url().startsWith('data:')) messages.push(`request ${r.url()}`); });
  try {
    await page.goto(url + fragment);
    await ready(page);
    await test(page, () => { lost = true; });
    assert.deepEqual(messages, []);
  } finally {
    await page.close();
  }
}

const state = (page) => page.evaluate('window.gotrace.store.state');
const text = (page, selector) => page.locator(selector).first().innerText();

async function check(name, body) {
  const begin = Date.now();
  try {
    await body();
    console.log(`ok      ${name} (${Date.now() - begin} ms)`);
  } catch (error) {
    failures++;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}

/** Shows each view, and calls `test` for it. */
async function showViews(page, test, views = VIEWS) {
  for (const view of views) {
    await page.evaluate((v) => window.gotrace.store.set({view: v}), view);
    await settle(page);
    assert.equal(await page.locator('nav button.on').count(), 1);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok(width <= page.viewportSize().width, `${view} is ${width} wide`);
    for (const part of ['#view', '#details:not(.empty)'])
      for (const box of await page.locator(part).evaluateAll((all) => all.map((e) => e.getBoundingClientRect().bottom)))
        assert.ok(box <= page.viewportSize().height, `${view}: ${part} ends at ${box}`);
    await test?.(view);
  }
}

const directory = mkdtempSync(join(tmpdir(), 'gotrace-page-'));

for (const trace of traces) {
  const server = await startServer(flags.dump, trace);
  const {url} = server, name = basename(trace);
  await check(`${name}: every view`, () => withPage(url, '#summary', {}, async (page) => {
    await showViews(page, async (view) => {
      const text = await page.locator('#view').innerText();
      assert.ok(view === 'timeline' || text.length > 0, `${view} is empty`);
      if (view === 'events') assert.doesNotMatch(text, /\u2409/, 'tabs are spaces');
    });
    assert.equal(await page.locator('script').count(), 1, 'names do not become elements');
    if (name === 'cut.trace') assert.match(await text(page, '#banner'), /can be saved is shown/);
  }));
  await check(`${name}: from a lock to a wait for it, and to that in the timeline`, () => withPage(url, '#locks', {}, async (page) => {
    await settle(page);
    const rows = page.locator('tr.go:visible');
    if (await rows.count() === 0) return assert.match(await text(page, '#view'), /No goroutine waited/);
    await rows.first().click();
    await settle(page);
    const {view, params} = await state(page);
    assert.deepEqual([view, params['latency.mode']], ['latency', 'worst']);
    assert.ok(params['latency.stack']);
    assert.ok(await rows.count() > 0);
    await rows.first().click();
    await settle(page);
    const place = await state(page);
    assert.equal(place.view, 'timeline');
    assert.match(place.lane, /^g:/);
  }));
  if (!flags.all && trace !== traces[0]) {
    await server.stop();
    continue;
  }
  await check(`${name}: dark, and narrow`, async () => {
    for (const options of [{colorScheme: 'dark'}, {viewport: {width: 400, height: 800}}]) {
      await withPage(url, '#summary', options, async (page) => {
        assert.match(await page.evaluate('window.gotrace.palette.font'), /^12px \w/, 'canvases have the font of the page');
        await showViews(page, async (view) => {
          const first = page.locator('#view table.data tbody tr:first-child td:first-child');
          if (options.viewport && view !== 'summary' && await first.count() > 0)
            assert.notEqual((await first.first().innerText()).trim(), '', `${view}: the first row says what it is about`);
        });
        // What is selected has its place beside, or below, what it was selected in.
        await page.evaluate(() => window.gotrace.store.set({view: 'timeline', lane: `p:${window.gotrace.trace.procs[0]}`, at: 0}));
        await settle(page);
        await showViews(page, null, ['timeline', 'goroutines']);
        assert.equal(await page.evaluate('document.documentElement.classList.contains("dark")'), options.colorScheme === 'dark');
      });
    }
  });
  await check(`${name}: zoom to both ends, and back`, () => withPage(url, '#timeline', {}, async (page) => {
    for (let i = 0; i < 50; i++) await page.keyboard.press('+');
    let s = await state(page);
    const {duration} = await page.evaluate('window.gotrace.trace');
    if (duration > 2) assert.ok(s.to - s.from <= 2, `${s.to - s.from} ns`);
    await settle(page);
    await page.keyboard.press('0');
    s = await state(page);
    assert.equal(s.from, null);
    await page.keyboard.down('w');
    await page.waitForTimeout(400);
    await page.keyboard.up('w');
    s = await state(page);
    if (duration > 100) assert.ok(s.from !== null && s.to - s.from < duration);
    await page.keyboard.press('0');
    for (const x of [400, 1100]) {
      await page.mouse.move(x, 60);
      if (x === 400) await page.mouse.down(); else await page.mouse.up();
    }
    s = await state(page);
    if (duration > 100) assert.ok(s.to - s.from < duration, 'the strip selects a window');
  }));
  await check(`${name}: selection, links, back and forward`, () => withPage(url, '#timeline', {}, async (page) => {
    const procs = await page.evaluate('window.gotrace.trace.procs');
    if (!procs.length) return;
    await page.evaluate((p) => window.gotrace.store.set({lane: `p:${p}`, at: Math.floor(window.gotrace.trace.duration / 2)}), procs[0]);
    await settle(page);
    assert.match(await text(page, '#details h2'), /[PG] \d+/);
    const first = page.url();
    await page.keyboard.press(']');
    await settle(page);
    await page.keyboard.press('Escape');
    assert.equal((await state(page)).lane, null);
    while (page.url() !== first) await page.goBack();
    assert.equal((await state(page)).lane, `p:${procs[0]}`);
    await page.goForward();
    await page.reload();
    await ready(page);
  }));
  await check(`${name}: marks of the collector are selected by a click`, () => withPage(url, '#timeline', {}, async (page) => {
    for (const kind of ['stops', 'cycles']) {
      const [mark] = JSON.parse(await page.evaluate(`window.gotrace.requests.text('marks')`))[kind];
      if (!mark) continue;
      const [begin, length] = mark, room = Math.max(length, 1000);
      await page.evaluate(([from, to]) => window.gotrace.store.set({from, to, lane: null}), [Math.max(0, begin - room), begin + length + room]);
      await settle(page);
      const [x, y] = await page.evaluate(([kind, t]) => {
        const timeline = window.gotrace.view('timeline');
        const row = timeline.rows.find((r) => r.kind === kind);
        timeline.scroll.scrollTop = 0;
        return [timeline.scale().x(t), row.y + row.height / 2 + 22];
      }, [kind, begin + length / 2]);
      const box = await page.locator('canvas.sheet').boundingBox();
      await page.mouse.click(box.x + x, box.y + y);
      await settle(page);
      const s = await state(page);
      assert.equal(s.lane, kind);
      assert.ok(s.at >= begin && s.at <= begin + length);
      assert.match(await text(page, '#details h2'), kind === 'stops' ? /stop-the-world/ : /mark phase/);
      await page.keyboard.press(']');
      await settle(page);
      assert.equal((await state(page)).lane, kind);
    }
  }));
  await check(`${name}: the first and last row of each table lead to their places`, () => withPage(url, '#procs', {}, async (page) => {
    const views = [['procs'], ['procs', 'runs'], ['goroutines', 'each'], ['tasks', 'each'], ['regions', 'each'], ['latency', 'worst'], ['gc', 'pauses'], ...VIEWS.filter((view) => !['summary', 'timeline', 'procs', 'profile', 'path', 'events', 'sql'].includes(view)).map((view) => [view])];
    for (const [view, mode] of views) {
      const params = mode ? {[`${view}.mode`]: mode} : {};
      for (const nth of [0, -1]) {
        await page.evaluate(([v, p]) => window.gotrace.store.set({view: v, params: p, lane: null, at: null, task: null, from: null, to: null, pin: []}), [view, params]);
        await settle(page);
        const rows = page.locator('#view tbody tr.go');
        if (await rows.count() === 0) break;
        await rows.nth(nth).click();
        await settle(page);
        const where = `${view} ${mode ?? ''} ${nth}`;
        assert.doesNotMatch(await page.locator('#details').innerText(), /Cannot be shown/, where);
        const place = await state(page);
        if (view === 'procs') assert.equal(place.pin.length, 1, where);
        if (place.at !== null && place.from !== null)
          assert.ok(place.from <= place.at && place.at <= place.to, `${where}: the window has the place`);
      }
    }
  }));
  await check(`${name}: a function in a table leads to its goroutines`, () => withPage(url, '#goroutines', {}, async (page) => {
    const rows = page.locator('#view tbody tr.go');
    if (await rows.count() === 0) return;
    await rows.last().click();
    await settle(page);
    const {view, params} = await state(page);
    assert.equal(view, 'timeline');
    const [y, top, height] = await page.evaluate((id) => {
      const {rows, scroll} = window.gotrace.view('timeline');
      return [rows.find((row) => row.id === id).y, scroll.scrollTop, scroll.clientHeight];
    }, params['timeline.group']);
    assert.ok(top <= y && y < top + height, `${y} is not within ${top} and ${height} more`);
  }));
  await check(`${name}: tables say how they are sorted, and why they are empty`, () => withPage(url, '#latency', {}, async (page) => {
    const set = (patch) => page.evaluate((p) => window.gotrace.store.set(p), patch).then(() => settle(page));
    const all = {from: null, to: null, lane: null, at: null, task: null};
    await set({...all, view: 'latency', params: {'latency.mode': 'worst'}});
    if (await page.locator('#view tbody tr').count() > 0) {
      assert.equal(await text(page, '#view th.on'), 'length ↓');
      const lengths = await page.locator('#view tbody tr td:nth-child(2)').evaluateAll((cells) => cells.map((c) => {
        const [number, unit] = c.title.split(' ');
        return Number(number) * {ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9}[unit];
      }));
      assert.deepEqual(lengths, [...lengths].sort((a, b) => b - a));
      await set({params: {'latency.mode': 'worst', 'latency.filter': 'no row has this'}});
      assert.match(await text(page, '#view .pane'), /No row has “no row has this”/);
      await page.locator('#view .note .link').click();
      await settle(page);
      assert.ok(await page.locator('#view tbody tr').count() > 0);
    }
    await set({...all, view: 'gc', from: 0, to: 1, params: {}});
    if (await page.evaluate('window.gotrace.trace.duration') > 1 && await page.locator('#view tbody tr').count() === 0) {
      assert.match(await text(page, '#view .note'), /This window has nothing/);
      await page.locator('#view .note .link').click();
      assert.equal((await state(page)).from, null);
    }
  }));
  await check(`${name}: why a task took so long`, () => withPage(url, '#tasks', {}, async (page) => {
    const ids = await page.evaluate('window.gotrace.requests.json("tasks", [["each", "1"], ["top", "3"]]).then((a) => a.tasks.map((t) => t.task))');
    if (ids.length) {
      await page.evaluate(() => window.gotrace.store.set({view: 'path'}));
      await settle(page);
      assert.match(await text(page, '#view'), /Task \d+, the slowest one/);
    }
    // A sum over a type ends where something else is selected.
    const types = await page.evaluate('window.gotrace.requests.json("tasks").then((a) => a.tasks.map((t) => t.type).filter(Boolean))');
    if (ids.length && types.length) {
      const set = (patch) => page.evaluate((p) => window.gotrace.store.set(p), patch).then(() => settle(page));
      await set({view: 'path', params: {'path.sum': `task:${types[0]}`}});
      assert.equal((await state(page)).params['path.sum'], `task:${types[0]}`);
      await set({view: 'timeline', task: String(ids[0])});
      await set({view: 'path'});
      assert.equal((await state(page)).params['path.sum'], undefined);
      assert.match(await text(page, '#view b'), new RegExp(`^Task ${ids[0]}$`));
      await set({view: 'tasks', task: null});
    }
    for (const id of ids) {
      await page.evaluate((task) => window.gotrace.store.set({task: String(task)}), id);
      await settle(page);
      const places = await page.locator('#details tr.go .place > :last-child').allTextContents();
      assert.ok(places.length > 0, `task ${id} has no critical path`);
      assert.ok(places.some((place) => /^\S+\.(go|s):\d+$/.test(place)), places.join('; '));
    }
  }));
  await check(`${name}: search, keys and help`, () => withPage(url, '#timeline', {}, async (page) => {
    await page.keyboard.press('/');
    await page.keyboard.type('main');
    await page.waitForTimeout(400);
    await settle(page);
    assert.ok(await page.locator('#found').isVisible());
    await page.keyboard.press('Escape');
    const inStacks = '#found h2:text-is("In stacks") + button';
    await page.keyboard.press('/');
    await page.keyboard.type('runtime.');
    await page.waitForTimeout(400);
    await settle(page);
    if (await page.locator(inStacks).count()) {
      await page.locator(inStacks).dispatchEvent('mousedown');
      const {view, params} = await state(page);
      assert.equal(view, 'profile');
      assert.match(params['profile.find'], /^runtime\./);
      await settle(page);
      await page.keyboard.press('Escape');
    }
    await page.keyboard.press('?');
    assert.ok(await page.locator('#help').isVisible());
    await page.keyboard.press('?');
    assert.ok(!await page.locator('#help').isVisible());
    await page.keyboard.press('g');
    await page.keyboard.press('g');
    assert.equal((await state(page)).view, 'goroutines');
    await settle(page);
    // Each character draws the table again.
    await page.locator('input[aria-label=Filter]:visible').click();
    await page.keyboard.type('main', {delay: 30});
    await settle(page);
    assert.equal((await state(page)).params['goroutines.filter'], 'main');
    await page.keyboard.press('Enter');
    await page.keyboard.press('T');
    assert.equal((await state(page)).theme, 'dark');
  }));
  await check(`${name}: frames while one zooms and pans`, () => withPage(url, '#timeline', {viewport: {width: 1920, height: 1080}}, async (page) => {
    await page.evaluate('window.gotrace.views.get("timeline").frameTimes.length = 0');
    for (const key of ['w', 'd', 's', 'a']) {
      await page.keyboard.down(key);
      await page.waitForTimeout(700);
      await page.keyboard.up(key);
    }
    const times = (await page.evaluate('window.gotrace.views.get("timeline").frameTimes')).sort((a, b) => a - b);
    console.log(`        ${times.length} frames, 10 % within ${times[Math.floor(times.length / 10)]?.toFixed(1)} ms, 50 % within ${times[times.length >> 1]?.toFixed(1)} ms, 95 % within ${times[Math.floor(times.length * 0.95)]?.toFixed(1)} ms`);
  }));
  await check(`${name}: the server ends`, () => withPage(url, '#timeline', {}, async (page, lost) => {
    lost();
    await server.stop();
    await page.evaluate(() => window.gotrace.store.set({view: 'latency'}));
    await page.waitForTimeout(600);
    assert.match(await text(page, '#banner'), /The server has ended/);
  }));
  await server.stop();
  await check(`${name}: a report`, async () => {
    const file = join(directory, 'report.html');
    // Of a broken trace it is what can be saved.
    assert.equal(spawnSync(flags.dump, ['report', '-o', file, trace]).status, name === 'cut.trace' ? 1 : 0);
    assert.ok(statSync(file).size <= 10e6);
    const small = join(directory, 'small.html');
    spawnSync(flags.dump, ['report', '--max-size=1M', '-o', small, trace]);
    assert.ok(statSync(small).size <= 1e6);
    await withPage(pathToFileURL(file).href, '#summary', {}, async (page) => {
      await showViews(page, async (view) => {
        const text = await page.locator('#view').innerText();
        assert.doesNotMatch(text, /not in this report/i, view);
      }, VIEWS.filter((view) => view !== 'sql'));
      // The longest waits have their details.
      await page.evaluate(() => window.gotrace.store.set({view: 'latency', params: {'latency.mode': 'worst'}}));
      await settle(page);
      await page.locator('#view tbody tr.go').first().click();
      await settle(page);
      assert.match(await text(page, '#details'), /began/);
      // So have the longest tasks, also what their goroutines waited for.
      const {tasks} = JSON.parse(await page.evaluate(`window.gotrace.requests.text('tasklanes', [['limit', 6]])`));
      for (const {task, goroutine, begin, duration} of tasks) {
        await page.evaluate((id) => window.gotrace.store.set({view: 'timeline', task: String(id), lane: null, at: null}), task);
        await settle(page);
        assert.doesNotMatch(await text(page, '#details'), /Cannot be shown/);
        if (goroutine !== null)
          await page.evaluate((params) => window.gotrace.requests.json('latency', params),
                              [['from', begin], ['to', begin + duration], ['g', goroutine], ['worst', 4]]);
      }
    });
  });
}
rmSync(directory, {recursive: true});
await browser.close();
process.exit(failures ? 1 : 0);
