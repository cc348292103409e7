import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

import {Groups, Lanes, Marks, SpanRow, Strip, Trace} from '../src/answers';
import {
  decodeBytes,
  decodeColumns,
  decodeLanes,
  LaneTile,
  sharesAt,
  spanAt,
  stepFor,
  tilesOf,
  wholeSpans
} from '../src/decode';
import {STATE_NAMES} from '../src/colors';

const sample = <T>(name: string) =>
    JSON.parse(
        readFileSync(`${process.env['GOTRACE_WEB_SAMPLES']}/go1.27-gc-${name}.json`, 'utf8')) as T;

test('Base64 becomes bytes, and broken Base64 does no harm', () => {
  assert.deepEqual([...decodeBytes('AAECAw==', 4)], [0, 1, 2, 3]);
  assert.deepEqual([...decodeBytes('/+8=', 2)], [255, 239]);
  assert.deepEqual([...decodeBytes('', 2)], [0, 0]);
  assert.deepEqual([...decodeBytes('AAE!', 4)], [0, 1, 0, 0]);
  assert.deepEqual([...decodeBytes('AAECAwQF', 3)], [0, 1, 2]);
  const all = Uint8Array.from({length: 256}, (_, i) => i);
  let text = '';
  for (let i = 0; i < 256; i++) text += String.fromCharCode(i);
  assert.deepEqual(decodeBytes(btoa(text), 256), all);
});

test('states of the samples have the codes that the page has', () => {
  assert.deepEqual(sample<Trace>('trace').states, STATE_NAMES);
});

test('lanes of a sample: columns and spans together are the totals', () => {
  for (const name of ['lanes', 'lanes-zoomed']) {
    const answer = sample<Lanes>(name);
    const tiles = decodeLanes(answer, STATE_NAMES);
    assert.equal(tiles.size, answer.lanes.length);
    for (const lane of answer.lanes) {
      if (lane.id.startsWith('group:')) continue;
      const tile = tiles.get(lane.id)!;
      const sums = new Map<string, number>();
      const add = (code: number, ns: number) =>
          sums.set(STATE_NAMES[code]!, (sums.get(STATE_NAMES[code]!) ?? 0) + ns);
      for (const [code, bytes] of tile.columns)
        add(code, bytes.reduce((a, b) => a + b, 0) / 255 * tile.full);
      for (const [, length, code] of tile.spans) add(code, length);
      const columns = new Map<string, number>();
      for (const [code, bytes] of tile.columns)
        columns.set(STATE_NAMES[code]!, bytes.reduce((n, b) => n + (b > 0 ? 1 : 0), 0));
      for (const [state, ns] of Object.entries(lane.totals)) {
        // A byte is rounded by half of 1/255, and what is tiny is at least 1.
        const slack = (columns.get(state) ?? 0) * tile.full / 255 + 1;
        assert.ok(
            Math.abs((sums.get(state) ?? 0) - ns) <= slack,
            `${name} ${lane.id} ${state} ${sums.get(state)} ${ns}`);
      }
      for (const span of tile.spans) {
        assert.ok(span[1] >= 2 * answer.step, 'spans are at least two columns long');
        assert.deepEqual(spanAt(tile, span[0]), span);
        assert.deepEqual(spanAt(tile, span[0] + span[1] - 1), span);
      }
    }
  }
});

test('the strip and marks of a sample', () => {
  const strip = sample<Strip>('strip');
  const columns = decodeColumns(strip.columns, STATE_NAMES, strip.count);
  assert.ok(columns.length >= 3);
  for (const [code, bytes] of columns) {
    const sum = bytes.reduce((a, b) => a + b, 0) / 255 * strip.full,
          exact = strip.totals[STATE_NAMES[code]!]!;
    assert.ok(Math.abs(sum - exact) <= strip.count * strip.full / 255, STATE_NAMES[code]);
  }
  const marks = sample<Marks>('marks');
  for (const rows of [marks.cycles, marks.stops])
    for (const row of rows) assert.ok(row[2] < marks.names.length);
  assert.ok(sample<Groups>('groups').total >= 1);
});

const span = (...row: SpanRow) => row;
function tile(spans: SpanRow[], begin = 0, step = 10, names = ['', 'f', 'g']): LaneTile {
  return {
    id: 'g:1',
    name: '',
    begin,
    step,
    count: 10,
    full: step,
    columns: [[1, Uint8Array.of(0, 255, 51)]],
    longest: null,
    longestStates: null,
    spans,
    names,
    peak: 0,
    wide: spans
  };
}

test('hit test: spans and columns', () => {
  const t = tile([span(20, 30, 1, 0, 1, 0), span(50, 20, 2, 0, 0, 0)]);
  assert.equal(spanAt(t, 19), null);
  assert.equal(spanAt(t, 20)![2], 1);
  assert.equal(spanAt(t, 49)![2], 1);
  assert.equal(spanAt(t, 50)![2], 2);
  assert.equal(spanAt(t, 70), null);
  assert.deepEqual(sharesAt(t, 12), [[1, 1]]);
  assert.deepEqual(sharesAt(t, 25), [[1, 0.2]]);
  assert.deepEqual(sharesAt(t, 5), []);
  assert.deepEqual(sharesAt(t, -1), []);
  assert.deepEqual(sharesAt(t, 1000), []);
});

test('spans that tiles cut are put together, others are not', () => {
  const first = tile([span(50, 50, 5, -1, 1, 2)]);
  const second = tile(
      [span(100, 30, 5, -1, 2, 1), span(130, 20, 1, 3, 0, 0), span(150, 50, 5, -1, 1, 2)], 100, 10,
      ['', 'g', 'f']);
  const third = tile([span(200, 10, 1, 3, 0, 1)], 200);
  assert.deepEqual(wholeSpans([first, second, third]), [
    {begin: 50, end: 130, state: 5, subject: -1, name: 'f', cut: 0},
    {begin: 130, end: 150, state: 1, subject: 3, name: '', cut: 0},
    {begin: 150, end: 200, state: 5, subject: -1, name: 'g', cut: 2},
    {begin: 200, end: 210, state: 1, subject: 3, name: '', cut: 1},
  ]);
});

test('steps are powers of two, a column is half a pixel to a pixel', () => {
  for (const ns of [1, 1.5, 2, 3, 1000, 1024, 123456.7]) {
    const step = stepFor(ns);
    assert.ok(step <= ns && step > ns / 2, String(ns));
  }
  assert.equal(stepFor(0.001), 1);
});

test('tiles cover the window', () => {
  assert.deepEqual(tilesOf(0, 1024, 1), [0]);
  assert.deepEqual(tilesOf(0, 1025, 1), [0, 1]);
  assert.deepEqual(tilesOf(1024, 1025, 1), [1]);
  assert.deepEqual(tilesOf(5000, 9000, 4), [1, 2]);
  assert.equal(tilesOf(0, 1e12, 1).length, 64);
});
