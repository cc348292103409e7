// The critical path of a task or goroutine as a table, and what the paths of all tasks of a type
// add up to.

import {CommandAnswer, MAX_ROWS, Piece, Row} from './answers';
import {App, showPlace, sinceBegin, ViewPart, windowParams} from './app';
import {STATE_NAMES} from './colors';
import {pathShares} from './details';
import {h, replace, stateMark} from './dom';
import {count, duration, percent, plural} from './format';
import {isAbort, Params, requestText} from './requests';
import {State} from './state';
import {Table} from './table';

const PIECES = [
  'after_ns', 'length_ns', 'depth', 'g', 'state', 'reason', 'woken_by', 'ran_ns', 'start', 'stack'
];
const SAMPLES = ['time_ns', 'share', 'count', 'state', 'reason', 'woken_by', 'start', 'stack'];

/** Pieces with when they begin, counted from the first one. */
function sinceFirst(pieces: Row[]): Row[] {
  const first = Number(pieces[0]?.['begin_ns'] ?? 0);
  return pieces.map((piece) => ({...piece, after_ns: Number(piece['begin_ns']) - first}));
}

export class PathView implements ViewPart {
  readonly root: HTMLElement;
  private readonly tools = h('div', {class: 'bar-of-tools'});
  private readonly head = h('div', {class: 'pane padded'});
  private readonly pane = h('div', {class: 'pane'});
  private readonly table: Table;
  private requested = '';
  private types: {tasks: string[], regions: string[]}|null = null;
  private pieces: Piece[]|null = null;
  /** What was summed up, and what was selected, at the last update. */
  private seen = {sum: '', selection: ''};
  /** The longest task of a window, as task:9, whose path is shown while nothing is selected. */
  private longest: {request: string, task: string|null} = {request: '', task: null};

  constructor(private readonly app: App) {
    this.table = new Table(app, {view: 'path', columns: PIECES}, this.pane);
    this.root =
        h('div', {class: 'split rows'}, this.tools, this.head, this.pane, this.table.chooserRoot);
    this.head.style.flex = 'none';
  }

  /** What to ask for: the sum over a type, or the path of a task or goroutine. */
  private params(state: State): Params|null {
    const sum = state.params['path.sum'];
    if (sum) {
      const worst = state.params['path.worst'];
      return [
        sum.startsWith('region:') ? ['region', sum.slice(7)] : ['type', sum.replace(/^task:/, '')],
        ['worst', worst && !this.app.requests.baked ? worst : null]
      ];
    }
    const of = state.path ??
        (state.task ? `task:${state.task}` :
             state.lane?.startsWith('g:') ? state.lane :
                                            this.longest.task);
    if (!of) return null;
    const [kind, id] = of.split(':') as [string, string];
    return [[kind === 'task' ? 'task' : 'g', id]];
  }

  /** Whether something was selected since the sum was chosen: then that is what people look for. */
  private isOutdatedSum(state: State): boolean {
    const sum = state.params['path.sum'] ?? '';
    const selection = [state.path, state.task, state.lane].map((part) => part ?? '').join(' ');
    const {sum: oldSum, selection: old} = this.seen;
    this.seen = {sum, selection};
    return sum !== '' && sum === oldSum && selection !== old && selection.trim() !== '';
  }

  private async findLongest(state: State) {
    const params: Params = [
      ...windowParams(state, this.app.trace.duration), ['each', true], ['sort', 'duration'],
      ['top', 1]
    ];
    const request = `${requestText('tasks', params)} ${this.app.requests.complete}`;
    if (request === this.longest.request) return;
    this.longest = {request, task: null};
    const answer = await this.app.requests.json<CommandAnswer>('tasks', params).catch(() => null);
    const task = ((answer?.['tasks'] ?? []) as Row[])[0];
    if (request !== this.longest.request || !task) return;
    this.longest.task = `task:${String(task['task'])}`;
    this.update(this.app.store.state, null);
  }

