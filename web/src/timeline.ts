// The timeline: lanes on one canvas, with everything that one can do to them.

import {
  Arrows,
  CommandAnswer,
  Group,
  Groups,
  MarkRow,
  Marks,
  MAX_ROWS,
  Members,
  Piece,
  Span,
  Strip,
  TaskLane,
  TaskLanes
} from './answers';
import {App, currentWindow, filterOfLane, setWindow, sinceBegin, ViewPart} from './app';
import {STATE_LABELS} from './colors';
import {
  decodeBytes,
  LaneTile,
  sharesAt,
  spanAt,
  stepFor,
  TILE_COLUMNS,
  WholeSpan,
  wholeSpans
} from './decode';
import {fitCanvas, h, replace, stateMark, textWidth} from './dom';
import {drawArrow, drawGroup, drawLane, drawMarks, drawTask, Pen} from './draw';
import {
  bytes,
  count,
  duration,
  exactDuration,
  fitName,
  percent,
  plural,
  tickLabel,
  tickStep,
  visible,
  wallClock
} from './format';
import {layout, LayoutInput, MEMBER_PAGE, Row, rowAt, Scale, ticks, visibleRows} from './layout';
import {isAbort} from './requests';
import {isMarks, State, zoomWindow} from './state';
import {Tile, Tiles} from './tiles';

const AXIS = 22;
const GROUPS = 100;

interface Selection {
  key: string;
  span: Span|null;
  arrows: Arrows|null
}

export class Timeline implements ViewPart {
  readonly root: HTMLElement;
  private readonly stage: HTMLElement;
  private readonly tools = h('div', {class: 'bar-of-tools thin'});
  private readonly scroll = h('div', {class: 'scroll', tabindex: '0', 'aria-label': 'Timeline'});
  private readonly canvas = h('canvas', {class: 'sheet'});
  private readonly spacer = h('div');
  private readonly divider = h('div', {class: 'divider', 'aria-hidden': 'true'});
  private readonly tip = h('div', {class: 'tip', hidden: true});
  private readonly corner =
      h('div', {class: 'corner', hidden: true}, 'not in this report: coarser than asked for');
  private readonly tiles: Tiles;
  private rows: Row[] = [];
  private height = 0;
  private groups: Group[] = [];
  private totalGroups = 0;
  private groupsOf = '';
  private members = new Map<string, {total: number, pages: Map<number, {id: string}[]>}>();
  private tasks: TaskLanes = {total: 0, names: [''], tasks: []};
  /** The goroutines of the tasks that are shown, which are asked for together. */
  private taskUnit = '';
  private marks: Marks = {names: [''], cycles: [], stops: []};
  private counters: {strip: Strip, heap: Uint8Array, goal: Uint8Array, mean: Uint8Array}|null =
      null;
  private selection: Selection = {key: '', span: null, arrows: null};
  private pieces: {from: number, to: number, g: number|null, state: string}[] = [];
  private pathOf = '';
  private settleTimer = 0;
  private settled = '';
  private frame = 0;
  private shown = false;
  private measure: {from: number, to: number}|null = null;
  private pointers = new Map<number, {x: number, y: number}>();
  private drag: {
    kind: 'pan'|'measure'|'names'|'pinch',
    x: number,
    y: number,
    from: number,
    to: number,
    moved: boolean,
    left: number,
    distance: number
  }|null = null;
  private held = new Set<string>();
  private drawn = {from: 0, to: 0};
  private stillTimer = 0;
  private lastTick = 0;
  private left = 168;
  private width = 0;
  private viewHeight = 0;
  /**
   * How high the goroutines of a group reach in the window, so that its scale does not change
   * while one scrolls.
   */
  private peaks = new Map<string, number>();
  frameTimes: number[] = [];

  constructor(private readonly app: App) {
    this.stage = h('div', {class: 'timeline'}, this.scroll, this.divider, this.tip, this.corner);
    this.root = h('div', {class: 'split rows'}, this.tools, this.stage);
    this.scroll.append(this.canvas, this.spacer);
    this.tiles = new Tiles(
        app.requests, () => app.trace.states, () => app.trace.duration, () => this.redraw());
    this.listen();
    new ResizeObserver(() => {
      this.resize();
    }).observe(this.stage);
  }

  update(state: State, before: State|null) {
    // It is about what was under the pointer.
    if (before && (before.from !== state.from || before.to !== state.to)) this.tip.hidden = true;
    const first = !this.shown;
    this.shown = true;
    if (first) this.resize();
    const wish = Number(state.params['timeline.names'] ?? 0);
    this.left = wish >= 40 ? Math.min(wish, this.width * 0.6) :
        this.width < 600   ? 92 :
        this.width > 2400  ? 240 :
        this.width > 1100  ? 208 :
                             176;
    if (!before || before.lane !== state.lane || before.at !== state.at) this.select(state);
    if (!before || before.path !== state.path) void this.loadPath(state);
    if (!before || before.params !== state.params || before.pin !== state.pin ||
        before.path !== state.path || before.clock !== state.clock)
      this.drawTools(state);
    this.settle();
    this.rebuild();
  }

  /** What is shown, and what is dimmed. */
  private drawTools(state: State) {
    if (this.tools.contains(document.activeElement) &&
        (document.activeElement as HTMLElement).tagName === 'INPUT')
      return;
    const {store} = this.app;
    const box = (key: string, placeholder: string, width: number) => {
      const input: HTMLInputElement = h('input', {
        type: 'search',
        placeholder,
        'aria-label': placeholder,
        spellcheck: 'false',
        oninput: () => store.setParam(key, input.value, 'move'),
        onblur: () => this.drawTools(store.state)
      });
      input.value = state.params[key] ?? '';
      input.style.width = `${width}px`;
      return input;
    };
    const sort: HTMLSelectElement =
        h('select', {
          'aria-label': 'Order of functions',
          onchange: () => store.setParam('timeline.sort', sort.value)
        },
          [
            ['', 'Most goroutines first'], ['running', 'Running the longest'],
            ['runnable', 'Waiting to run the longest'], ['blocked', 'Blocked the longest'],
            ['syscall', 'In syscalls the longest'], ['name', 'By name']
          ].map(([value, title]) => h('option', {value: value!}, title!)));
    sort.value = state.params['timeline.sort'] ?? '';
    const idle = state.params['timeline.idle'] === 'hide';
    const only = Number(state.params['timeline.state'] ?? 0);
    replace(
        this.tools, box('timeline.filter', 'Only this function or reason', 210),
        box('timeline.min', 'At least 1ms', 124),
        only ? h('button', {
          class: 'tool',
          title: 'Show all states',
          onclick: () => store.setParam('timeline.state', null)
        },
                 `${STATE_LABELS[this.app.trace.states[only] ?? ''] ?? ''} ✕`) :
               null,
        sort,
        h('button', {
          class: idle ? 'tool on' : 'tool',
          'aria-pressed': String(idle),
          onclick: () => store.setParam('timeline.idle', idle ? null : 'hide')
        },
          'Hide idle'),
        h('button', {
          class: 'tool',
          title: 'What times count from (c)',
          onclick: () => {
            const order = ['trace', 'window', 'wall'] as const;
            store.set({
              clock: order[(order.indexOf(state.clock) + 1) % (this.app.trace.wall_begin ? 3 : 2)]!
            });
          }
        },
          {
            trace: 'Times since the trace began',
            window: 'Times since the window began',
            wall: 'Wall-clock times, UTC'
          }[state.clock]),
        state.path ? h('button', {class: 'tool', onclick: () => store.set({path: null})},
                       `Path of ${state.path.replace('task:', 'task ').replace('g:', 'G ')} ✕`) :
                     null,
        state.pin.length ? h('button', {class: 'tool', onclick: () => store.set({pin: []})},
                             `${state.pin.length} pinned ✕`) :
                           null);
  }

