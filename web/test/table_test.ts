import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Piece, Row} from '../src/answers';
import {alike, pathShares, shortFile} from '../src/details';
import {goroutineOfLine, timeOfLine} from '../src/events';
import {looksLikeTime} from '../src/search';
import {rowsOf} from '../src/sql';
import {functionRows, spanRows, unique, viewOfCommand, withLongest} from '../src/summary';
import {
  bars,
  bounds,
  bucketBounds,
  cellText,
  columnsOf,
  filterRows,
  kindOf,
  largest,
  shortestOf,
  shownFrames,
  sortRows,
  statesOf
} from '../src/table_model';

const rows: Row[] = [
  {
    count: 2,
    running_ns: 5,
    runnable_ns: 3,
    blocked_total_ns: 2,
    blocked_ns: {'': 1, sync: 1500},
    name: 'main.b'
  },
  {
    count: 10,
    running_ns: 50,
    runnable_ns: 0,
    blocked_total_ns: 0,
    blocked_ns: {},
    name: 'main.<script>alert(1)</script>'
  },
  {
    count: 10,
    running_ns: null,
    runnable_ns: 1,
    blocked_total_ns: 0,
    blocked_ns: {sleep: 3},
    name: 'main.a'
  },
];

test('columns follow from the rows', () => {
  const columns = columnsOf(rows, ['name', 'count']);
  assert.deepEqual(
      columns.map((c) => c.key),
      ['name', 'count', 'running_ns', 'runnable_ns', 'blocked_total_ns', 'blocked_ns', 'states']);
  assert.deepEqual(
      columns.map((c) => c.kind),
      ['text', 'count', 'duration', 'duration', 'duration', 'reasons', 'states']);
  assert.equal(kindOf('begin_ns', 1), 'moment');
  assert.equal(kindOf('live_bytes', 1), 'bytes');
  assert.equal(kindOf('occupancy', 0.5), 'share');
  assert.equal(kindOf('g', 1), 'id');
  assert.deepEqual(columnsOf([], ['name']), []);
});

test('sorting is stable, and null comes last from the largest', () => {
  const columns = columnsOf(rows, []);
  const by = (key: string, descending: boolean) =>
      sortRows(rows, columns.find((c) => c.key === key)!, descending).map((r) => rows.indexOf(r));
  assert.deepEqual(by('count', true), [1, 2, 0]);
  assert.deepEqual(by('running_ns', true), [1, 0, 2]);
  assert.deepEqual(by('name', false), [1, 2, 0]);
  assert.deepEqual(by('blocked_ns', true), [0, 2, 1]);
});

test('states of pieces are called as in the timeline', () => {
  const piece = (state: string, reason: string, start = '') => ({state, reason, start});
  const [column] = columnsOf([piece('Running', '')], ['state']);
  assert.equal(column!.kind, 'state');
  const text = (row: Row) => cellText(column!, row);
  assert.equal(text(piece('Runnable', '')), 'waiting to run');
  assert.equal(text(piece('Waiting', 'network')), 'network');
  assert.equal(text(piece('Waiting', 'sync')), 'blocked');
  assert.equal(text(piece('Running', 'world stopped (read mem stats)')), 'world stopped');
  assert.equal(text(piece('Running', '', 'runtime.gcBgMarkWorker')), 'collector');
  assert.equal(text(piece('Undetermined', '')), 'Undetermined');
  assert.equal(
      filterRows([piece('Runnable', ''), piece('Running', '')], [column!], 'waiting').length, 1);
});

test('moments are as exact as the shortest row needs, and at least a microsecond', () => {
  assert.equal(shortestOf([]), 1e6);
  assert.equal(shortestOf([{length_ns: 0}, {length_ns: 5e6}, {duration_ns: 7e6}]), 5e6);
  assert.equal(shortestOf([{length_ns: 5}]), 1e6);
});

test('filters take words in any case, in names and reasons', () => {
  const columns = columnsOf(rows, []);
  const find = (text: string) => filterRows(rows, columns, text).map((r) => rows.indexOf(r));
  assert.deepEqual(find(''), [0, 1, 2]);
  assert.deepEqual(find('MAIN sync'), [0]);
  assert.deepEqual(find('<script>'), [1]);
  assert.deepEqual(find('nothing'), []);
});

