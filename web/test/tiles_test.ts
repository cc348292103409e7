import assert from 'node:assert/strict';
import {test} from 'node:test';

import {stepFor, TILE_COLUMNS} from '../src/decode';
import {Requests} from '../src/requests';
import {Tiles} from '../src/tiles';

(globalThis as unknown as {window: unknown}).window = globalThis;

/** Answers with tiles without lanes. */
const requests = {
  json: (_: string, params: [string, number][]) => {
    const of = new Map(params);
    return Promise.resolve(
        {begin: of.get('from'), step: of.get('step'), count: TILE_COLUMNS, lanes: []});
  }
} as unknown as Requests;

const moment = () => new Promise((resolve) => setTimeout(resolve, 80));

test('a coarser tile of the same place is drawn until the fine one comes', async () => {
  const nsPerPixel = 64, fine = stepFor(nsPerPixel), coarse = stepFor(2 * nsPerPixel);
  assert.equal(coarse, 2 * fine);
  const end = 8 * TILE_COLUMNS * fine;
  const tiles = new Tiles(requests, () => [], () => end, () => {});
  const show = (index: number, ns: number, step: number) => {
    tiles.begin();
    const from = index * TILE_COLUMNS * step, to = from + TILE_COLUMNS * step;
    const shown = tiles.cover('p:*', {from, to, nsPerPixel: ns}).map((t) => [t.step, t.index]);
    tiles.finish();
    return shown;
  };
  assert.deepEqual(show(1, 2 * nsPerPixel, coarse), []);
  await moment();
  assert.deepEqual(show(1, 2 * nsPerPixel, coarse), [[coarse, 1]]);
  // The tiles 2 and 3 are in the same coarser one, and 4 is not.
  assert.deepEqual(show(2, nsPerPixel, fine), [[coarse, 1]]);
  assert.deepEqual(show(4, nsPerPixel, fine), []);
  assert.deepEqual(show(3, nsPerPixel, fine), [[coarse, 1]]);
  await moment();
  assert.deepEqual(show(3, nsPerPixel, fine), [[fine, 3]]);
  assert.equal(tiles.waiting, false);
});