  hide() {
    this.shown = false;
    this.held.clear();
    this.tip.hidden = true;
  }

  /** The trace has grown, or is complete now. */
  traceChanged() {
    this.tiles.clear();
    this.settled = '';
    if (this.shown) {
      this.settle();
      this.rebuild();
    }
  }

  redraw() {
    if (this.frame || !this.shown) return;
    this.frame = requestAnimationFrame((now) => {
      this.frame = 0;
      this.draw(now);
    });
  }

  // What is known about the window
  // ------------------------------------------------------------------------------------

  private scale(): Scale {
    const {from, to} = currentWindow(this.app);
    return new Scale(from, to, this.left, Math.max(1, this.width - this.left));
  }

  /** Asks for what belongs to the window once it has been still for a moment. */
  private settle() {
    clearTimeout(this.settleTimer);
    this.settleTimer = window.setTimeout(() => this.load(), this.settled === '' ? 0 : 120);
  }

  private load() {
    const {from, to} = currentWindow(this.app);
    const end = this.app.trace.duration;
    const key = `${Math.floor(from)} ${Math.ceil(to)} ${
        this.app.store.state.params['timeline.tasks'] ?? ''}`;
    if (key === this.settled || !this.shown) return;
    this.settled = key;
    this.peaks.clear();
    const current = () => this.settled === key;
    const step = stepFor(this.scale().nsPerPixel), width = step * TILE_COLUMNS;
    const begin = Math.floor(from / width) * width,
          stop = Math.min(Math.ceil(to / width) * width, Math.ceil(end / width) * width);
    const get = <T>(name: string, params: [string, string|number][], use: (answer: T) => void) => {
      // A report has these for the whole trace, at least.
      this.app.requests.json<T>(name, params)
          .catch(
              (error) => this.app.requests.baked ?
                  this.app.requests.json<T>(name, params.filter(([key]) => key === 'limit')) :
                  Promise.reject(error))
          .then((answer) => {
            if (current()) {
              use(answer);
              this.rebuild();
            }
          })
          .catch((error) => {
            if (!isAbort(error)) this.redraw();
          });
    };
    void this.loadGroups();
    get<Marks>('marks', [['from', begin], ['to', stop], ['step', step]], (answer) => {
      this.marks = answer;
    });
    get<Strip>('strip', [['from', begin], ['to', stop], ['step', step]], (answer) => {
      const metric = (name: string) => decodeBytes(answer.metrics[name]?.max ?? '', answer.count);
      this.counters = {
        strip: answer,
        heap: metric('heap'),
        goal: metric('goal'),
        mean: decodeBytes(answer.runnable.mean, answer.count)
      };
    });
    if (this.app.trace.tasks > 0) {
      get<TaskLanes>(
          'tasklanes',
          [['from', Math.floor(from)], ['to', Math.ceil(to)], ['limit', this.taskLimit()]],
          (answer) => {
            this.tasks = answer;
            const goroutines =
                new Set(answer.tasks.map((t) => t.goroutine).filter((n) => n !== null));
            this.taskUnit = [...goroutines]
                                .sort((a, b) => a! - b!)
                                .slice(0, 200)
                                .map((n) => `g:${n}`)
                                .join(',');
          });
    }
    for (const id of this.members.keys()) void this.loadMembers(id, 0, true);
    if (this.app.store.state.lane) this.select(this.app.store.state, true);
  }

  /** The groups of the whole trace: they do not depend on the window. */
  private async loadGroups() {
    const key = `${this.app.trace.events} ${this.app.trace.complete}`;
    if (this.groupsOf === key) return;
    this.groupsOf = key;
    try {
      const answer = await this.app.requests.json<Groups>('groups', [['limit', GROUPS]]);
      if (this.groupsOf !== key) return;
      this.groups = answer.groups;
      this.totalGroups = answer.total;
      this.rebuild();
    } catch {
      this.groupsOf = '';
    }
  }

  private taskLimit(): number {
    // A report has six.
    const usual = this.app.requests.baked || this.viewHeight < 1200 ? 6 : 12;
    const wish = Number(this.app.store.state.params['timeline.tasks'] ?? '') || usual;
    return Math.min(200, Math.max(1, wish));
  }

  private async loadMembers(group: string, first: number, again = false) {
    const known = this.members.get(group);
    if (known?.pages.has(first / MEMBER_PAGE) && !again) return;
    const entry = known ?? {total: 1, pages: new Map<number, {id: string}[]>()};
    this.members.set(group, entry);
    if (!again) entry.pages.set(first / MEMBER_PAGE, []);
    // A report has those of the whole trace.
    const {from, to} =
        this.app.requests.baked ? {from: 0, to: this.app.trace.duration} : currentWindow(this.app);
    try {
      const answer = await this.app.requests.json<Members>('members', [
        ['group', group.slice('group:'.length)], ['from', Math.floor(from)], ['to', Math.ceil(to)],
        ['offset', first], ['limit', MEMBER_PAGE]
      ]);
      if (again) entry.pages.clear();
      entry.total = answer.total;
      entry.pages.set(first / MEMBER_PAGE, answer.members);
    } catch (error) {
      if (!isAbort(error)) entry.total = 0;
    }
    this.rebuild();
  }

  private select(state: State, again = false) {
    const key = `${state.lane} ${state.at}`;
    if (state.lane === null || state.at === null) {
      this.selection = {key: '', span: null, arrows: null};
      this.redraw();
      return;
    }
    const known = this.selection.key === key;
    if (known && !again) return;
    if (!known) this.selection = {key, span: null, arrows: null};
    const current = () => this.selection.key === key;
    const {from, to} = currentWindow(this.app);
    const ask = (g: number, begin: number, end: number) =>
        this.app.requests.json<Arrows>('arrows', [
          ['lane', `g:${g}`], ['from', Math.max(0, Math.floor(begin))], ['to', Math.ceil(end)],
          ['limit', 300]
        ]);
    // Where the window is too long, those at the ends of the span are what matters.
    const arrows = (g: number, span: Span) =>
        ask(g, from, to)
            .catch(() => ask(g, span.begin - 1e6, span.end + 1e6))
            .then((answer) => {
              if (current()) {
                this.selection.arrows = answer;
                this.redraw();
              }
            })
            .catch(() => {});
    this.app.requests.json<Span>('span', [['lane', state.lane], ['at', state.at]])
        .then((span) => {
          if (!current()) return;
          this.selection.span = span;
          if (!known) this.reveal(state.lane!);
          this.redraw();
          if (span.goroutine !== null && !isMarks(span.lane)) void arrows(span.goroutine, span);
        })
        .catch(() => {});
  }

