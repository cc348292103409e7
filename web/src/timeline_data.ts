// What the timeline knows about the trace, the window and the selection, and how it asks for it.

import {
  ArrowRow,
  Arrows,
  CommandAnswer,
  Group,
  Groups,
  Marks,
  Members,
  Piece,
  Span,
  Strip,
  TaskLanes
} from './answers';
import {App, currentWindow, sinceBegin} from './app';
import {decodeBytes, stepFor, TILE_COLUMNS} from './decode';
import {LayoutInput, MEMBER_PAGE, Scale} from './layout';
import {isAbort, Params} from './requests';
import {isMarks, State} from './state';
import {Tile, Tiles} from './tiles';

const MAX_GROUPS = 100;

/**
 * What a change affects: which rows there are, their contents, or a selection that is now known.
 */
export type Change = 'rows'|'contents'|'selection';

export class TimelineData {
  readonly tiles: Tiles;
  groups: Group[] = [];
  totalGroups = 0;
  /** The goroutines of groups that are open or were, as far as they have been asked for. */
  readonly members: LayoutInput['members'] = new Map();
  tasks: TaskLanes = {total: 0, names: [''], tasks: []};
  /** The goroutines of the tasks that are shown, which are asked for together. */
  taskUnit = '';
  marks: Marks = {names: [''], cycles: [], stops: []};
  counters: {strip: Strip, heap: Uint8Array, goal: Uint8Array}|null = null;
  /** The selected span, and the wake-ups of its goroutine. */
  span: Span|null = null;
  arrows: ArrowRow[] = [];
  /** What the critical path is of, and its pieces. */
  pathOf = '';
  pieces: {from: number, to: number, g: number|null}[] = [];
  /** From when to when the selection is. */
  get bands(): {from: number, to: number}[] {
    const {task} = this.app.store.state;
    const selected =
        task === null ? undefined : this.tasks.tasks.find((t) => String(t.task) === task);
    return [
      ...(selected ? [{from: selected.begin, to: selected.begin + selected.duration}] : []),
      ...(this.span ? [{from: this.span.begin, to: this.span.end}] : [])
    ];
  }

  private groupsOf = '';
  private windowOf = '';
  private spanOf = '';
  /**
   * How high the goroutines of a group reach in the window, so that its scale does not change
   * while one scrolls.
   */
  private readonly peaks = new Map<string, number>();

  constructor(private readonly app: App, private readonly changed: (change: Change) => void) {
    this.tiles = new Tiles(
        app.requests, () => app.trace.states, () => app.trace.duration, () => changed('contents'));
  }

  /** The trace has grown: everything is asked for again, and shown until the answers are there. */
  clear() {
    this.tiles.clear();
    this.windowOf = '';
  }

  /** Whether a window has been asked for since the trace last grew. */
  get loaded(): boolean {
    return this.windowOf !== '';
  }

  /** Asks for what belongs to a window. */
  load(scale: Scale, maxTasks: number) {
    const {from, to} = scale, {trace, store, requests} = this.app;
    const key =
        `${Math.floor(from)} ${Math.ceil(to)} ${store.state.params['timeline.tasks'] ?? ''}`;
    if (key === this.windowOf) return;
    this.windowOf = key;
    this.peaks.clear();
    const step = stepFor(scale.nsPerPixel), width = step * TILE_COLUMNS;
    const wholeTiles: Params = [
      ['from', Math.floor(from / width) * width],
      ['to', Math.min(Math.ceil(to / width), Math.ceil(trace.duration / width)) * width],
      ['step', step]
    ];
    const get = <T>(name: string, params: Params, use: (answer: T) => void) => {
      // A report has these for the whole trace, at least.
      requests.json<T>(name, params)
          .catch(
              (error) => requests.baked ?
                  requests.json<T>(name, params.filter(([key]) => key === 'limit')) :
                  Promise.reject(error))
          .then((answer) => {
            if (this.windowOf !== key) return;
            use(answer);
            this.changed('rows');
          })
          .catch((error) => {
            if (!isAbort(error)) this.changed('contents');
          });
    };
    void this.loadGroups();
    get<Marks>('marks', wholeTiles, (answer) => {
      this.marks = answer;
    });
    get<Strip>('strip', wholeTiles, (strip) => {
      const metric = (name: string) => decodeBytes(strip.metrics[name]?.max ?? '', strip.count);
      this.counters = {strip, heap: metric('heap'), goal: metric('goal')};
    });
    if (trace.tasks > 0) {
      get<TaskLanes>(
          'tasklanes', [['from', Math.floor(from)], ['to', Math.ceil(to)], ['limit', maxTasks]],
          (answer) => {
            this.tasks = answer;
            const goroutines = new Set(answer.tasks.flatMap((t) => t.goroutine ?? []));
            this.taskUnit =
                [...goroutines].sort((a, b) => a - b).slice(0, 200).map((n) => `g:${n}`).join(',');
          });
    }
    for (const id of this.members.keys()) void this.loadMembers(id, 0, true);
    if (store.state.lane) this.select(store.state, true);
  }