test('cells', () => {
  const columns = columnsOf(rows, []);
  const cell = (key: string) => cellText(columns.find((c) => c.key === key)!, rows[0]!);
  assert.equal(cell('blocked_ns'), 'sync');
  assert.deepEqual(largest(rows[0]!['blocked_ns']), {name: 'sync', value: 1500, sum: 1501});
  assert.equal(largest(null), null);
  assert.deepEqual(statesOf(rows[0]!), [[1, 5], [2, 3], [5, 2]]);
  assert.deepEqual(
      statesOf({
        running_ns: 5,
        runnable_ns: 0,
        blocked_total_ns: 9,
        blocked_ns: {network: 7, sync: 2},
        name: 'runtime.gcBgMarkWorker'
      }),
      [[6, 5], [4, 7], [5, 2]]);
  assert.deepEqual(statesOf({user_ns: 5, gc_ns: 0, idle_ns: 7}), [[1, 5], [0, 7]]);
  assert.deepEqual(
      statesOf({running_ns: 5, runnable_ns: 0, stopped_total_ns: 4, stopped_ns: {x: 4}}),
      [[1, 5], [9, 4]]);
});

test('what a task did outside of its regions is not what it ran', () => {
  const task = {counted: 'regions', duration_ns: 10, running_ns: 2, runnable_ns: 1};
  assert.deepEqual(statesOf(task), [[1, 2], [2, 1], [0, 7]]);
  assert.deepEqual(statesOf({...task, duration_ns: 2}), [[1, 2], [2, 1]]);
  assert.deepEqual(statesOf({...task, duration_ns: null}), [[1, 2], [2, 1]]);
});

test('histograms become bars without losing anything', () => {
  const histogram = {scale: 4, offset: 179, counts: [2, 0, 1]};
  assert.deepEqual(bounds([histogram]), {first: 11, last: 12});
  const list = bars(histogram, 11, 12, 16);
  assert.equal(list.reduce((s, b) => s + b.n, 0), 3);
  assert.equal(list[3]!.n, 2);
  assert.equal(Math.ceil(bucketBounds(histogram, 0).from), 2333);
  assert.deepEqual(bounds([]), {first: 0, last: 30});
});

test('commands lead to views', () => {
  assert.deepEqual(
      viewOfCommand('gotrace-dump gc --pauses --sort=length'),
      {view: 'gc', params: {'gc.mode': 'pauses', 'gc.sort': '-length_ns'}});
  assert.deepEqual(
      viewOfCommand("gotrace-dump leaks --longer=10ms --stack=main.query"),
      {view: 'leaks', params: {'leaks.mode': 'short'}});
  assert.deepEqual(
      viewOfCommand('procs --slices=20'), {view: 'procs', params: {'procs.mode': 'slices'}});
  assert.deepEqual(
      viewOfCommand('profile --type=sync'), {view: 'profile', params: {'profile.type': 'sync'}});
  assert.deepEqual(
      viewOfCommand('procs --long-runs'), {view: 'procs', params: {'procs.mode': 'runs'}});
  assert.deepEqual(
      viewOfCommand('tasks --each --top=5'),
      {view: 'tasks', params: {'tasks.mode': 'each', 'tasks.sort': '-duration_ns'}});
  assert.deepEqual(
      viewOfCommand('path --region=parse --worst=10'),
      {view: 'path', params: {'path.sum': 'region:parse', 'path.worst': '10'}});
  assert.deepEqual(
      viewOfCommand("gotrace-dump path --type='it'\\''s a task' --worst=10"),
      {view: 'path', params: {'path.sum': "task:it's a task", 'path.worst': '10'}});
  assert.deepEqual(viewOfCommand('latency --kind=blocked --by=stack --sort=count'), {
    view: 'latency',
    params: {'latency.mode': 'stack', 'latency.sort': '-count', 'latency.filter': 'blocked'}
  });
  assert.equal(viewOfCommand('rm -rf /'), null);
  assert.equal(viewOfCommand(''), null);
});

test('latencies get the place of the longest', () => {
  const longest = {begin_ns: 5};
  assert.deepEqual(
      withLongest(
          [{kind: 'blocked', reason: 'sync'}, {kind: 'pause', reason: ''}],
          [{kind: 'blocked', reason: 'sync', longest}]),
      [{kind: 'blocked', reason: 'sync', longest}, {kind: 'pause', reason: '', longest: null}]);
});