  /** Scrolls so that a lane can be seen. */
  private reveal(lane: string) {
    const row = this.rows.find((r) => (r.kind === 'lane' ? r.id : r.kind) === lane);
    if (!row) return;
    const top = this.scroll.scrollTop, visibleHeight = this.viewHeight - AXIS;
    if (row.y < top)
      this.scroll.scrollTop = Math.max(0, row.y - 60);
    else if (row.y + row.height > top + visibleHeight)
      this.scroll.scrollTop = row.y + row.height - visibleHeight + 60;
  }

  private async loadPath(state: State) {
    const of = state.path ?? '';
    if (of === this.pathOf) return;
    this.pathOf = of;
    this.pieces = [];
    if (of) {
      const [kind, id] = of.split(':') as [string, string];
      try {
        const answer = await this.app.requests.json<CommandAnswer>(
            'path', [[kind === 'task' ? 'task' : 'g', id]]);
        if (this.pathOf !== of) return;
        this.pieces =
            ((answer['pieces'] ?? []) as Piece[]).map((p) => ({
                                                        from: sinceBegin(this.app, p.begin_ns),
                                                        to: sinceBegin(this.app, p.end_ns),
                                                        g: p.g,
                                                        state: p.state
                                                      }));
      } catch (error) {
        if (!isAbort(error))
          this.app.say('The critical path cannot be shown: ' + String((error as Error).message));
      }
    }
    this.rebuild();
  }

  // Rows
  // --------------------------------------------------------------------------------------------------------------

  private resize() {
    this.width = Math.max(1, this.scroll.clientWidth);
    this.viewHeight = Math.max(1, this.stage.clientHeight);
    if (this.shown) this.update(this.app.store.state, this.app.store.state);
  }

  private rebuild() {
    const {state} = this.app.store;
    const lanes: string[] = [];
    for (const piece of this.pieces) {
      if (piece.g !== null && !lanes.includes(`g:${piece.g}`) && lanes.length < 24)
        lanes.push(`g:${piece.g}`);
    }
    const order = state.params['timeline.sort'] ?? '';
    const groups = order === 'name' ? [...this.groups].sort((a, b) => a.name < b.name ? -1 : 1) :
        order ? [...this.groups].sort((a, b) => (b.totals[order] ?? 0) - (a.totals[order] ?? 0)) :
                this.groups;
    const hideIdle = state.params['timeline.idle'] === 'hide';
    const {stops, cycles} = this.marks;
    const {from, to} = currentWindow(this.app);
    const inWindow = (rows: [number, number, number, number][]) =>
        rows.filter((r) => r[0] < to && r[0] + r[1] > from).reduce((sum, r) => sum + r[3], 0);
    const toggled = new Set(state.open);
    const input: LayoutInput = {
      viewHeight: this.viewHeight - AXIS,
      procs: this.app.trace.procs,
      threads: this.app.trace.threads,
      groups: hideIdle ? groups.filter((g) => this.peaks.get(g.id) !== 0) : groups,
      totalGroups: this.totalGroups - (hideIdle ? this.groups.length - groups.length : 0),
      members: this.members,
      tasks: this.tasks.tasks.length,
      totalTasks: this.app.trace.tasks,
      pinned: state.pin,
      pathLanes: lanes,
      pathTitle: `Path of ${this.pathOf.startsWith('task') ? 'task ' : 'G '}${
          this.pathOf.split(':')[1] ?? ''}`,
      selected: state.lane,
      nameOf: (id) => this.laneName(id),
      toggled,
      notes: {
        procs: count(this.app.trace.procs.length),
        collector: `${plural(inWindow(cycles), 'mark phase')}, ${
            plural(inWindow(stops), 'stop of the world', 'stops of the world')}`,
        tasks: this.tasks.total ? `the longest ${count(this.tasks.tasks.length)} of ${
                                      count(this.tasks.total)} in the window` :
                                  '',
        goroutines: 'by the function that they started in, with how many were not blocked at most',
        threads: count(this.app.trace.threads.length),
        path: `${this.pieces.length < MAX_ROWS ? '' : 'the first '}${
            plural(this.pieces.length, 'piece')} on ${plural(lanes.length, 'goroutine')}`,
      },
    };
    const result = layout(input);
    this.rows = result.rows;
    this.height = result.height;
    const spacer = Math.max(0, Math.min(3e7, this.height + AXIS + 24) - this.viewHeight);
    this.spacer.style.height = `${spacer}px`;
    this.canvas.style.height = `${this.viewHeight}px`;
    this.canvas.style.width = `${this.width}px`;
    this.divider.style.left = `${this.left - 4}px`;
    this.redraw();
  }

  private laneName(id: string): string {
    const [kind, number] = id.split(':');
    return `${(kind ?? '').toUpperCase()} ${number}`;
  }

  private toggle(id: string) {
    const {open} = this.app.store.state;
    this.app.store.set({open: open.includes(id) ? open.filter((o) => o !== id) : [...open, id]});
  }

  // Drawing
  // -----------------------------------------------------------------------------------------------------------

  private draw(now: number) {
    const started = performance.now();
    this.animate(now);
    const {app} = this, {palette} = app;
    const context = fitCanvas(this.canvas, this.width, this.viewHeight);
    if (!context) return;
    const scale = this.scale();
    const moving = scale.from !== this.drawn.from || scale.to !== this.drawn.to;
    this.drawn = {from: scale.from, to: scale.to};
    clearTimeout(this.stillTimer);
    if (moving) this.stillTimer = window.setTimeout(() => this.redraw(), 120);
    const pen: Pen = {context, palette, scale, filter: app.filter, smooth: !moving};
    context.font = palette.font;
    context.textBaseline = 'middle';
    context.fillStyle = palette.bg;
    context.fillRect(0, 0, this.width, this.viewHeight);
    const top = this.scroll.scrollTop, offset = AXIS - top;
    const axis = ticks(scale, this.width < 600 ? 70 : 110, tickStep);
    context.fillStyle = palette.line;
    for (const t of axis.times)
      context.fillRect(Math.round(scale.x(t)), AXIS - 6, 1, this.viewHeight);

    this.tiles.begin();
    const rows = visibleRows(this.rows, top, top + this.viewHeight - AXIS);
    context.save();
    context.beginPath();
    context.rect(this.left, AXIS, this.width - this.left, this.viewHeight - AXIS);
    context.clip();
    this.drawBands(pen);
    for (const row of rows) this.drawRow(pen, row, row.y + offset);
    this.drawOverlays(pen, rows, offset);
    context.restore();
    context.fillStyle = palette.line;
    context.fillRect(this.left - 1, 0, 1, this.viewHeight);
    for (const row of rows) this.drawName(pen, row, row.y + offset);
    this.drawAxis(pen, axis);
    if (this.measure) this.drawMeasure(pen);
    this.tiles.finish();
    this.corner.hidden = !this.tiles.coarser;
    this.frameTimes.push(performance.now() - started);
    if (this.frameTimes.length > 600) this.frameTimes.splice(0, 300);
    if (this.held.size) this.redraw();
  }

