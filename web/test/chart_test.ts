import assert from 'node:assert/strict';
import {test} from 'node:test';

import {byteTicks, countTicks, powerTicks, Ticks, timeTicks} from '../src/chart';

const texts = (ticks: Ticks) => ticks.map(([, text]) => text);

test('ticks of an axis are round', () => {
  assert.deepEqual(texts(countTicks(1)), ['0', '1']);
  assert.deepEqual(texts(countTicks(8)), ['0', '2', '4', '6', '8']);
  assert.deepEqual(texts(countTicks(12)), ['0', '5', '10']);
  assert.deepEqual(texts(countTicks(2345)), ['0', '1,000', '2,000']);
  assert.deepEqual(texts(byteTicks(0)), ['0']);
  assert.deepEqual(texts(byteTicks(700)), ['0', '200 B', '400 B', '600 B']);
  assert.deepEqual(texts(byteTicks(5.5 * 2 ** 20)), ['0', '2.00 MiB', '4.00 MiB']);
  assert.deepEqual(texts(timeTicks(120e6, 330e6, 4)), ['200 ms', '300 ms']);
  assert.deepEqual(texts(timeTicks(0, 2e9, 4)), ['0.0 s', '0.5 s', '1.0 s', '1.5 s', '2.0 s']);
});

test('ticks are within the axis and as many as fit, whatever its size', () => {
  for (let most = 1; most < 1e15; most *= 3.7) {
    for (const ticks of [countTicks(most), byteTicks(most), timeTicks(0, most, 3)]) {
      assert.ok(ticks.length >= 2 && ticks.length <= 5, `${most}: ${texts(ticks)}`);
      assert.ok(ticks.every(([at]) => at >= 0 && at <= most));
      assert.equal(new Set(texts(ticks)).size, ticks.length);
    }
  }
});

test('the axis of powers has their round durations', () => {
  assert.deepEqual(texts(powerTicks(9, 13)), ['1 µs', '2 µs', '5 µs']);
  assert.deepEqual(texts(powerTicks(30, 31)), ['1.07 s', '2.15 s']);
  for (const [at] of powerTicks(3, 40)) assert.ok(at >= 3 && at <= 40);
});
