import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Group, MarkRow, TaskLanes, Trace} from '../src/answers';
import {App} from '../src/app';
import {LaneTile} from '../src/decode';
import {Row, Scale} from '../src/layout';
import {Requests} from '../src/requests';
import {INITIAL, State} from '../src/state';
import {TimelineData} from '../src/timeline_data';
import {markAt, spanOf, tipLines} from '../src/timeline_hit';
import {layoutInput, sortedGroups} from '../src/timeline_rows';

const STATES = ['idle', 'running', 'runnable'];
/** 10 ns for a pixel, from 1000 ns on; names take 100 pixels. */
const scale = new Scale(1000, 11000, 100, 1000);

const appOf = (state: Partial<State> = {}, answers: Record<string, unknown> = {}) => ({
  store: {state: {...INITIAL, ...state}},
  trace: {
    states: STATES,
    duration: 20000,
    procs: [0],
    threads: [],
    tasks: 1,
    begin_ns: 500,
    wall_begin: null
  } as unknown as Trace,
  requests: {
    baked: false,
    json: (name: string) =>
        name in answers ? Promise.resolve(answers[name]) : Promise.reject(new Error(name)),
  } as unknown as Requests,
  say: () => {},
} as unknown as App);

const tile = (more: Partial<LaneTile>): LaneTile => ({
  id: 'p:0',
  name: '',
  begin: 0,
  step: 10,
  count: 1024,
  full: 10,
  columns: [],
  longest: null,
  longestStates: null,
  spans: [],
  names: ['', 'main.f'],
  peak: 0,
  wide: [],
  ...more
});

/** What is known if these tiles are there, from coarse to fine. */
function dataWith(app: App, ...tiles: LaneTile[]): TimelineData {
  const data = new TimelineData(app, () => {});
  data.tiles.cover = () =>
      tiles.map((t) => ({lanes: new Map([[t.id, t]])})) as ReturnType<typeof data.tiles.cover>;
  return data;
}

const lane = (id: string) =>
    ({y: 0, height: 20, kind: 'lane', id, unit: id, name: '', indent: 1, pinned: false}) as Row &
    {kind: 'lane'};
const texts = (app: App, data: TimelineData, row: Row, t: number) =>
    tipLines(app, data, scale, row, scale.x(t))
        .map(({state, text, look}) => [state, text, look].filter(Boolean).join('|'));

test('a mark is found a few pixels away, and the nearest one of several', () => {
  const marks: MarkRow[] = [[2000, 100, 0, 1], [2160, 10, 1, 1]];
  assert.equal(markAt(marks, scale, 2050), marks[0]);
  assert.equal(markAt(marks, scale, 1970), marks[0]);
  assert.equal(markAt(marks, scale, 1969), undefined);
  assert.equal(markAt(marks, scale, 2129), marks[0]);
  assert.equal(markAt(marks, scale, 2131), marks[1]);
});

test('a span that tiles cut is one span, of the finest tiles that are there', () => {
  const coarse = tile({step: 20, spans: [[0, 20480, 2, -1, 0, 0]]});
  const first = tile({spans: [[9000, 1240, 1, 7, 1, 2]], wide: [[9000, 1240, 1, 7, 1, 2]]});
  const second =
      tile({begin: 10240, spans: [[10240, 260, 1, 7, 1, 1]], wide: [[10240, 260, 1, 7, 1, 1]]});
  const {tiles} = dataWith(appOf(), coarse, first, second);
  const whole = {begin: 9000, end: 10500, state: 1, subject: 7, name: 'main.f', cut: 0};
  assert.deepEqual(spanOf(tiles, scale, lane('p:0'), 10000), whole);
  assert.deepEqual(spanOf(tiles, scale, lane('p:0'), 10300), whole);
  assert.equal(spanOf(tiles, scale, lane('p:0'), 8000), null);
  assert.equal(spanOf(tiles, scale, lane('p:1'), 10000), null);
});

test('the tip of a lane: a span, the shares of a column, or nothing', () => {
  const app = appOf();
  const spans = tile({spans: [[2000, 500, 1, 7, 1, 0], [3000, 500, 2, -1, 0, 2]]});
  const data = dataWith(app, spans);
  const [state, name, place] = texts(app, data, lane('p:0'), 2100);
  assert.deepEqual([state, name], ['running|running 500 ns', 'G 7 main.f|name']);
  assert.ok(/^P 0 at 2.1.*\|dim$/.test(place!), place);
  assert.equal(texts(app, data, lane('p:0'), 3100)[0], 'runnable|waiting to run more than 500 ns');
  assert.equal(texts(app, data, lane('p:0'), 4000)[0], 'idle|idle');

  const columns = tile({id: 'g:7', columns: [[1, new Uint8Array(1024).fill(51)]]});
  const shares = texts(app, dataWith(app, columns), lane('g:7'), 2100);
  assert.deepEqual(shares.slice(0, 2), ['running|running 20 %', 'of the 10 ns here|dim']);
  const none = texts(app, dataWith(app, tile({id: 'g:7'})), lane('g:7'), 2100);
  assert.equal(none[0], 'idle|not there');
});

