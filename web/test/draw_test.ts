import assert from 'node:assert/strict';
import {test} from 'node:test';

import {filterOfLane} from '../src/app';
import {Palette} from '../src/colors';
import {LaneTile} from '../src/decode';
import {matches, paint} from '../src/draw';

const ROWS = 20;
const palette = {
  rgb: Array.from({length: 10}, (_, i) => [i + 1, 0, 0])
} as unknown as Palette;
const all = {
  state: null,
  text: '',
  min: 0
};

function tile(more: Partial<LaneTile>): LaneTile {
  return {
    id: 'p:0',
    name: 'P 0',
    begin: 0,
    step: 100,
    count: 4,
    full: 100,
    columns: [],
    longest: null,
    longestStates: null,
    spans: [],
    names: ['', 'f'],
    peak: 0,
    wide: [],
    ...more
  };
}

/** The states of a column, from the bottom to the top; 0 where nothing is. */
function column(
    t: LaneTile, k: number, group = false,
    filter: typeof all|{state: number, text: string, min: number} = all) {
  const image = {data: new Uint8ClampedArray(t.count * ROWS * 4), width: t.count};
  paint(image, t, ROWS, palette, filter, group);
  return Array.from({length: ROWS}, (_, y) => {
    const i = ((ROWS - 1 - y) * t.count + k) * 4;
    return {state: image.data[i + 3] ? image.data[i]! - 1 : 0, alpha: image.data[i + 3]!};
  });
}

test('a column is as high as the lane was busy, by state', () => {
  const t = tile({columns: [[1, Uint8Array.of(128, 255, 0, 1)], [3, Uint8Array.of(64, 0, 0, 0)]]});
  assert.deepEqual(
      column(t, 0).map((p) => p.state),
      [...Array(10).fill(1), ...Array(5).fill(3), ...Array(5).fill(0)]);
  assert.deepEqual(column(t, 1).map((p) => p.state), Array(20).fill(1));
  assert.deepEqual(column(t, 2).map((p) => p.state), Array(20).fill(0));
});

test('what is much shorter than a pixel is faint, not invisible', () => {
  const pixels = column(tile({columns: [[1, Uint8Array.of(0, 0, 0, 1)]]}), 3);
  assert.equal(pixels[0]!.state, 1);
  assert.ok(pixels[0]!.alpha > 0 && pixels[0]!.alpha < 255);
  assert.deepEqual(pixels.slice(1).map((p) => p.state), Array(19).fill(0));
});

test('bytes that add up to more than 255 stay in the lane', () => {
  const t = tile({
    columns: [
      [1, Uint8Array.of(128, 0, 0, 0)], [2, Uint8Array.of(128, 0, 0, 0)],
      [5, Uint8Array.of(9, 0, 0, 0)]
    ]
  });
  const states = column(t, 0).map((p) => p.state);
  assert.equal(states.filter((s) => s === 1).length, 10);
  assert.equal(states.filter((s) => s === 2).length, 10);
});

test('short spans fill the lane, and long ones are left to be drawn with their names', () => {
  const t = tile({spans: [[100, 200, 2, 7, 1, 0]]});
  assert.deepEqual([0, 1, 2, 3].map((k) => column(t, k)[5]!.state), [0, 2, 2, 0]);
  const long = tile({count: 40, spans: [[0, 4000, 2, 7, 1, 0]]});
  assert.equal(column(long, 5)[5]!.state, 0);
});

test('a long wait among short ones has a mark at the top', () => {
  const t = tile({
    columns: [[1, Uint8Array.of(60, 60, 0, 0)]],
    longest: Uint8Array.of(200, 50, 0, 0),
    longestStates: Uint8Array.of(2, 2, 0, 0)
  });
  assert.equal(column(t, 0)[19]!.state, 2);
  assert.equal(column(t, 1)[19]!.state, 0);
});

test('groups reach to the top at their peak, without those that are blocked', () => {
  // 100 ns of a column of 100 ns are one goroutine; 255 stands for 400 ns.
  const t = tile({
    id: 'group:0',
    full: 400,
    columns: [[1, Uint8Array.of(64, 32, 0, 0)], [5, Uint8Array.of(191, 223, 255, 255)]],
    peak: 64 / 255 * 4
  });
  assert.deepEqual(column(t, 0, true).map((p) => p.state), Array(20).fill(1));
  assert.equal(column(t, 1, true).filter((p) => p.state === 1).length, 10);
  assert.equal(column(t, 2, true).filter((p) => p.state !== 0).length, 0);
});

test('what does not match the filter is dim', () => {
  const t = tile({columns: [[1, Uint8Array.of(128, 0, 0, 0)], [2, Uint8Array.of(127, 0, 0, 0)]]});
  const pixels = column(t, 0, false, {state: 2, text: '', min: 0});
  assert.ok(pixels[3]!.alpha < 100);
  assert.equal(pixels[15]!.alpha, 255);
  assert.ok(matches({state: null, text: 'sync', min: 5}, 5, 5, 'Sync wait'));
  assert.ok(!matches({state: null, text: 'sync', min: 5}, 5, 4, 'sync'));
  assert.ok(!matches({state: 1, text: '', min: 0}, 5, 4, 'sync'));
});

test('a lane whose own name matches is not dimmed', () => {
  const text = {...all, text: 'readloop'};
  assert.equal(filterOfLane(text, 'main.(*client).readLoop').text, '');
  assert.equal(filterOfLane(text, 'main.serve').text, 'readloop');
  assert.equal(filterOfLane(all, 'main.serve').text, '');
});