  private drawRow(all: Pen, row: Row, y: number) {
    const {context, palette, scale} = all;
    const pen = 'name' in row ? {...all, filter: filterOfLane(all.filter, row.name)} : all;
    switch (row.kind) {
      case 'section':
        context.fillStyle = palette.soft;
        context.fillRect(this.left, y, scale.width, row.height - 1);
        break;
      case 'note':
        context.fillStyle = palette.bg;
        context.fillRect(this.left, y, scale.width, row.height);
        break;
      case 'lane': {
        const covers = this.tiles.cover(row.unit, scale.from, scale.to, scale.nsPerPixel);
        for (let i = 0; i < covers.length;) {
          // Tiles of one level together: what is cut between them is one span.
          const level: LaneTile[] = [], {step} = covers[i]!, first = i;
          for (; i < covers.length && covers[i]!.step === step; i++) {
            const lane = covers[i]!.lanes.get(row.id);
            if (lane) level.push(lane);
          }
          drawLane(pen, level, y + 1, row.height - 2, first > 0);
        }
        break;
      }
      case 'group': {
        const covers = this.tiles.cover(row.unit, scale.from, scale.to, scale.nsPerPixel);
        const most = this.peak(row.id, covers);
        covers.forEach((tile, i) => {
          const lane = tile.lanes.get(row.id);
          if (lane) drawGroup(pen, lane, y + 3, row.height - 4, most, i > 0);
        });
        context.fillStyle = palette.line;
        context.fillRect(this.left, y + row.height - 1, scale.width, 1);
        break;
      }
      case 'members':
        void this.loadMembers(row.group, row.first);
        break;
      case 'cycles':
        drawMarks(pen, this.marks.cycles, this.marks.names, y, row.height, false);
        break;
      case 'stops':
        drawMarks(pen, this.marks.stops, this.marks.names, y, row.height, true);
        break;
      case 'counter':
        this.drawCounter(pen, y, row.height);
        break;
      case 'task': {
        const task = this.tasks.tasks[row.index];
        if (!task) break;
        drawTask(
            pen, task, this.tasks.names, y, row.height,
            String(task.task) === this.app.store.state.task);
        this.drawTaskStates(pen, task, y + row.height - 7);
        break;
      }
    }
  }

  /** What the goroutine that began a task did meanwhile, as a thin line below its regions. */
  private drawTaskStates(pen: Pen, task: TaskLane, y: number) {
    if (task.goroutine === null || !this.taskUnit) return;
    const {context, scale} = pen;
    const x = Math.max(scale.left, scale.x(task.begin)),
          end = Math.min(scale.left + scale.width, scale.x(task.begin + task.duration));
    if (end - x < 3) return;
    context.save();
    context.beginPath();
    context.rect(x + 1, y, end - x - 2, 4);
    context.clip();
    for (const tile of this.tiles.cover(this.taskUnit, scale.from, scale.to, scale.nsPerPixel)) {
      const lane = tile.lanes.get(`g:${task.goroutine}`);
      if (lane) drawLane(pen, [lane], y, 4, false);
    }
    context.restore();
  }

  /** The number at the top of a group: it does not shrink while tiles arrive. */
  private peak(id: string, covers: Tile[]): number {
    let most = this.peaks.get(id) ?? -1;
    for (const tile of covers) most = Math.max(most, tile.lanes.get(id)?.peak ?? -1);
    if (most >= 0) this.peaks.set(id, most);
    return most;
  }

  private drawCounter(pen: Pen, y: number, height: number) {
    if (!this.counters) return;
    const {strip, heap, goal} = this.counters;
    const heapFull = strip.metrics['heap']?.full ?? 0, goalFull = strip.metrics['goal']?.full ?? 0;
    const most = Math.max(heapFull, Math.min(goalFull, heapFull * 4 || goalFull));
    if (most <= 0) return;
    const {context, palette, scale} = pen;
    const line = (values: Uint8Array, full: number, color: string, fill: boolean) => {
      context.strokeStyle = color;
      context.beginPath();
      let first = true;
      for (let k = 0; k < strip.count; k++) {
        const x = scale.x(strip.begin + k * strip.step);
        const next = scale.x(strip.begin + (k + 1) * strip.step);
        if (next < scale.left || x > scale.left + scale.width) continue;
        const v = y + height - 2 - Math.min(1, values[k]! / 255 * full / most) * (height - 6);
        if (first) {
          context.moveTo(x, v);
          first = false;
        } else
          context.lineTo(x, v);
        context.lineTo(next, v);
      }
      context.stroke();
      if (!fill) return;
      context.lineTo(scale.left + scale.width, y + height - 2);
      context.lineTo(Math.max(scale.left, scale.x(strip.begin)), y + height - 2);
      context.closePath();
      context.globalAlpha = 0.18;
      context.fillStyle = color;
      context.fill();
      context.globalAlpha = 1;
    };
    if (heapFull) line(heap, heapFull, palette.states[6]!, true);
    if (goalFull) line(goal, goalFull, palette.dim, false);
  }

