// The views that are tables of a command: what they ask for, what they show at first, and where
// their rows lead.

import {CommandAnswer, Groups, Row} from './answers';
import {App, currentWindow, showGroup, showPlace, sinceBegin, ViewPart, windowParams} from './app';
import {h, replace} from './dom';
import {bytes, duration} from './format';
import {isAbort, Params, requestText} from './requests';
import {State, View} from './state';
import {Table} from './table';
import {bars, bounds, Histogram} from './table_model';
import {byteTicks, Chart, countTicks, powerTicks, shareTicks, timeTicks} from './chart';

interface Mode {
  id: string;
  title: string;
  request: string;
  params: Params;
  rows: string;
  columns: string[];
  /** A parameter of the URL that is passed on, and its name in the request. */
  pass?: [string, string][];
  go?: (app: App, row: Row) => (() => void) | null;
  selected?: (state: State, row: Row, app: App) => boolean;
  chart?: 'mmu'|'slices'|'histogram'|'heap';
  /** How rows are sorted at first, as in the URL; by default as the command has them. */
  sort?: string;
  /** A window that is shorter than this, in ns, has no rows. */
  least?: number;
  /** What is said where the whole trace has no rows. */
  empty?: string;
}

const TIMES = [
  'states', 'total_ns', 'running_ns', 'runnable_ns', 'syscall_ns', 'blocked_total_ns', 'blocked_ns'
];
const g = (row: Row) => typeof row['g'] === 'number' ? `g:${row['g']}` : null;

/**
 * Leads to a lane, by default that of the goroutine, at a moment or, with its end or its length, a
 * stretch of time.
 */
function toLane(begin: string, end?: 'end_ns'|'length_ns'|'longest_ns', laneOf = g) {
  return (app: App, row: Row) => {
    const lane = laneOf(row), at = row[begin];
    if (typeof at !== 'number') return null;
    const from = sinceBegin(app, at), stop = end ? row[end] : null;
    const to = typeof stop !== 'number' ?
        {} :
        {to: end === 'end_ns' ? sinceBegin(app, stop) : from + stop};
    return () => showPlace(app, {lane, from: Math.max(0, from), ...to});
  };
}

/** Leads to the timeline of the same window, where the lane stays above all others. */
function toPinned(laneOf: (row: Row) => string | null) {
  return (app: App, row: Row) => {
    const lane = laneOf(row);
    return lane === null ? null : () => {
      const {pin} = app.store.state;
      app.store.set({view: 'timeline', pin: pin.includes(lane) ? pin : [...pin, lane]});
    };
  };
}

function toGroup(key: string) {
  return (app: App, row: Row) => typeof row[key] !== 'string' ? null : () => {
    const name = row[key] as string;
    void app.requests.json<Groups>('groups', [['text', name], ['limit', 100]])
        .then(({groups}) => {
          const group = groups.find((x) => x.name === name);
          if (group) showGroup(app, group.id);
        })
        .catch(() => {});
  };
}

const toWindow = (begin: string, length: string) => (
    app: App, row: Row) => typeof row[begin] !== 'number' ? null : () => {
  const from = sinceBegin(app, Number(row[begin])), size = Number(row[length] ?? 0);
  app.store.set(
      {view: 'timeline', from: Math.max(0, from - size * 0.2), to: from + Math.max(1, size) * 1.2});
};

const toTypes = (view: View, key: string) => (app: App, row: Row) => () => app.store.set({
  params: {
    ...app.store.state.params,
    [`${view}.mode`]: 'each',
    [`${view}.type`]: String(row[key] ?? ''),
    [`${view}.columns`]: '',
    [`${view}.sort`]: ''
  }
});