test('the tips of other rows, and of names', () => {
  const app = appOf();
  const columns: [number, Uint8Array][] = [[2, new Uint8Array(1024).fill(255)]];
  const data = dataWith(app, tile({id: 'group:0', full: 123, columns}));
  const group: Row = {
    y: 0,
    height: 34,
    kind: 'group',
    id: 'group:0',
    unit: 'group:0',
    name: 'main.g',
    goroutines: 1500,
    open: false
  };
  assert.deepEqual(
      texts(app, data, group, 2000),
      ['runnable|12 waiting to run', 'main.g: 1,500 goroutines in the trace|name dim']);
  assert.deepEqual(tipLines(app, data, scale, group, 50), [{text: 'main.g', look: 'name'}]);
  assert.deepEqual(tipLines(app, data, scale, lane('p:0'), 50), []);

  data.marks = {names: ['GC', 'two'], cycles: [[2000, 100, 0, 1], [5000, 100, 1, 9]], stops: []};
  const cycles: Row = {y: 0, height: 18, kind: 'cycles'};
  assert.deepEqual(texts(app, data, cycles, 2000), ['100 ns', 'GC|dim']);
  assert.deepEqual(texts(app, data, cycles, 5000), ['9 of them within 100 ns', 'two|dim']);
  assert.deepEqual(texts(app, data, cycles, 8000), []);
  assert.deepEqual(texts(app, data, {y: 0, height: 34, kind: 'counter', id: 'heap'}, 2000), []);

  data.tasks = {
    total: 1,
    names: ['', 'handle', 'parse'],
    tasks: [{task: 3, type: 1, begin: 2000, duration: 900, regions: [[2100, 50, 2, 7, 0]]}]
  } as unknown as TaskLanes;
  const task: Row = {y: 0, height: 22, kind: 'task', index: 0};
  assert.deepEqual(
      texts(app, data, task, 2120),
      ['handle 3: 900 ns|name', 'region parse, 50 ns on G 7|name dim']);
  assert.deepEqual(texts(app, data, task, 2500), ['handle 3: 900 ns|name']);
  assert.deepEqual(texts(app, data, {...task, index: 1}, 2500), []);
});

test('groups are sorted by name, by the time in a state, or not', () => {
  const groups = [['b', 1], ['a', 3], ['c', 2]].map(
      ([name, running]) => ({name, totals: {running}}) as unknown as Group);
  const names = (order: string) => sortedGroups(groups, order).map((g) => g.name).join('');
  assert.deepEqual([names(''), names('name'), names('running')], ['bac', 'abc', 'acb']);
});

test('idle groups can be hidden, once it is known that they are', () => {
  const app = appOf({params: {'timeline.idle': 'hide'}});
  const data = dataWith(app);
  data.groups = ['group:0', 'group:1', 'group:2'].map((id) => ({id}) as Group);
  data.raisePeak('group:0', []);
  for (const [id, peak] of [['group:1', 0], ['group:2', 2], ['group:2', 1]] as const)
    data.raisePeak(
        id, [{lanes: new Map([[id, tile({id, peak})]])}] as Parameters<typeof data.raisePeak>[1]);
  assert.equal(data.peak('group:2'), 2);
  assert.deepEqual(layoutInput(app, data, 100).groups.map((g) => g.id), ['group:0', 'group:2']);
});

test('a critical path has rows for its goroutines, in the order of its pieces', async () => {
  const piece = (begin_ns: number, g: number|null) => ({begin_ns, end_ns: begin_ns + 10, g});
  const app = appOf({path: 'task:9'}, {path: {pieces: [3, null, 1, 3].map((g) => piece(600, g))}});
  const changes: string[] = [];
  const data = new TimelineData(app, (change) => changes.push(change));
  await data.loadPath(app.store.state);
  const {pathLanes, pathTitle, notes} = layoutInput(app, data, 100);
  assert.deepEqual(pathLanes, ['g:3', 'g:1']);
  assert.equal(pathTitle, 'Path of task 9');
  assert.equal(notes['path'], '4 pieces on 2 goroutines');
  assert.deepEqual(data.pieces[0], {from: 100, to: 110, g: 3});
  await data.loadPath({...app.store.state, path: null});
  assert.deepEqual([data.pieces.length, changes.join()], [0, 'rows,rows']);
});

test('a selected span is known, and then its arrows', async () => {
  const span = {lane: 'g:7', begin: 100, end: 200, goroutine: 7};
  const app = appOf({lane: 'g:7', at: 150}, {span, arrows: {total: 1, arrows: [[200, 7, 8, -1]]}});
  const changes: string[] = [];
  const data = new TimelineData(app, (change) => changes.push(change));
  const answers = () => new Promise((resolve) => setTimeout(resolve, 0));
  data.select(app.store.state);
  assert.equal(data.span, null);
  await answers();
  assert.deepEqual([data.span, data.arrows], [span, [[200, 7, 8, -1]]]);
  assert.equal(changes.join(), 'contents,selection,contents');
  data.select(app.store.state);
  await answers();
  assert.equal(changes.length, 3);
  data.select({...app.store.state, lane: null, at: null});
  assert.deepEqual([data.span, data.arrows], [null, []]);
});