  private drawName(pen: Pen, row: Row, y: number) {
    const {context, palette} = pen;
    const middle = y + row.height / 2, right = this.left - 8;
    const text = (s: string, x: number, end: number, color: string) => {
      context.fillStyle = color;
      context.textAlign = 'left';
      context.textBaseline = 'middle';
      const fit = fitName(visible(s.slice(0, 400)), (t) => textWidth(context, t) <= end - x);
      context.fillText(fit, x, middle + 0.5);
      return textWidth(context, fit);
    };
    const rightText = (s: string, color: string) => {
      context.fillStyle = color;
      context.textAlign = 'right';
      context.fillText(s, right, middle + 0.5);
      context.textAlign = 'left';
      return textWidth(context, s);
    };
    // The texts of sections and notes are wider than names.
    const wide = row.kind === 'section' || row.kind === 'note';
    context.fillStyle = row.kind === 'section' ? palette.soft : palette.bg;
    context.fillRect(
        0, y, wide ? this.left : this.left - 1, row.height - (row.kind === 'section' ? 1 : 0));
    switch (row.kind) {
      case 'section': {
        triangle(context, 11, middle, row.open, palette.fg);
        context.font = `600 ${palette.font}`;
        const used = text(row.title, 20, this.width, palette.fg);
        context.font = palette.font;
        text(row.note, 28 + used, this.width - 8, palette.dim);
        break;
      }
      case 'lane': {
        const {lane} = this.app.store.state;
        if (row.id === lane) {
          context.fillStyle = palette.select;
          context.fillRect(0, y + 1, 3, row.height - 2);
        }
        const name = row.name || this.laneName(row.id);
        const used = text(name, 8 + row.indent * 12, right, palette.fg);
        const of = row.id.startsWith('g:') && row.indent === 1 ? this.functionOf(row) : '';
        if (of) text(of, 16 + row.indent * 12 + used, right, palette.dim);
        if (row.pinned) {
          context.fillStyle = palette.dim;
          context.beginPath();
          context.arc(11, middle, 2.5, 0, 7);
          context.fill();
        }
        break;
      }
      case 'group': {
        triangle(context, 11, middle, row.open, palette.dim);
        const most = this.peaks.get(row.id);
        const scaleText = most !== undefined && most >= 0.05 ?
            (most < 9.95 ? most.toFixed(1) : count(Math.round(most))) :
            '';
        context.fillStyle = palette.dim;
        context.textAlign = 'right';
        context.fillText(scaleText, right, y + 9);
        context.textAlign = 'left';
        text(
            row.name || '(unknown)', 20,
            right - (scaleText ? textWidth(context, scaleText) + 6 : 0), palette.fg);
        context.fillStyle = palette.line;
        context.fillRect(0, y + row.height - 1, this.left, 1);
        break;
      }
      case 'members':
        text('…', 32, right, palette.dim);
        break;
      case 'task': {
        const task = this.tasks.tasks[row.index];
        if (!task) break;
        if (String(task.task) === this.app.store.state.task) {
          context.fillStyle = palette.select;
          context.fillRect(0, y + 1, 3, row.height - 2);
        }
        // On a small screen there is room for the name, or for its length.
        const time = this.left > 130 ? rightText(duration(task.duration), palette.dim) : 0;
        text(
            `${this.tasks.names[task.type] ?? ''} ${task.task}`.trim(), 20, right - time - 8,
            palette.fg);
        break;
      }
      case 'cycles':
        text(this.left > 130 ? 'mark phase' : 'marking', 20, right, palette.fg);
        break;
      case 'stops':
        text(this.left > 130 ? 'world stopped' : 'stopped', 20, right, palette.fg);
        break;
      case 'counter': {
        const heap = this.counters?.strip.metrics['heap'];
        text(`heap, goal${heap ? '' : ': not in this trace'}`, 20, right, palette.fg);
        if (heap && this.left > 130) {
          context.textAlign = 'right';
          context.fillStyle = palette.dim;
          context.fillText(bytes(heap.full), right, y + 9);
          context.textAlign = 'left';
        }
        break;
      }
      case 'note':
        text(row.text, 20, this.width, palette.dim);
        break;
    }
  }

  private functionOf(row: Row&{kind: 'lane'}): string {
    const scale = this.scale();
    for (const tile of this.tiles.cover(row.unit, scale.from, scale.to, scale.nsPerPixel)) {
      const name = tile.lanes.get(row.id)?.name;
      if (name) return name;
    }
    return '';
  }

  private timeText(ns: number, step: number): string {
    const {clock} = this.app.store.state;
    const {wall_begin} = this.app.trace;
    if (clock === 'wall' && wall_begin) return wallClock(wall_begin, ns, step);
    const {from, to} = currentWindow(this.app);
    return clock === 'window' ? tickLabel(ns - from, step, to - from) : tickLabel(ns, step, to);
  }

  private drawAxis(pen: Pen, axis: {step: number, times: number[]}) {
    const {context, palette, scale} = pen;
    context.fillStyle = palette.bg;
    context.fillRect(0, 0, this.width, AXIS - 5);
    context.textBaseline = 'middle';
    context.fillStyle = palette.dim;
    axis.times.forEach((t) => {
      const text = this.timeText(t, axis.step), x = Math.round(scale.x(t));
      if (x + 3 + textWidth(context, text) <= this.width) context.fillText(text, x + 3, 9);
    });
    // A scale bar: the length of the window.
    context.fillStyle = palette.bg;
    context.fillRect(0, 0, this.left, AXIS - 1);
    context.fillStyle = palette.dim;
    context.textAlign = 'right';
    context.fillText(`${duration(scale.to - scale.from)} shown`, this.left - 8, 9);
    context.textAlign = 'left';
    context.fillStyle = palette.line;
    context.fillRect(0, AXIS - 1, this.width, 1);
    context.fillRect(this.left - 1, 0, 1, AXIS);
  }

  /** Shows from when to when the selection is, under all lanes, whose colours stay as they are. */
  private drawBands({context, palette, scale}: Pen) {
    const band = (from: number, to: number) => {
      const x = Math.max(scale.left, scale.x(from)),
            end = Math.min(scale.left + scale.width, scale.x(to));
      if (end < scale.left || x > scale.left + scale.width) return;
      context.fillStyle = palette.select;
      context.globalAlpha = 0.13;
      context.fillRect(x, AXIS, Math.max(1, end - x), this.viewHeight);
      context.globalAlpha = 1;
    };
    const {task} = this.app.store.state;
    const selected =
        task === null ? undefined : this.tasks.tasks.find((t) => String(t.task) === task);
    if (selected) band(selected.begin, selected.begin + selected.duration);
    const {span} = this.selection;
    if (span) band(span.begin, span.end);
  }

  private drawOverlays(pen: Pen, rows: Row[], offset: number) {
    const {context, palette, scale} = pen;
    const yOf = new Map<string, number>();
    const bottomOf = new Map<string, number>();
    for (const row of this.rows) {
      if (row.kind !== 'lane' || yOf.has(row.id)) continue;
      yOf.set(row.id, row.y + offset + row.height / 2);
      bottomOf.set(row.id, row.y + offset + row.height - 2);
    }
    const {span} = this.selection;
    if (span) {
      for (const row of rows) {
        if ((row.kind === 'lane' ? row.id : row.kind) !== span.lane) continue;
        const x = Math.max(scale.left - 3, scale.x(span.begin)),
              end = Math.min(scale.left + scale.width + 3, scale.x(span.end));
        context.strokeStyle = palette.select;
        context.lineWidth = 2;
        context.strokeRect(x, row.y + offset + 1, Math.max(2, end - x), row.height - 2);
        context.lineWidth = 1;
      }
      this.drawWakes(pen, span, yOf);
    }
    // Along the lower edge of lanes, since their names are in the middle.
    if (this.pieces.length) this.drawPath(pen, bottomOf);
  }

  private drawWakes(pen: Pen, span: Span, yOf: Map<string, number>) {
    const {context, palette, scale} = pen;
    const own = `g:${span.goroutine}`;
    const at = (g: number, p: number|null|undefined) =>
        yOf.get(`g:${g}`) ?? (p !== null && p !== undefined ? yOf.get(`p:${p}`) : undefined);
    const self = yOf.get(span.lane) ?? yOf.get(own);
    for (const [time, from, to, runs] of this.selection.arrows?.arrows ?? []) {
      const strong = time === span.end || time === span.begin ||
          (time > span.begin && time <= span.end && from === span.goroutine);
      const fromY = from === span.goroutine ? self : yOf.get(`g:${from}`);
      const toY = to === span.goroutine ? self : yOf.get(`g:${to}`);
      if (fromY === undefined || toY === undefined || fromY === toY) continue;
      const x = scale.x(time), end = runs >= 0 ? scale.x(runs) : x;
      if (end < scale.left || x > scale.left + scale.width) continue;
      drawArrow(context, x, fromY, Math.max(end, x + 1), toY, palette.fg, strong);
    }
    // Who began and ended the span, on its P if the goroutine has no lane.
    for (const [cause, time] of [[span.begun_by, span.begin], [span.ended_by, span.end]] as const) {
      if (!cause || cause.kind !== 'goroutine' || !cause.lane || self === undefined) continue;
      const g = Number(cause.lane.slice(2));
      if (yOf.has(cause.lane) || g === span.goroutine) continue;
      const y = at(g, cause.p);
      if (y === undefined || y === self) continue;
      drawArrow(context, scale.x(cause.at ?? time), y, scale.x(time), self, palette.fg, true);
    }
  }