  update(state: State, before: State|null) {
    if (this.isOutdatedSum(state)) {
      this.app.store.setParam('path.sum', null, 'move');
      return;
    }
    void this.loadTypes();
    void this.findLongest(state);
    const params = this.params(state);
    const key = params ? `${requestText('path', params)} ${this.app.requests.complete}` : '-';
    this.drawTools(state, params);
    if (key === this.requested) {
      if (before && before.clock === state.clock && before.theme === state.theme &&
          before.params === state.params)
        this.table.markSelected();
      else
        this.table.update();
      return;
    }
    this.requested = key;
    if (!params) {
      this.head.textContent = '';
      replace(
          this.pane,
          h('div', {class: 'note'},
            'Select a task or a goroutine, or a type above: its critical path says what it had to wait for, at each moment.'));
      return;
    }
    replace(this.pane, h('div', {class: 'note'}, 'Computing the path'));
    this.head.textContent = '';
    this.app.requests.json<CommandAnswer>('path', params)
        .then((answer) => {
          if (key !== this.requested) return;
          const samples = answer['samples'] as Row[] | undefined;
          this.pieces = samples ? null : (answer['pieces'] ?? []) as Piece[];
          const rows = samples ?? sinceFirst(this.pieces as unknown as Row[]);
          if (!rows.length) {
            replace(this.pane, h('div', {class: 'note'}, 'The trace does not show this path.'));
            return;
          }
          this.drawHead(
              samples ? samples.map(
                            (s) => ({...s, length_ns: Number(s['time_ns'])}) as unknown as Piece) :
                        this.pieces!);
          replace(this.pane, this.table.root);
          this.table.show(rows, {
            view: 'path',
            columns: samples ? SAMPLES : PIECES,
            go: (row) => typeof row['begin_ns'] !== 'number' ?
                null :
                () => {
                  const path = this.app.store.state.path ??
                      (this.app.store.state.task ? `task:${this.app.store.state.task}` : null);
                  const {task} = this.app.store.state;
                  showPlace(this.app, {
                    lane: typeof row['g'] === 'number' ? `g:${row['g']}` : null,
                    from: sinceBegin(this.app, row['begin_ns'] as number),
                    to: sinceBegin(this.app, Number(row['end_ns'])),
                    path,
                    task
                  });
                },
            selected: (row) => typeof row['g'] === 'number' &&
                this.app.store.state.lane === `g:${row['g']}` && this.app.store.state.at !== null &&
                sinceBegin(this.app, Number(row['begin_ns'])) <= this.app.store.state.at &&
                this.app.store.state.at < sinceBegin(this.app, Number(row['end_ns'])),
          });
        })
        .catch((error) => {
          if (isAbort(error) || key !== this.requested) return;
          replace(this.pane, h('div', {class: 'error'}, String((error as Error).message)));
        });
  }

  private drawHead(pieces: Piece[]) {
    const shares = pathShares(pieces), total = shares.reduce((s, x) => s + x.ns, 0);
    const bar = h('div', {class: 'usage'}, shares.map((s) => {
      const part =
          h('i', {class: `state-${STATE_NAMES[s.code]}`, title: `${s.label} ${duration(s.ns)}`});
      part.style.width = `${s.ns / total * 100}%`;
      return part;
    }));
    replace(
        this.head,
        h('h2', null,
          pieces.length < MAX_ROWS ?
              `${duration(total)} in ${plural(pieces.length, this.pieces ? 'piece' : 'place')}` :
              `The first ${count(pieces.length)} pieces, ${duration(total)}: the path has more`),
        bar,
        h('div', {class: 'key'},
          shares.slice(0, 8).map(
              (s) =>
                  h('span', null, stateMark(STATE_NAMES[s.code]!), `${s.label} ${duration(s.ns)} `,
                    h('span', {class: 'dim'}, ` ${percent(s.ns, total)}`)))));
  }

  private async loadTypes() {
    if (this.types) return;
    this.types = {tasks: [], regions: []};
    const names = async (name: 'tasks'|'regions') => {
      const answer = await this.app.requests.json<CommandAnswer>(name).catch(() => null);
      // A type without a name cannot be asked for.
      return ((answer?.[name] ?? []) as Row[])
          .map((r) => String(r['type'] ?? ''))
          .filter((type) => type !== '');
    };
    const [tasks, regions] = await Promise.all([names('tasks'), names('regions')]);
    this.types = {tasks, regions};
    this.drawTools(this.app.store.state, this.params(this.app.store.state));
  }

  private drawTools(state: State, params: Params|null) {
    const sum = state.params['path.sum'] ?? '';
    const worst = this.app.requests.baked ? '' : state.params['path.worst'];
    const isSelected = state.path || state.task || state.lane?.startsWith('g:');
    const of = params && !sum ?
        `${params[0]![0] === 'task' ? 'Task' : 'G'} ${String(params[0]![1])}${
            isSelected ? '' : ', the slowest one'}` :
        null;
    const choose: HTMLSelectElement =
        h('select', {
          'aria-label': 'Sum over a type',
          onchange: () => this.app.store.set(
              {params: {...state.params, 'path.sum': choose.value, 'path.worst': ''}})
        },
          h('option', {value: ''}, 'Path of what is selected'),
          (this.types?.tasks ??
           []).map((t) => h('option', {value: `task:${t}`}, `tasks ${t}`.slice(0, 80))),
          (this.types?.regions ??
           []).map((t) => h('option', {value: `region:${t}`}, `regions ${t}`.slice(0, 80))));
    choose.value = sum;
    replace(
        this.tools, of ? h('b', null, of) : null, choose,
        sum && worst ? h('button', {
          class: 'tool',
          title: 'The sum over all of them',
          onclick: () => this.app.store.setParam('path.worst', null)
        },
                         `the ${worst} slowest ✕`) :
                       null,
        of ? h('button', {
          class: 'tool',
          onclick: () => this.app.store.set({
            view: 'timeline',
            path: state.path ?? (params![0]![0] === 'task' ? `task:${params![0]![1]}` : state.lane)
          })
        },
               'In the timeline') :
             null,
        this.table.tools);
  }

  key(event: KeyboardEvent): boolean {
    return this.table.key(event);
  }
}
