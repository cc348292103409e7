// A page of `gotrace-dump serve` in a browser.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';

/** Starts a server. Returns its URL, and a function that ends it. */
export function startServer(dump, trace) {
  // Commands print why they refuse a request, such as profiles that a trace does not have.
  const server = spawn(dump, ['serve', '--no-open', trace], {stdio: ['ignore', 'pipe', 'ignore']});
  return new Promise((done, fail) => {
    let out = '';
    server.stdout.on('data', (data) => {
      out += data;
      const match = /http:\S+/.exec(out);
      if (match) done({url: match[0], stop: () => new Promise((end) => { if (server.exitCode !== null || server.signalCode !== null) { end(); return; } server.on('exit', end); server.kill(); })});
    });
    server.on('exit', (code) => fail(new Error(`the server ended with ${code}`)));
  });
}

/** Waits until an expression is true; the page's policy forbids what waitForFunction() does. */
async function until(page, expression, patience = 20000) {
  for (const end = Date.now() + patience; !await page.evaluate(expression);) {
    assert.ok(Date.now() < end, `waited for ${expression}`);
    await page.waitForTimeout(50);
  }
}

/** Waits until nothing is asked for any more, also not a moment later. */
export async function settle(page) {
  await until(page, '!window.gotrace.requests.busy');
  await page.waitForTimeout(320);
  await until(page, '!window.gotrace.requests.busy');
}

/** Waits until the trace is read, for at most `patience` milliseconds, and then as settle(). */
export async function ready(page, patience) {
  await until(page, 'Boolean(window.gotrace && window.gotrace.trace.complete)', patience);
  await settle(page);
}