  private drawPath(pen: Pen, yOf: Map<string, number>) {
    const {context, palette, scale} = pen;
    context.strokeStyle = palette.fg;
    context.lineWidth = 2;
    context.lineJoin = 'round';
    context.beginPath();
    let open = false;
    for (const piece of this.pieces) {
      const y = piece.g === null ? undefined : yOf.get(`g:${piece.g}`);
      if (y === undefined || piece.to < scale.from || piece.from > scale.to) {
        open = false;
        continue;
      }
      const x = Math.max(scale.left - 4, scale.x(piece.from)),
            end = Math.min(scale.left + scale.width + 4, scale.x(piece.to));
      if (open)
        context.lineTo(x, y);
      else
        context.moveTo(x, y);
      context.lineTo(end, y);
      open = true;
    }
    context.stroke();
    context.lineWidth = 1;
  }

  private drawMeasure(pen: Pen) {
    const {context, palette, scale} = pen, m = this.measure!;
    const x = scale.x(Math.min(m.from, m.to)), end = scale.x(Math.max(m.from, m.to));
    context.fillStyle = palette.select;
    context.globalAlpha = 0.12;
    context.fillRect(x, AXIS, end - x, this.viewHeight);
    context.globalAlpha = 1;
    context.fillRect(x, AXIS, 1, this.viewHeight);
    context.fillRect(end, AXIS, 1, this.viewHeight);
    const text = duration(Math.abs(m.to - m.from)), width = textWidth(context, text) + 12;
    const middle = Math.min(this.width - width / 2, Math.max(this.left + width / 2, (x + end) / 2));
    context.fillRect(middle - width / 2, AXIS + 2, width, 18);
    context.fillStyle = palette.bg;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.fillText(text, middle, AXIS + 11.5);
    context.textAlign = 'left';
  }

  // What people do
  // ----------------------------------------------------------------------------------------------------

  private listen() {
    this.scroll.addEventListener('scroll', () => {
      this.tip.hidden = true;
      this.redraw();
    }, {passive: true});
    this.scroll.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
    this.canvas.addEventListener('pointerdown', (event) => this.down(event));
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    this.canvas.addEventListener('pointerup', (event) => this.up(event));
    this.canvas.addEventListener('pointercancel', (event) => {
      this.pointers.delete(event.pointerId);
      this.drag = null;
    });
    this.canvas.addEventListener('pointerleave', () => {
      this.tip.hidden = true;
    });
    this.canvas.addEventListener('dblclick', (event) => this.doubleClick(event));
    this.divider.addEventListener('pointerdown', (event) => {
      this.divider.setPointerCapture(event.pointerId);
      const start = event.clientX, left = this.left;
      const move = (e: PointerEvent) => this.app.store.setParam(
          'timeline.names', String(Math.round(Math.max(60, left + e.clientX - start))), 'move');
      const up = () => {
        this.divider.removeEventListener('pointermove', move);
      };
      this.divider.addEventListener('pointermove', move);
      this.divider.addEventListener('pointerup', up, {once: true});
    });
    window.addEventListener('keyup', (event) => this.held.delete(event.key.toLowerCase()));
    window.addEventListener('blur', () => this.held.clear());
  }

  private point(event: {clientX: number, clientY: number}) {
    const box = this.canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  }

  private wheel(event: WheelEvent) {
    const {x} = this.point(event);
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? this.viewHeight : 1;
    const scale = this.scale();
    if (event.ctrlKey || event.metaKey || event.altKey) {
      event.preventDefault();
      // A pinch on a touchpad arrives as small steps of the wheel with the control key.
      const factor = Math.exp(
          Math.max(-60, Math.min(60, event.deltaY * unit)) *
          (event.ctrlKey && Math.abs(event.deltaY) < 40 ? 0.01 : 0.005));
      this.zoom(factor, scale.time(Math.max(x, this.left)));
      return;
    }
    const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (sideways !== 0 && Math.abs(sideways) >= Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      event.preventDefault();
      this.pan(sideways * unit * scale.nsPerPixel);
    }
  }

  private zoom(factor: number, at: number) {
    const w = zoomWindow(currentWindow(this.app), factor, at, this.app.trace.duration);
    setWindow(this.app, w.from, w.to, 'move');
  }

  private pan(ns: number) {
    const {from, to} = currentWindow(this.app);
    setWindow(this.app, from + ns, to + ns, 'move');
  }

  private down(event: PointerEvent) {
    if (event.button !== 0) return;
    this.scroll.focus({preventScroll: true});
    const {x, y} = this.point(event);
    this.pointers.set(event.pointerId, {x, y});
    this.canvas.setPointerCapture(event.pointerId);
    const {from, to} = currentWindow(this.app);
    if (this.pointers.size === 2) {
      const [a, b] =
          [...this.pointers.values()] as [{x: number, y: number}, {x: number, y: number}];
      this.drag = {
        kind: 'pinch',
        x: (a.x + b.x) / 2,
        y,
        from,
        to,
        moved: true,
        left: this.left,
        distance: Math.max(20, Math.abs(a.x - b.x))
      };
      return;
    }
    this.drag = {
      kind: event.shiftKey && x > this.left ? 'measure' :
          x < this.left                     ? 'names' :
                                              'pan',
      x,
      y,
      from,
      to,
      moved: false,
      left: this.left,
      distance: 0
    };
    if (this.drag.kind === 'measure') {
      const t = this.scale().time(x);
      this.measure = {from: t, to: t};
    }
  }