  /** The groups of the whole trace: they do not depend on the window. */
  private async loadGroups() {
    const key = `${this.app.trace.events} ${this.app.trace.complete}`;
    if (this.groupsOf === key) return;
    this.groupsOf = key;
    try {
      const answer = await this.app.requests.json<Groups>('groups', [['limit', MAX_GROUPS]]);
      if (this.groupsOf !== key) return;
      this.groups = answer.groups;
      this.totalGroups = answer.total;
      this.changed('rows');
    } catch {
      this.groupsOf = '';
    }
  }

  /**
   * Asks for a page of the goroutines of a group, unless that has been done. With `again`, pages
   * of the window before are replaced by this one once it is there.
   */
  async loadMembers(group: string, first: number, again = false) {
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
    this.changed('rows');
  }

  /** Asks for the selected span and its arrows; with `again`, also if it is the same as before. */
  select({lane, at}: State, again = false) {
    const key = lane === null || at === null ? '' : `${lane} ${at}`;
    const known = this.spanOf === key;
    if (known && !again) return;
    if (!known) {
      this.spanOf = key;
      this.span = null;
      this.arrows = [];
      this.changed('contents');
    }
    if (lane === null || at === null) return;
    const {from, to} = currentWindow(this.app), {requests} = this.app;
    const current = () => this.spanOf === key;
    const ask = (g: number, begin: number, end: number) => requests.json<Arrows>('arrows', [
      ['lane', `g:${g}`], ['from', Math.max(0, Math.floor(begin))], ['to', Math.ceil(end)],
      ['limit', 300]
    ]);
    // Where the window is too long, those at the ends of the span are what matters.
    const loadArrows = (g: number, span: Span) =>
        ask(g, from, to)
            .catch(() => ask(g, span.begin - 1e6, span.end + 1e6))
            .then((answer) => {
              if (!current()) return;
              this.arrows = answer.arrows;
              this.changed('contents');
            })
            .catch(() => {});
    requests.json<Span>('span', [['lane', lane], ['at', at]])
        .then((span) => {
          if (!current()) return;
          this.span = span;
          this.changed(known ? 'contents' : 'selection');
          if (span.goroutine !== null && !isMarks(span.lane)) void loadArrows(span.goroutine, span);
        })
        .catch(() => {});
  }

  /** Asks for the critical path of a task or a goroutine, or forgets it. */
  async loadPath({path}: State) {
    const of = path ?? '';
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
            ((answer['pieces'] ?? []) as Piece[]).map(({begin_ns, end_ns, g}) => ({
                                                        from: sinceBegin(this.app, begin_ns),
                                                        to: sinceBegin(this.app, end_ns),
                                                        g
                                                      }));
      } catch (error) {
        if (!isAbort(error))
          this.app.say('The critical path cannot be shown: ' + String((error as Error).message));
      }
    }
    this.changed('rows');
  }

  /** The number at the top of a group, if it is known. */
  peak(group: string): number|undefined {
    return this.peaks.get(group);
  }

  /** Takes account of tiles in the number at the top of a group, and returns it, or -1. */
  raisePeak(group: string, tiles: Tile[]): number {
    let most = this.peaks.get(group) ?? -1;
    for (const tile of tiles) most = Math.max(most, tile.lanes.get(group)?.peak ?? -1);
    if (most >= 0) this.peaks.set(group, most);
    return most;
  }
}
