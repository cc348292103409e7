import assert from 'node:assert/strict';
import {test} from 'node:test';

import {
  clampWindow,
  formatState,
  INITIAL,
  parseState,
  State,
  Store,
  windowOf,
  zoomWindow
} from '../src/state';

const full: State = {
  view: 'goroutines',
  from: 10,
  to: 2000,
  lane: 'g:17',
  at: 99,
  task: '35161',
  path: 'task:35161',
  open: ['threads', 'group:3'],
  pin: ['p:0', 'g:4'],
  theme: 'dark',
  clock: 'wall',
  params: {'goroutines.sort': '-running_ns', 'goroutines.filter': 'a&b=c #ü'},
};

test('a state survives the URL', () => {
  assert.deepEqual(parseState(formatState(full)), full);
  assert.deepEqual(parseState(formatState(INITIAL)), INITIAL);
  assert.equal(formatState(INITIAL), '#timeline');
});

test('windows are whole numbers in the URL, and never empty', () => {
  assert.equal(formatState({...INITIAL, from: 10.2, to: 10.4}), '#timeline?from=10&to=11');
  assert.equal(formatState({...INITIAL, from: 10.7, to: 20.6}), '#timeline?from=10&to=21');
});

test('nonsense in the URL is ignored', () => {
  for (const text
           of ['', '#', '#nonsense', '#timeline?from=5', '#timeline?from=9&to=3',
               '#timeline?from=-1&to=3', '#timeline?lane=<script>&at=1', '#timeline?lane=g:1',
               '#timeline?task=x&path=g:&theme=pink&clock=moon&open=<b>&pin=q:1', '#?',
               '#timeline?from=1e9&to=2e9', '#timeline?constructor=1&__proto__=2']) {
    assert.deepEqual(parseState(text), INITIAL, text);
  }
});

test('windows stay in the trace', () => {
  assert.deepEqual(windowOf(INITIAL, 1000), {from: 0, to: 1000});
  assert.deepEqual(windowOf({...INITIAL, from: 500, to: 5000}, 1000), {from: 500, to: 1000});
  assert.deepEqual(windowOf({...INITIAL, from: 4000, to: 5000}, 1000), {from: 999, to: 1000});
  assert.deepEqual(windowOf(INITIAL, 0), {from: 0, to: 1});
  assert.deepEqual(clampWindow(-100, 100, 1000), {from: 0, to: 200});
  assert.deepEqual(clampWindow(900, 1100, 1000), {from: 800, to: 1000});
  assert.deepEqual(clampWindow(0, 1e9, 1000), {from: 0, to: 1000});
  assert.deepEqual(clampWindow(5, 5.2, 1000), {from: 5, to: 6});
});

test('zooming keeps the time under the pointer', () => {
  const w = zoomWindow({from: 100, to: 300}, 0.5, 150, 1000);
  assert.deepEqual(w, {from: 125, to: 225});
  assert.deepEqual(zoomWindow({from: 100, to: 300}, 100, 150, 1000), {from: 0, to: 1000});
  let deep = {from: 0, to: 1e9};
  for (let i = 0; i < 200; i++) deep = zoomWindow(deep, 0.7, 123456789, 1e9);
  assert.equal(deep.to - deep.from, 1);
  assert.ok(deep.from <= 123456789 && 123456789 <= deep.to);
});

/** As much of a window of a browser as the store uses. */
function fakeWindow(hash: string) {
  const entries = [hash], listeners: Record<string, (() => void)[]> = {};
  const location = {hash};
  const win = {
    location,
    entries,
    history: {
      pushState: (_: unknown, __: string, url: string) => {
        entries.push(url);
        location.hash = url;
      },
      replaceState: (_: unknown, __: string, url: string) => {
        entries[entries.length - 1] = url;
        location.hash = url;
      },
    },
    addEventListener: (name: string, f: () => void) => {
      (listeners[name] ??= []).push(f);
    },
    setTimeout: (f: () => void) => {
      win.pending = f;
      return 1;
    },
    clearTimeout: () => {
      win.pending = null;
    },
    pending: null as (() => void) | null,
    back: () => {
      entries.pop();
      location.hash = entries[entries.length - 1]!;
      (listeners['popstate'] ?? []).forEach((f) => f());
    },
  };
  return win;
}

test('steps have entries in the history, moves have none', () => {
  const win = fakeWindow('#summary');
  const store = new Store(win as unknown as Window);
  const seen: string[] = [];
  store.subscribe((state) => seen.push(formatState(state)));
  store.set({view: 'timeline'});
  store.set({from: 1, to: 5}, 'move');
  store.set({from: 2, to: 6}, 'move');
  assert.deepEqual(win.entries, ['#summary', '#timeline']);
  win.pending!();
  assert.deepEqual(win.entries, ['#summary', '#timeline?from=2&to=6']);
  store.set({from: 3, to: 7}, 'move');
  store.set({lane: 'p:0', at: 4});
  assert.deepEqual(
      win.entries, ['#summary', '#timeline?from=3&to=7', '#timeline?from=3&to=7&lane=p:0&at=4']);
  win.back();
  assert.equal(store.state.lane, null);
  assert.equal(store.state.from, 3);
  win.back();
  assert.equal(store.state.view, 'summary');
  assert.equal(seen.length, 7);
});