  private move(event: PointerEvent) {
    const {x, y} = this.point(event);
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, {x, y});
    const {drag} = this;
    if (!drag) {
      this.hover(x, y);
      return;
    }
    if (Math.abs(x - drag.x) > 3 || Math.abs(y - drag.y) > 3) drag.moved = true;
    if (!drag.moved) return;
    this.tip.hidden = true;
    const width = Math.max(1, this.width - this.left), ns = (drag.to - drag.from) / width;
    if (drag.kind === 'pan')
      setWindow(this.app, drag.from - (x - drag.x) * ns, drag.to - (x - drag.x) * ns, 'move');
    if (drag.kind === 'measure') {
      this.measure!.to = this.scale().time(Math.max(this.left, x));
      this.redraw();
    }
    if (drag.kind === 'pinch' && this.pointers.size === 2) {
      const [a, b] =
          [...this.pointers.values()] as [{x: number, y: number}, {x: number, y: number}];
      const factor = drag.distance / Math.max(20, Math.abs(a.x - b.x));
      const at = drag.from + (drag.x - this.left) * ns, length = (drag.to - drag.from) * factor;
      const share = ((a.x + b.x) / 2 - this.left) / width;
      setWindow(this.app, at - length * share, at + length * (1 - share), 'move');
    }
  }

  private up(event: PointerEvent) {
    this.pointers.delete(event.pointerId);
    const {drag} = this;
    this.drag = null;
    if (!drag || drag.moved) return;
    if (drag.kind === 'measure') this.measure = null;
    const {x, y} = this.point(event);
    this.click(x, y);
  }

  private rowAtPoint(y: number): Row|null {
    return y < AXIS ? null : rowAt(this.rows, y - AXIS + this.scroll.scrollTop);
  }

  private click(x: number, y: number) {
    const row = this.rowAtPoint(y);
    if (!row) {
      this.clear();
      return;
    }
    const at = Math.max(0, Math.floor(this.scale().time(x)));
    if (row.kind === 'section')
      this.toggle(row.id);
    else if (row.kind === 'group')
      this.toggle(row.id);
    else if (row.kind === 'lane' && x >= this.left) {
      // A span is asked for by its begin, if that is known: a report has it by that.
      const span = this.spanOf(row, at);
      const begin = span && span.cut % 2 === 0 ? span.begin : at;
      this.app.store.set({lane: row.id, at: begin, task: null});
    } else if (row.kind === 'lane') {
      const {lane, at: before} = this.app.store.state;
      this.app.store.set({
        lane: row.id,
        at: lane === row.id ? before : Math.floor(currentWindow(this.app).from),
        task: null
      });
    } else if (row.kind === 'task') {
      const task = this.tasks.tasks[row.index];
      if (task) this.app.store.set({task: String(task.task), lane: null, at: null});
    } else if (row.kind === 'cycles' || row.kind === 'stops') {
      const mark = this.markAt(row.kind, at);
      if (!mark) {
        this.clear();
        return;
      }
      // The first one, if there are several too close to be told apart.
      this.app.store.set({lane: row.kind, at: mark[0], task: null});
    } else
      this.clear();
  }

  private clear() {
    this.measure = null;
    if (this.app.store.state.lane !== null || this.app.store.state.task !== null) {
      this.app.store.set({lane: null, at: null, task: null});
    }
    this.redraw();
  }

  private doubleClick(event: MouseEvent) {
    const {x, y} = this.point(event);
    const row = this.rowAtPoint(y);
    if (!row || x < this.left) return;
    const t = this.scale().time(x);
    if (row.kind === 'lane') {
      const span = this.spanOf(row, t);
      if (span) this.fit(span.begin, span.end);
    } else if (row.kind === 'task') {
      const task = this.tasks.tasks[row.index];
      if (task) this.fit(task.begin, task.begin + task.duration);
    } else if (row.kind === 'cycles' || row.kind === 'stops') {
      const mark = this.markAt(row.kind, t);
      if (mark) this.fit(mark[0], mark[0] + mark[1]);
    }
  }

  /** The mark at a time, or a few pixels away. */
  private markAt(kind: 'cycles'|'stops', t: number): MarkRow|undefined {
    const near = this.scale().nsPerPixel * 3;
    const away = (m: MarkRow) => Math.max(0, m[0] - t, t - m[0] - m[1]);
    return this.marks[kind].filter((m) => away(m) <= near).sort((a, b) => away(a) - away(b))[0];
  }

  private fit(from: number, to: number) {
    const room = Math.max(1, (to - from) * 0.05);
    setWindow(this.app, from - room, to + room, 'step');
  }

  /** The finest tile of a lane that is there at a time. */
  private laneTile(row: Row&{kind: 'lane' | 'group'}, t: number): LaneTile|null {
    const scale = this.scale();
    const covers = this.tiles.cover(row.unit, scale.from, scale.to, scale.nsPerPixel);
    for (let i = covers.length - 1; i >= 0; i--) {
      const lane = covers[i]!.lanes.get(row.id);
      if (lane && t >= lane.begin && t < lane.begin + lane.step * lane.count) return lane;
    }
    return null;
  }

  /**
   * The span of a lane at a time, put together from all tiles of the finest level that is there.
   */
  private spanOf(row: Row&{kind: 'lane'}, t: number): WholeSpan|null {
    const tile = this.laneTile(row, t);
    const span = tile && spanAt(tile, t);
    if (!tile || !span) return null;
    const scale = this.scale();
    const level =
        this.tiles.cover(row.unit, scale.from, scale.to, scale.nsPerPixel)
            .map((c) => c.lanes.get(row.id))
            .filter((lane): lane is LaneTile => lane !== undefined && lane.step === tile.step);
    return wholeSpans(level).find((s) => s.begin <= t && t < s.end) ?? {
      begin: span[0],
      end: span[0] + span[1],
      state: span[2],
      subject: span[3],
      name: tile.names[span[4]] ?? '',
      cut: span[5]
    };
  }

  private hover(x: number, y: number) {
    const row = this.rowAtPoint(y);
    const lines: Node[] = [];
    const line = (...children: (Node|string)[]) => lines.push(h('div', null, ...children));
    const dimLine = (text: string) => lines.push(h('div', {class: 'dim'}, text));
    const t = this.scale().time(x);
    if (row && x >= this.left) {
      if (row.kind === 'lane') {
        const tile = this.laneTile(row, t);
        const span = this.spanOf(row, t);
        if (span) {
          const state = this.app.trace.states[span.state] ?? '';
          line(
              stateMark(state),
              `${STATE_LABELS[state] ?? state} ${span.cut ? 'more than ' : ''}${
                  exactDuration(span.end - span.begin)}`);
          const who = row.id.startsWith('g:') ? (span.subject >= 0 ? `on P ${span.subject}` : '') :
              span.subject >= 0                                    ? `G ${span.subject}` :
                                                                     '';
          if (span.name || who)
            lines.push(h(
                'div', {class: 'name'}, [who, span.name.slice(0, 300)].filter(Boolean).join(' ')));
        } else if (tile)
          this.shares(lines, tile, t);
        dimLine(`${row.name || this.laneName(row.id)} at ${
            this.timeText(t, Math.max(1, this.scale().nsPerPixel))}`);
      } else if (row.kind === 'group') {
        const tile = this.laneTile(row, t);
        if (tile) {
          for (const [code, share] of sharesAt(tile, t)) {
            const state = this.app.trace.states[code] ?? '';
            const n = share * tile.full / tile.step;
            line(
                stateMark(state),
                `${n < 9.95 ? n.toFixed(2) : count(Math.round(n))} ${
                    STATE_LABELS[state] ?? state}`);
          }
        }
        lines.push(
            h('div', {class: 'name dim'},
              `${row.name.slice(0, 300) || '(unknown)'}: ${
                  count(row.goroutines)} goroutines in the trace`));
      } else if (row.kind === 'cycles' || row.kind === 'stops') {
        const mark = this.markAt(row.kind, t);
        if (mark) {
          line(
              mark[3] > 1 ? `${count(mark[3])} of them within ${exactDuration(mark[1])}` :
                            exactDuration(mark[1]));
          dimLine(this.marks.names[mark[2]] ?? '');
        }
      } else if (row.kind === 'counter' && this.counters) {
        const {strip, heap, goal} = this.counters;
        const k = Math.floor((t - strip.begin) / strip.step);
        if (k >= 0 && k < strip.count) {
          line(`heap ${bytes(Math.round(heap[k]! / 255 * (strip.metrics['heap']?.full ?? 0)))}`);
          dimLine(`goal ${bytes(Math.round(goal[k]! / 255 * (strip.metrics['goal']?.full ?? 0)))}`);
        }
      } else if (row.kind === 'task') {
        const task = this.tasks.tasks[row.index];
        if (task) {
          lines.push(
              h('div', {class: 'name'},
                `${(this.tasks.names[task.type] ?? '').slice(0, 300)} ${task.task}: ${
                    exactDuration(task.duration)}`));
          const regions = task.regions.filter((r) => r[0] <= t && t < r[0] + r[1]);
          for (const r of regions) {
            lines.push(
                h('div', {class: 'name dim'},
                  `region ${(this.tasks.names[r[2]] ?? '').slice(0, 300)}, ${duration(r[1])} on G ${
                      r[3]}`));
          }
        }
      }
    } else if (row && row.kind === 'group') {
      lines.push(h('div', {class: 'name'}, row.name.slice(0, 1200)));
    }
    this.tip.hidden = lines.length === 0;
    if (!lines.length) return;
    replace(this.tip, lines);
    const left = Math.max(4, Math.min(x + 14, this.width - this.tip.offsetWidth - 12));
    const below = y + 18 + this.tip.offsetHeight < this.viewHeight;
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${below ? y + 18 : Math.max(0, y - this.tip.offsetHeight - 8)}px`;
  }

  private shares(lines: Node[], tile: LaneTile, t: number) {
    const shares = sharesAt(tile, t);
    for (const [code, share] of shares) {
      const state = this.app.trace.states[code] ?? '';
      lines.push(
          h('div', null, stateMark(state), `${STATE_LABELS[state] ?? state} ${percent(share, 1)}`));
    }
    if (!shares.length)
      lines.push(
          h('div', null, stateMark('idle'), tile.id.startsWith('g:') ? 'not there' : 'idle'));
    else
      lines.push(h('div', {class: 'dim'}, `of the ${duration(tile.step)} here`));
  }

  // Keys
  // --------------------------------------------------------------------------------------------------------------

  /** Moves while w, a, s or d is held. */
  private animate(now: number) {
    const elapsed = Math.min(50, this.lastTick ? now - this.lastTick : 16);
    this.lastTick = this.held.size ? now : 0;
    if (this.held.size) this.moveFor(elapsed / 1000);
  }

  /** Moves as far as the held keys do in some seconds. */
  private moveFor(seconds: number) {
    const {from, to} = currentWindow(this.app);
    if (this.held.has('a') !== this.held.has('d'))
      this.pan((this.held.has('a') ? -1 : 1) * (to - from) * 0.9 * seconds);
    if (this.held.has('w') !== this.held.has('s')) {
      const scale = this.scale();
      const {span} = this.selection;
      const middle = span && span.begin >= from && span.end <= to ?
          (span.begin + span.end) / 2 :
          scale.time(this.left + scale.width / 2);
      this.zoom(Math.exp((this.held.has('w') ? -2.2 : 2.2) * seconds), middle);
    }
  }

  key(event: KeyboardEvent): boolean {
    const key = event.key;
    if ('wasd'.includes(key) && key.length === 1) {
      if (!this.held.size) this.lastTick = 0;
      this.held.add(key);
      // So that a tap is enough to see something.
      if (!event.repeat) this.moveFor(0.12);
      this.redraw();
      return true;
    }
    const {from, to} = currentWindow(this.app);
    const {state} = this.app.store;
    switch (key) {
      case 'ArrowLeft':
        this.pan((from - to) * 0.1);
        return true;
      case 'ArrowRight':
        this.pan((to - from) * 0.1);
        return true;
      case '+':
      case '=':
        this.zoom(0.5, (from + to) / 2);
        return true;
      case '-':
        this.zoom(2, (from + to) / 2);
        return true;
      case 'ArrowUp':
      case 'ArrowDown':
        this.moveLane(key === 'ArrowUp' ? -1 : 1);
        return true;
      case 'PageUp':
        this.scroll.scrollTop -= this.viewHeight * 0.8;
        return true;
      case 'PageDown':
        this.scroll.scrollTop += this.viewHeight * 0.8;
        return true;
      case 'Enter': {
        if (this.measure) {
          const {from: a, to: b} = this.measure;
          this.measure = null;
          setWindow(this.app, Math.min(a, b), Math.max(a, b), 'step');
          return true;
        }
        const row =
            state.lane ? this.rows.find((r) => r.kind === 'group' && r.id === state.lane) : null;
        if (row) {
          this.toggle(state.lane!);
          return true;
        }
        return false;
      }
      case 'Escape':
        this.clear();
        return true;
      case 'p':
        if (!state.lane || isMarks(state.lane)) {
          this.app.say('Select a lane to pin it.');
          return true;
        }
        this.app.store.set({
          pin: state.pin.includes(state.lane) ? state.pin.filter((l) => l !== state.lane) :
                                                [...state.pin, state.lane]
        });
        return true;
      case 'i':
        this.app.store.setParam(
            'timeline.idle', state.params['timeline.idle'] === 'hide' ? null : 'hide');
        return true;
      case 'm':
        if (this.selection.span) {
          this.measure = {from: this.selection.span.begin, to: this.selection.span.end};
          this.redraw();
        }
        return true;
      case '>':
      case '<': {
        const now = this.taskLimit();
        this.app.store.setParam(
            'timeline.tasks',
            String(key === '>' ? Math.min(200, now * 2) : Math.max(3, Math.floor(now / 2))));
        return true;
      }
    }
    return false;
  }

  /** Selects the lane above or below, at the same time. */
  private moveLane(by: number) {
    const {state} = this.app.store;
    const lanes = this.rows.filter((r): r is Row&{kind: 'lane'} => r.kind === 'lane');
    if (!lanes.length) return;
    const {from, to} = currentWindow(this.app);
    const now = lanes.findIndex((r) => r.id === state.lane);
    const next = lanes[now < 0 ? 0 : Math.max(0, Math.min(lanes.length - 1, now + by))]!;
    this.app.store.set({lane: next.id, at: state.at ?? Math.floor((from + to) / 2), task: null});
  }

  /** For tests in a browser: whether all that is wanted is there. */
  get busy(): boolean {
    return this.tiles.waiting || this.frame !== 0;
  }
}

function triangle(
    context: CanvasRenderingContext2D, x: number, y: number, open: boolean, color: string) {
  context.fillStyle = color;
  context.beginPath();
  if (open) {
    context.moveTo(x - 4, y - 2);
    context.lineTo(x + 4, y - 2);
    context.lineTo(x, y + 3);
  } else {
    context.moveTo(x - 2, y - 4);
    context.lineTo(x + 3, y);
    context.lineTo(x - 2, y + 4);
  }
  context.closePath();
  context.fill();
}
