import assert from 'node:assert/strict';
import {test} from 'node:test';

import {tickStep} from '../src/format';
import {layout, LayoutInput, MEMBER_PAGE, rowAt, Scale, ticks, visibleRows} from '../src/layout';
import {grip} from '../src/overview';

const input = (more: Partial<LayoutInput> = {}): LayoutInput => ({
  viewHeight: 0,
  procs: [0, 1],
  threads: [5, 6],
  groups: [
    {id: 'group:0', name: 'main.f', goroutines: 3}, {id: 'group:1', name: 'main.g', goroutines: 1}
  ],
  moreGroups: 0,
  members: new Map(),
  tasks: 1,
  totalTasks: 1,
  pinned: [],
  pathLanes: [],
  pathTitle: '',
  selected: null,
  toggled: new Set(),
  notes: {},
  ...more,
});
const kinds = (rows: {kind: string}[]) => rows.map((r) => r.kind).join(' ');

test('sections come in order, and threads are closed at first', () => {
  const {rows, height} = layout(input());
  assert.equal(
      kinds(rows),
      'section note section lane lane section cycles stops counter section task section group group section');
  assert.equal(height, rows[rows.length - 1]!.y + rows[rows.length - 1]!.height);
  const open = layout(input({toggled: new Set(['pinned', 'threads', 'procs', 'tasks'])})).rows;
  assert.equal(
      kinds(open),
      'section section section cycles stops counter section section group group section lane lane');
});

test('rows do not overlap, and every height belongs to one', () => {
  const {rows, height} = layout(input({toggled: new Set(['threads'])}));
  let y = 0;
  for (const row of rows) {
    assert.equal(row.y, y);
    y += row.height;
  }
  for (let at = 0; at < height; at++) assert.equal(rowAt(rows, at)!.y <= at, true);
  assert.equal(rowAt(rows, -1), null);
  assert.equal(rowAt(rows, height), null);
  assert.deepEqual(visibleRows(rows, rows[3]!.y, rows[4]!.y + 1), [rows[3], rows[4]]);
  assert.deepEqual(visibleRows(rows, height, height + 100), []);
});

test('groups share the height that is left, whether they are open or not', () => {
  const groupsOf = (more: Partial<LayoutInput>) =>
      layout(input(more)).rows.filter((r) => r.kind === 'group').map((r) => r.height);
  const {height} = layout(input());
  assert.deepEqual(groupsOf({viewHeight: height}), [34, 34]);
  assert.equal(layout(input({viewHeight: height + 40})).height, height + 40);
  assert.deepEqual(groupsOf({viewHeight: height + 40}), [54, 54]);
  assert.deepEqual(groupsOf({viewHeight: height + 4000}), [80, 80]);
  const toggled = new Set(['group:0']);
  assert.deepEqual(groupsOf({viewHeight: height + 40, toggled}), [54, 54]);
});

test('an open group of a million goroutines has few rows', () => {
  const members = new Map([[
    'group:0', {
      total: 1_000_000,
      pages: new Map([[3, Array.from({length: MEMBER_PAGE}, (_, i) => ({id: `g:${i + 1}`}))]])
    }
  ]]);
  const {rows, height} = layout(input({toggled: new Set(['group:0']), members}));
  assert.ok(rows.length < 10_200);
  assert.ok(height > 18_000_000);
  const lanes = rows.filter((r) => r.kind === 'lane' && r.id.startsWith('g:'));
  assert.equal(lanes.length, MEMBER_PAGE);
  const first = lanes[0]!, last = lanes[MEMBER_PAGE - 1]!;
  assert.equal(first.kind === 'lane' && first.unit.split(',').length, 16);
  assert.equal(last.kind === 'lane' && last.unit.split(',').length, MEMBER_PAGE % 16);
});

test('a selected goroutine has a row, unless it is pinned or on the path', () => {
  const lanes = (more: Partial<LayoutInput>) =>
      layout(input(more)).rows.filter((r) => r.kind === 'lane' && r.id === 'g:9').length;
  assert.equal(lanes({selected: 'g:9'}), 1);
  assert.equal(lanes({selected: 'g:9', pinned: ['g:9']}), 1);
  assert.equal(lanes({selected: 'g:9', pathLanes: ['g:9']}), 1);
  assert.equal(lanes({selected: 'p:0'}), 0);
});

test('a click on a span does not move the lanes', () => {
  const heightOf = (selected: string|null) => layout(input({selected})).height;
  assert.equal(heightOf('g:9'), heightOf(null));
  assert.equal(heightOf('p:0'), heightOf(null));
});

test('lanes are asked for together, but not too many', () => {
  const units = (n: number) => {
    const {rows} = layout(input({
      threads: Array.from({length: n}, (_, i) => i),
      toggled: new Set(['threads']),
    }));
    return rows.flatMap((r) => r.kind === 'lane' && r.id.startsWith('m:') ? [r.unit] : []);
  };
  assert.deepEqual([...new Set(units(256))], ['m:*']);
  const many = new Set(units(257));
  assert.equal(many.size, 17);
  assert.ok(many.has('m:256'));
});

test('groups that are not listed are counted', () => {
  const textOf = (moreGroups: number) => layout(input({moreGroups})).rows.flatMap(
      (r) => r.kind === 'note' && r.text.includes('more functions') ? [r.text] : []);
  assert.deepEqual(textOf(0), []);
  assert.deepEqual(textOf(3), ['3 more functions: search for one']);
});

test('a trace without anything', () => {
  const {rows} = layout(input({procs: [], threads: [], groups: [], totalTasks: 0, tasks: 0}));
  assert.equal(kinds(rows), 'section cycles stops counter section');
});

test('pixels and times', () => {
  const scale = new Scale(1000, 3000, 100, 1000);
  assert.equal(scale.x(1000), 100);
  assert.equal(scale.x(3000), 1100);
  assert.equal(scale.time(600), 2000);
  assert.equal(scale.nsPerPixel, 2);
  const {step, times} = ticks(scale, 100, tickStep);
  assert.equal(step, 200);
  assert.deepEqual(times.slice(0, 2), [1000, 1200]);
  assert.ok(ticks(new Scale(123456789, 123456790, 0, 1000), 100, tickStep).times.length <= 2);
});

test('what a press on the strip does', () => {
  assert.equal(grip(500, 50, 0, 1000, true), 'new');
  assert.equal(grip(400, 50, 400, 600, false), 'from');
  assert.equal(grip(604, 50, 400, 600, false), 'to');
  assert.equal(grip(500, 50, 400, 600, false), 'new');
  assert.equal(grip(500, 5, 400, 600, false), 'move');
  assert.equal(grip(700, 5, 400, 600, false), 'new');
  // A window of one pixel can still be widened at both ends.
  assert.equal(grip(497, 50, 500, 501, false), 'from');
  assert.equal(grip(505, 50, 500, 501, false), 'to');
});