/** A pattern that matches only the text itself. */
function patternOf(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/**
 * Leads to the longest waits in a function, each of which leads to its place in the timeline. A
 * report has only the longest of all.
 */
const toWaitsIn = (key: string) => (app: App, row: Row) => !row[key] ? null : () => app.store.set({
  view: 'latency',
  params: {
    ...app.store.state.params,
    'latency.mode': 'worst',
    'latency.sort': '-length_ns',
    'latency.stack': app.requests.baked ? '' : patternOf(String(row[key])),
    'latency.filter': app.requests.baked ? String(row[key]) : '',
    'latency.lengths': ''
  }
});

const isMark = (state: State, row: Row, app: App, lane: string) =>
    state.lane === lane && state.at === sinceBegin(app, Number(row['begin_ns']));

const sameG = (state: State, row: Row) => state.lane !== null && state.lane === g(row);

export const TABLES: Partial<Record<View, Mode[]>> = {
  goroutines: [
    {
      id: 'functions',
      title: 'By function',
      request: 'goroutines',
      params: [],
      rows: 'goroutines',
      sort: '-running_ns',
      columns: ['count', ...TIMES, 'name'],
      go: toGroup('name')
    },
    {
      id: 'each',
      title: 'Each',
      request: 'goroutines',
      params: [['each', true]],
      rows: 'goroutines',
      sort: '-running_ns',
      pass: [['top', 'top']],
      columns: ['g', ...TIMES, 'creation_ns', 'end_ns', 'name'],
      go: (app, row) => toLane('creation_ns')(app, row),
      selected: sameG
    },
  ],
  tasks: [
    {
      id: 'types',
      title: 'By type',
      request: 'tasks',
      params: [],
      rows: 'tasks',
      sort: '-duration_max_ns',
      go: toTypes('tasks', 'type'),
      columns: [
        'count', 'open', 'duration_p50_ns', 'duration_p99_ns', 'duration_max_ns',
        ...TIMES.filter((k) => k !== 'syscall_ns'), 'type'
      ],
      empty: 'The trace has no tasks: the program does not call trace.NewTask.'
    },
    {
      id: 'each',
      title: 'Each',
      request: 'tasks',
      params: [['each', true]],
      rows: 'tasks',
      sort: '-duration_ns',
      pass: [['type', 'type']],
      columns: [
        'task', 'duration_ns', 'begin_ns', 'g', 'goroutines', 'regions', 'logs', 'states',
        'blocked_ns', 'type'
      ],
      go: (app, row) => () => {
        const begin =
            typeof row['begin_ns'] === 'number' ? sinceBegin(app, row['begin_ns'] as number) : 0;
        const length = Number(row['duration_ns'] ?? 0) || app.trace.duration - begin;
        app.store.set({
          view: 'timeline',
          task: String(row['task']),
          lane: null,
          at: null,
          from: Math.max(0, begin - length * 0.1),
          to: begin + Math.max(1, length) * 1.1
        });
      },
      selected: (state, row) => state.task !== null && String(row['task']) === state.task,
      empty: 'The trace has no such task.'
    },
  ],
  regions: [
    {
      id: 'types',
      title: 'By type',
      request: 'regions',
      params: [],
      rows: 'regions',
      sort: '-duration_max_ns',
      go: toTypes('regions', 'type'),
      columns: [
        'count', 'open', 'duration_p50_ns', 'duration_p99_ns', 'duration_max_ns',
        ...TIMES.filter((k) => k !== 'syscall_ns'), 'type'
      ],
      empty:
          'The trace has no regions: the program does not call trace.StartRegion or trace.WithRegion.'
    },
    {
      id: 'each',
      title: 'Each',
      request: 'regions',
      params: [['each', true]],
      rows: 'regions',
      sort: '-duration_ns',
      pass: [['type', 'type']],
      columns: ['g', 'task', 'duration_ns', 'begin_ns', 'states', 'blocked_ns', 'type'],
      go: toLane('begin_ns', 'end_ns'),
      selected: sameG,
      empty: 'The trace has no such region.'
    },
  ],
  locks: [
    {
      id: 'locks',
      title: 'Where goroutines wait for each other',
      request: 'locks',
      params: [],
      rows: 'locks',
      sort: '-total_ns',
      chart: 'histogram',
      go: toWaitsIn('function'),
      columns: [
        'count', 'total_ns', 'p50_ns', 'p99_ns', 'max_ns', 'histogram', 'object', 'function',
        'line', 'holders', 'victims'
      ],
      empty: 'No goroutine waited for another one.'
    },
  ],
  latency: [
    {
      id: 'kinds',
      title: 'By kind',
      request: 'latency',
      params: [],
      rows: 'latencies',
      chart: 'histogram',
      columns: [
        'count', 'clipped', 'total_ns', 'p50_ns', 'p90_ns', 'p99_ns', 'max_ns', 'histogram', 'kind',
        'reason'
      ]
    },
    {
      id: 'func',
      title: 'By function',
      request: 'latency',
      params: [['by', 'func']],
      rows: 'latencies',
      sort: '-total_ns',
      chart: 'histogram',
      columns: [
        'count', 'total_ns', 'p50_ns', 'p99_ns', 'max_ns', 'histogram', 'kind', 'reason', 'start'
      ]
    },
    {
      id: 'stack',
      title: 'By stack',
      request: 'latency',
      params: [['by', 'stack']],
      rows: 'latencies',
      sort: '-total_ns',
      chart: 'histogram',
      columns: [
        'count', 'total_ns', 'p50_ns', 'p99_ns', 'max_ns', 'histogram', 'kind', 'reason', 'start',
        'stack'
      ]
    },
    {
      id: 'worst',
      title: 'The longest',
      request: 'latency',
      params: [['worst', 100]],
      rows: 'waits',
      pass: [['stack', 'stack']],
      columns: ['begin_ns', 'length_ns', 'g', 'kind', 'reason', 'ended_by', 'start', 'stack'],
      sort: '-length_ns',
      go: toLane('begin_ns', 'length_ns'),
      selected: sameG
    },
  ],
  gc: [
    {
      id: 'cycles',
      title: 'Cycles',
      request: 'gc',
      params: [],
      rows: 'cycles',
      sort: 'begin_ns',
      go: toLane('begin_ns', 'length_ns', () => 'cycles'),
      selected: (state, row, app) => isMark(state, row, app, 'cycles'),
      columns: [
        'cycle', 'begin_ns', 'trigger', 'length_ns', 'pauses', 'pauses_ns', 'longest_pause_ns',
        'assists', 'assists_ns', 'workers_ns', 'heap_begin_bytes', 'goal_bytes', 'heap_end_bytes',
        'stack'
      ],
      empty: 'The collector did not run.'
    },
    {
      id: 'pauses',
      title: 'Pauses',
      request: 'gc',
      params: [['pauses', true]],
      rows: 'pauses',
      sort: 'begin_ns',
      go: toLane('begin_ns', 'length_ns', () => 'stops'),
      selected: (state, row, app) => isMark(state, row, app, 'stops'),
      columns: [
        'begin_ns', 'length_ns', 'reason', 'g', 'p', 'last_p', 'last_p_stop_ns', 'last_g',
        'last_function', 'stack'
      ],
      empty: 'The world was not stopped.'
    },
    {
      id: 'mmu',
      title: 'Utilization',
      request: 'gc',
      params: [['mmu', true]],
      rows: 'mmu',
      sort: 'window_ns',
      chart: 'mmu',
      columns: ['window_ns', 'mmu', 'worst_time_ns'],
      go: toWindow('worst_time_ns', 'window_ns')
    },
  ],
  procs: [
    {
      id: 'procs',
      title: 'Ps',
      request: 'procs',
      params: [],
      rows: 'procs',
      sort: 'p',
      columns: [
        'p', 'states', 'user_ns', 'gc_ns', 'assist_ns', 'syscall_ns', 'scheduler_ns', 'stopped_ns',
        'idle_ns', 'runs', 'migrations', 'steals'
      ],
      go: toPinned((row) => `p:${row['p']}`),
      selected: (state, row) => state.lane === `p:${row['p']}`
    },
    {
      id: 'slices',
      title: 'Over time',
      request: 'procs',
      params: [['slices', 200]],
      rows: 'slices',
      sort: 'begin_ns',
      chart: 'slices',
      go: toWindow('begin_ns', 'length_ns'),
      columns: [
        'begin_ns', 'length_ns', 'states', 'user_ns', 'gc_ns', 'assist_ns', 'syscall_ns', 'idle_ns',
        'runnable_ns', 'wasted_ns', 'gomaxprocs'
      ]
    },
    {
      id: 'ready',
      title: 'Why goroutines waited to run',
      request: 'procs',
      params: [['ready', true]],
      rows: 'ready',
      sort: '-ready_ns',
      go: toGroup('start'),
      columns: [
        'ready_ns', 'program_ns', 'idle_ps_ns', 'long_runs_ns', 'gc_ns', 'assists_ns', 'stopped_ns',
        'other_ns', 'start'
      ],
      empty: 'No goroutine waited to run.'
    },
    {
      id: 'runs',
      title: 'Long runs',
      request: 'procs',
      params: [['long-runs', true]],
      rows: 'long_runs',
      sort: '-waited_ns',
      go: toLane('longest_begin_ns', 'longest_ns'),
      selected: sameG,
      columns: ['g', 'runs', 'longest_ns', 'waited_ns', 'peers_waited_ns', 'start', 'stack'],
      empty: 'No goroutine kept its P for 20 ms or more while others waited.'
    },
  ],
  heap: [
    {
      id: 'types',
      title: 'Types',
      request: 'heap',
      params: [],
      rows: 'types',
      sort: '-live_bytes',
      empty:
          'The trace does not record allocations: run the program with GODEBUG=traceallocfree=1 (Go 1.23 and later).',
      columns: [
        'live_objects', 'live_bytes', 'start_bytes', 'allocated_bytes', 'freed_bytes', 'peak_bytes',
        'per_second_bytes', 'survived_bytes', 'type'
      ]
    },
    {
      id: 'functions',
      title: 'Functions',
      request: 'heap',
      params: [['by', 'func']],
      rows: 'functions',
      sort: '-allocated_bytes',
      go: toGroup('name'),
      columns: ['goroutines', 'allocated_objects', 'allocated_bytes', 'per_second_bytes', 'name'],
      empty: 'The trace does not record allocations.'
    },
    {
      id: 'time',
      title: 'Over time',
      request: 'heap',
      params: [['by', 'time']],
      rows: 'slices',
      sort: 'until_ns',
      chart: 'heap',
      columns: [
        'until_ns', 'cycles', 'live_objects', 'live_bytes', 'allocated_bytes', 'freed_bytes',
        'span_bytes', 'stack_bytes', 'types_bytes'
      ],
      empty: 'The trace does not record allocations.'
    },
    {
      id: 'age',
      title: 'Age',
      request: 'heap',
      params: [['by', 'age']],
      rows: 'ages',
      columns: ['age', 'freed_objects', 'freed_bytes', 'live_objects', 'live_bytes'],
      empty: 'The trace does not record allocations.'
    },
    {
      id: 'span',
      title: 'Spans',
      request: 'heap',
      params: [['by', 'span']],
      rows: 'spans',
      columns: [
        'use', 'pointers', 'slot_bytes', 'spans', 'bytes', 'slots', 'used', 'occupancy',
        'used_bytes', 'unused_bytes'
      ],
      empty: 'The trace does not record allocations.'
    },
  ],
  leaks: [
    {
      id: 'leaks',
      title: 'Blocked for 1 s or more at the end',
      least: 1e9,
      request: 'leaks',
      params: [],
      rows: 'leaks',
      sort: '-count',
      go: toGroup('start'),
      columns: ['count', 'longest_ns', 'counts', 'reason', 'start', 'blocked_at', 'created_at'],
      empty: 'No goroutine of the program has been blocked for a second at the end. ' +
          '“10 ms or more” has those that have not been for as long.'
    },
    {
      id: 'short',
      title: '10 ms or more',
      request: 'leaks',
      params: [['longer', '10ms']],
      rows: 'leaks',
      sort: '-count',
      go: toGroup('start'),
      columns: ['count', 'longest_ns', 'counts', 'reason', 'start', 'blocked_at', 'created_at'],
      empty: 'No goroutine of the program has been blocked for 10 ms at the end.'
    },
  ],
};

export class TableView implements ViewPart {
  readonly root: HTMLElement;
  private readonly tools = h('div', {class: 'bar-of-tools'});
  private readonly chartHost = h('div');
  private readonly pane = h('div', {class: 'pane'});
  private readonly table: Table;
  private requested = '';
  private timer = 0;
  private abort: AbortController|null = null;
  private rows: Row[]|null = null;
  private of = '';

  constructor(
      private readonly view: View, private readonly modes: Mode[], private readonly app: App) {
    this.table = new Table(app, {view, columns: []}, this.pane);
    this.root = h('div', {class: 'split rows'});
    this.root.append(this.tools, this.chartHost, this.pane, this.table.chooserRoot);
  }

  private mode(state: State): Mode {
    return this.modes.find((m) => m.id === state.params[`${this.view}.mode`]) ?? this.usual();
  }

  /** The mode that is shown while none is chosen. */
  private usual(): Mode {
    const {from, to} = currentWindow(this.app);
    return this.modes.find((m) => to - from >= (m.least ?? 0)) ?? this.modes[0]!;
  }

  update(state: State, before: State|null) {
    const mode = this.mode(state);
    const params: Params = [
      ...windowParams(state, this.app.trace.duration), ...mode.params,
      ...(mode.pass ?? [])
          .map(
              ([key, name]):
                  [string, string|null] => [name, state.params[`${this.view}.${key}`] || null])
    ];
    const key = `${requestText(mode.request, params)} ${this.app.requests.complete}`;
    if (!before || !sameView(before, state, this.view)) this.drawTools(mode, state);
    if (key !== this.requested) {
      const moved = this.requested !== '' && this.of === mode.id;
      this.requested = key;
      if (this.of !== mode.id) {
        this.rows = null;
        this.pane.textContent = '';
        this.chartHost.textContent = '';
      }
      this.of = mode.id;
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.load(mode, params, key), moved ? 250 : 0);
      // Rows of the window before stay until the new ones are there, but faint.
      if (this.rows) this.pane.style.opacity = '0.5';
    } else if (before && sameView(before, state, this.view)) {
      this.table.markSelected();
    } else if (this.rows) {
      this.show(mode, this.rows);
    }
  }

  private drawTools(mode: Mode, state: State) {
    const lengths = state.params[`${this.view}.lengths`];
    // A tool that removes a condition.
    const condition = (key: 'type'|'stack', title: string, shown: (value: string) => string) => {
      const value = state.params[`${this.view}.${key}`];
      if (!value || !mode.pass?.some(([k]) => k === key)) return null;
      return h(
          'button', {
            class: 'tool',
            title,
            onclick: () => this.app.store.setParam(`${this.view}.${key}`, null)
          },
          `${shown(value)} ✕`);
    };
    replace(
        this.tools,
        this.modes.length > 1 ?
            h('span', {class: 'choice', role: 'tablist'},
              this.modes.map(
                  (m) =>
                      h('button', {class: m === mode ? 'on' : '', onclick: () => this.setMode(m)},
                        m.title))) :
            h('span', {class: 'dim'}, mode.title),
        condition('type', 'Show all types', (type) => `type ${type}`),
        condition(
            'stack', 'Show waits in all stacks',
            (pattern) => `in ${pattern.replace(/\\(.)/g, '$1')}`),
        lengths && mode.rows === 'waits' ?
            h('button', {
              class: 'tool',
              title: 'Show all lengths',
              onclick: () => this.app.store.setParam(`${this.view}.lengths`, null)
            },
              `${lengths.split('-').map((n) => duration(Number(n))).join(' to ')} ✕`) :
            null,
        this.table.tools);
  }

  private setMode(mode: Mode) {
    const params = {...this.app.store.state.params, [`${this.view}.mode`]: mode.id};
    for (const key of ['sort', 'columns', 'type', 'stack', 'lengths'])
      delete params[`${this.view}.${key}`];
    if (mode === this.usual()) delete params[`${this.view}.mode`];
    this.app.store.set({params});
  }

  private load(mode: Mode, params: Params, key: string) {
    this.abort?.abort();
    this.abort = new AbortController();
    const current = () => key === this.requested;
    if (!this.rows) replace(this.pane, h('div', {class: 'note'}, 'Loading'));
    this.app.requests.json<CommandAnswer>(mode.request, params, this.abort.signal)
        .then((answer) => {
          if (!current()) return;
          const rows = Array.isArray(answer[mode.rows]) ? answer[mode.rows] as Row[] : [];
          this.rows = rows;
          this.pane.style.opacity = '';
          this.show(mode, rows);
        })
        .catch((error) => {
          if (isAbort(error) || !current()) return;
          this.rows = null;
          this.pane.style.opacity = '';
          this.chartHost.textContent = '';
          replace(this.pane, h('div', {class: 'error'}, String((error as Error).message)));
        });
  }

  private show(mode: Mode, rows: Row[]) {
    const {app} = this;
    if (!rows.length) {
      this.chartHost.textContent = '';
      this.table.clear();
      const all = windowParams(app.store.state, app.trace.duration).length === 0;
      replace(
          this.pane,
          h('div', {class: 'note'}, all ? mode.empty ?? 'The trace has nothing of this.' : [
            'This window has nothing of this. ',
            h('button', {class: 'link', onclick: () => app.store.set({from: null, to: null})},
              'Show the whole trace')
          ]));
      return;
    }
    if (this.table.root.parentElement !== this.pane) replace(this.pane, this.table.root);
    this.drawChart(mode, rows);
    this.table.show(this.withLengths(rows), {
      view: this.view,
      columns: mode.columns,
      ...(mode.sort ? {sort: mode.sort} : {}),
      go: (row) => mode.go?.(app, row) ?? null,
      selected: (row) => mode.selected?.(app.store.state, row, app) ?? false,
      focused: (row) => {
        if (mode.chart === 'histogram') this.histogram(row);
      },
    });
    const {first} = this.table;
    if (mode.chart === 'histogram' && first) this.histogram(first);
  }

  /** Only the waits of a bar of the histogram that somebody clicked. */
  private withLengths(rows: Row[]): Row[] {
    const [, from, to] =
        /^(\d+)-(\d+)$/.exec(this.app.store.state.params[`${this.view}.lengths`] ?? '') ?? [];
    return from === undefined ?
        rows :
        rows.filter(
            (r) => typeof r['length_ns'] !== 'number' ||
                (r['length_ns'] >= Number(from) && r['length_ns'] <= Number(to)));
  }

  private drawChart(mode: Mode, rows: Row[]) {
    const {app} = this;
    const number = (row: Row, key: string) => Number(row[key] ?? 0) || 0;
    if (mode.chart === 'mmu') {
      this.useChart(new Chart(app, {
        kind: 'line',
        x: rows.map((r) => Math.log10(Math.max(1, number(r, 'window_ns')))),
        series: [{values: rows.map((r) => number(r, 'mmu')), color: app.palette.select}],
        most: 1,
        yTicks: shareTicks(),
        xText: (x) => duration(10 ** x),
        yText: (y) => `${Math.round(y * 100)} %`,
        title: 'The least share of the Ps that the program had, in any window of a length',
        xTicks: rows.map(
            (r) =>
                [Math.log10(Math.max(1, number(r, 'window_ns'))),
                 duration(number(r, 'window_ns'))]),
        click: (i) => mode.go?.(app, rows[i]!)?.(),
      }));
    } else if (mode.chart === 'slices') {
      const waiting =
          rows.map((r) => number(r, 'runnable_ns') / Math.max(1, number(r, 'length_ns')));
      const most = Math.max(1, ...rows.map((r) => number(r, 'gomaxprocs')));
      const begins = rows.map((r) => sinceBegin(app, number(r, 'begin_ns')));
      const last = rows[rows.length - 1]!;
      const keys: [string, number][] =
          [['user_ns', 1], ['gc_ns', 6], ['assist_ns', 7], ['syscall_ns', 3], ['scheduler_ns', 8]];
      this.useChart(new Chart(app, {
        kind: 'stack',
        x: begins,
        xTicks: timeTicks(
            begins[0]!, sinceBegin(app, number(last, 'begin_ns')) + number(last, 'length_ns')),
        widths: rows.map((r) => number(r, 'length_ns')),
        series: keys.map(
            ([key, code]) => ({
              values: rows.map((r) => number(r, key) / Math.max(1, number(r, 'length_ns'))),
              color: app.palette.states[code]!
            })),
        line: {values: waiting, color: app.palette.fg},
        most,
        yTicks: countTicks(most),
        xText: (x) => duration(x),
        yText: (y) => `${y.toFixed(y < 10 ? 1 : 0)}`,
        title: `Ps at work (left), and goroutines that wait to run (line${
            Math.max(...waiting) > most ? ', right' : ''})`,
        click: (i) => mode.go?.(app, rows[i]!)?.(),
      }));
    } else if (mode.chart === 'heap') {
      const most = Math.max(
          1, ...rows.map((r) => Math.max(number(r, 'live_bytes'), number(r, 'span_bytes'))));
      const times = rows.map((r) => number(r, 'until_ns'));
      this.useChart(new Chart(app, {
        kind: 'line',
        x: times,
        xTicks: timeTicks(times[0]!, times[times.length - 1]!),
        series: [
          {values: rows.map((r) => number(r, 'live_bytes')), color: app.palette.states[6]!},
          {values: rows.map((r) => number(r, 'span_bytes')), color: app.palette.dim}
        ],
        most,
        yTicks: byteTicks(most),
        xText: (x) => duration(x),
        yText: (y) => bytes(Math.round(y)),
        title: 'Objects that are alive, and the spans for them',
      }));
    } else {
      this.chartHost.textContent = '';
    }
  }

  private useChart(chart: Chart) {
    replace(this.chartHost, chart.root);
    chart.draw();
  }

  private histogram(row: Row) {
    const value = row['histogram'] as Histogram | undefined;
    if (!value || !Array.isArray(value.counts)) return;
    const {first, last} = bounds([value]);
    const list = bars(value, first, last, Math.max(8, Math.min(120, (last - first) * 8)));
    const most = Math.max(1, ...list.map((b) => b.n));
    const what = [
      row['kind'] ?? row['object'], row['reason'], row['function'] ?? row['start']
    ].filter(Boolean).join(' · ');
    this.useChart(new Chart(this.app, {
      kind: 'bars',
      x: list.map((b) => Math.log2(b.from)),
      series: [{values: list.map((b) => b.n), color: this.app.palette.dim}],
      most,
      xText: (x) => duration(2 ** x),
      yText: (y) => String(Math.round(y)),
      xTicks: powerTicks(first, last),
      yTicks: countTicks(most),
      title: `How many there were of each length: ${what}`,
      xEnd: last,
      click: this.view === 'latency' ?
          (i) => {
            const params: Record<string, string> = {
              ...this.app.store.state.params,
              'latency.mode': 'worst',
              'latency.sort': '-length_ns',
              'latency.filter': String(row['kind'] ?? ''),
              'latency.lengths': `${Math.floor(list[i]!.from)}-${Math.ceil(list[i]!.to)}`
            };
            delete params['latency.columns'];
            this.app.store.set({params});
          } :
          undefined,
    }));
  }

  key(event: KeyboardEvent): boolean {
    const mode = /^[1-9]$/.test(event.key) ? this.modes[Number(event.key) - 1] : undefined;
    if (mode) {
      this.setMode(mode);
      return true;
    }
    return this.rows !== null && this.table.key(event);
  }
}

/** Whether two states differ in nothing that this view shows. */
function sameView(a: State, b: State, view: View): boolean {
  const of = (state: State) => Object.keys(state.params)
                                   .filter((k) => k.startsWith(`${view}.`))
                                   .map((k) => `${k}=${state.params[k]}`)
                                   .join('&');
  return of(a) === of(b) && a.clock === b.clock && a.theme === b.theme;
}