test('functions of a summary are those of the table, if it has them', () => {
  const functions = [{name: 'a', blocked_ns: 9}, {name: 'b', blocked_ns: 3}];
  const table = [{name: 'b', blocked_total_ns: 3, blocked_ns: {network: 2, sleep: 1}}];
  const [a, b] = functionRows(functions, table);
  assert.deepEqual(statesOf(a!), [[5, 9]]);
  assert.deepEqual(statesOf(b!), [[4, 2], [5, 1]]);
});

test('tasks, regions and requests of a summary are counted', () => {
  assert.deepEqual(
      spanRows({spans: [{kind: 'task', type: 'x', lengths: {sum: 9, max: 5, counts: [1, 0, 2]}}]}),
      [{kind: 'task', type: 'x', count: 3, total_ns: 9, max_ns: 5}]);
  assert.deepEqual(spanRows({}), []);
});

test('functions to blame are named once', () => {
  const at = (name: string, line: number) => ({function: name, line});
  assert.deepEqual(unique([at('a', 1), at('b', 2), at('a', 3)]), [at('a', 1), at('b', 2)]);
  assert.deepEqual(unique([]), []);
});

test('shares of a critical path add up', () => {
  const piece = (state: string, reason: string, length: number) => ({
    begin_ns: 0,
    end_ns: length,
    length_ns: length,
    depth: 0,
    g: 1,
    state,
    reason,
    woken_by: '',
    ran_ns: {},
    start: 'main.main',
    stack: 'main.main',
    function: 'main.main',
    file: 'main.go',
    line: 7
  });
  const shares = pathShares([
    piece('Running', '', 5), piece('Waiting', 'sync', 7), piece('Waiting', 'sync', 1),
    piece('', '', 2)
  ]);
  assert.deepEqual(
      shares.map((s) => [s.label, s.ns]), [['blocked: sync', 8], ['running', 5], ['unknown', 2]]);
});

test('pieces of a path that say the same are one', () => {
  const piece = (begin_ns: number, length_ns: number, g: number, line: number) =>
      ({
        begin_ns,
        length_ns,
        g,
        line,
        state: 'Waiting',
        reason: 'sleep',
        function: 'f',
        file: 'x.go'
      }) as unknown as Piece;
  const all = [piece(0, 5, 1, 7), piece(5, 2, 2, 7), piece(7, 4, 1, 7), piece(11, 1, 1, 8)];
  const groups = alike(all);
  assert.deepEqual(groups.map(({count, ns}) => [count, ns]), [[2, 9], [1, 2], [1, 1]]);
  assert.equal(groups[0]!.first, all[0]);
});

test('lines of events', () => {
  const line =
      'M=2263 P=6 G=-1 StateTransition Time=2084150161472 GoID=17 Undetermined->Running Reason=""';
  assert.equal(timeOfLine(line), 2084150161472);
  assert.equal(goroutineOfLine(line), 17);
  assert.equal(goroutineOfLine('M=1 P=2 G=9 Metric Time=3'), 9);
  assert.equal(timeOfLine('\tmain.main @ 0x1'), null);
});

test('searches that are times', () => {
  for (const text of ['1.5s', '20ms', '@2078707244416', '2026-11-21T04:25:08.5Z'])
    assert.ok(looksLikeTime(text), text);
  for (const text of ['g:17', 'main.main', 's', '12', '@x', 'parse'])
    assert.ok(!looksLikeTime(text), text);
});

test('answers of queries: columns of the same name', () => {
  assert.deepEqual(
      rowsOf({columns: ['n', 'n', 'x'], rows: [[1, 2, 'a']], more: false}),
      {names: ['n', 'n (2)', 'x'], rows: [{n: 1, 'n (2)': 2, x: 'a'}]});
  assert.equal(shortFile('/usr/lib/go/src/runtime/chan.go'), 'chan.go');
});

test('stacks show frames of the program first', () => {
  const run = ['main.main', 'main.render', 'crypto/sha256.Sum256', 'runtime.asyncPreempt'];
  assert.deepEqual(shownFrames(run), ['crypto/sha256.Sum256', 'main.render', 'main.main']);
  assert.deepEqual(
      shownFrames(['main.a', 'main.b', 'main.c', 'main.d']), ['main.d', 'main.c', 'main.b']);
  assert.deepEqual(
      shownFrames(['runtime.main', 'runtime.gopark']), ['runtime.gopark', 'runtime.main']);
  assert.deepEqual(shownFrames(['']), ['']);
});
