import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Flame} from '../src/answers';
import {ancestors, boxes, forest, heaviest} from '../src/flame_layout';

const flame: Flame = {
  unit: 'nanoseconds',
  total: 100,
  nodes_left_out: 0,
  names: ['', 'a', 'b', 'c'],
  nodes: [[-1, 0, 100, 0], [0, 1, 80, 10], [1, 2, 70, 20], [2, 1, 50, 50], [0, 3, 20, 20]],
};

test('boxes of the whole and of a part', () => {
  const f = forest(flame);
  const whole = boxes(f, 0, 0).map((b) => [b.node, b.depth, b.from, b.to]);
  assert.deepEqual(
      whole.sort((x, y) => x[0]! - y[0]!),
      [[0, 0, 0, 1], [1, 1, 0, 0.8], [2, 2, 0, 0.7], [3, 3, 0, 0.5], [4, 1, 0.8, 1]]);
  assert.deepEqual(boxes(f, 2, 0).map((b) => [b.node, b.depth]), [[0, 0], [1, 1], [2, 2], [3, 3]]);
  assert.deepEqual(boxes(f, 0, 0.6).map((b) => b.node).sort(), [0, 1, 2]);
  assert.deepEqual(ancestors(flame, 3), [0, 1, 2, 3]);
});

test('the heaviest functions: recursion counts once', () => {
  assert.deepEqual(heaviest(forest(flame)), [
    {name: 1, self: 60, total: 80}, {name: 2, self: 20, total: 70}, {name: 3, self: 20, total: 20}
  ]);
});

test('an inverted profile: roots are the functions in which time was spent', () => {
  const inverted: Flame = {
    unit: 'nanoseconds',
    total: 100,
    nodes_left_out: 0,
    names: ['', 'leaf', 'a', 'b'],
    nodes: [[-1, 0, 100, 0], [0, 1, 70, 0], [1, 2, 50, 50], [1, 3, 20, 20], [0, 2, 30, 30]]
  };
  assert.deepEqual(heaviest(forest(inverted), true), [
    {name: 1, self: 70, total: 70}, {name: 2, self: 30, total: 80}, {name: 3, self: 0, total: 20}
  ]);
});

test('an empty or broken profile', () => {
  const empty:
      Flame = {unit: 'count', total: 0, nodes_left_out: 0, names: [''], nodes: [[-1, 0, 0, 0]]};
  assert.deepEqual(boxes(forest(empty), 0, 0).length, 1);
  assert.deepEqual(heaviest(forest(empty)), []);
  const loop: Flame = {
    unit: 'count',
    total: 1,
    nodes_left_out: 0,
    names: ['', 'a'],
    nodes: [[-1, 0, 1, 0], [1, 1, 1, 1]]
  };
  assert.ok(boxes(forest(loop), 0, 0).length < 5);
});
