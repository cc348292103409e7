// The panel at the right: everything about what is selected.

import {Cause, CommandAnswer, Frame, Piece, Row, Span} from './answers';
import {App, momentText, setWindow, showPlace, sinceBegin, windowParams} from './app';
import {codeOfGoState, STATE_LABELS, STATE_NAMES} from './colors';
import {append, h, replace, stateMark} from './dom';
import {
  count,
  duration,
  exactDuration,
  laneName,
  percent,
  plural,
  times,
  withoutDirectories
} from './format';
import {isAbort, Params} from './requests';
import {isMarks, State} from './state';

const KINDS: Record<string, string> = {
  unknown: 'The trace does not say',
  scheduler: 'The scheduler',
  goroutine: '',
  network: 'The network',
  timer: 'A timer',
  gc: 'The collector',
  syscall: 'The end of a syscall',
};

/** The states in which goroutines do not run. */
const WAITS = new Set(['runnable', 'syscall', 'network', 'blocked']);

/** So many goroutines are named that ran while another one waited for a P. */
const RAN_MEANWHILE = 6;

/** So many waits of the goroutine of a task are shown. */
const MOST_WAITS = 4;

/** A file's last two parts, which tell most files apart. */
export function shortFile(file: string): string {
  return file.split('/').slice(-1)[0] ?? file;
}

/** A function without the directories of its package, and without package main. */
export function shortFunction(name: string): string {
  return withoutDirectories(name).replace(/^main\./, '');
}

export interface Share {
  code: number;
  label: string;
  ns: number
}

/** What the pieces of a critical path add up to, the largest first. */
export function pathShares(pieces: Piece[]): Share[] {
  const sums = new Map<string, Share>();
  for (const piece of pieces) {
    const code = codeOfGoState(piece.state, piece.reason, piece.start);
    const stopped = /runtime\.(stopTheWorld\w*|gcMarkTermination|gcStart)/.test(piece.stack) &&
        piece.state === 'Waiting';
    const label = stopped ? 'world stopped' :
        code === 5        ? `blocked: ${piece.reason || 'unknown'       }` :
               code === 0 ? 'unknown' :
                            STATE_LABELS[STATE_NAMES[code]!]!;
    const share = sums.get(label) ?? {code: stopped ? 9 : code, label, ns: 0};
    share.ns += piece.length_ns;
    sums.set(label, share);
  }
  return [...sums.values()].sort((a, b) => b.ns - a.ns || (a.label < b.label ? -1 : 1));
}

/**
 * Pieces of a path that say the same: the first of them, how many there are, and their time in all.
 */
export function alike(pieces: Piece[]): {first: Piece, count: number, ns: number}[] {
  const groups = new Map<string, {first: Piece, count: number, ns: number}>();
  for (const piece of pieces) {
    const {g, state, reason, function: name, file, line} = piece;
    const key = [g, state, reason, name, file, line].join('\n');
    const group = groups.get(key) ?? {first: piece, count: 0, ns: 0};
    group.count++;
    group.ns += piece.length_ns;
    groups.set(key, group);
  }
  return [...groups.values()];
}

export class Details {
  readonly root = h('aside', {id: 'details', class: 'empty', 'aria-label': 'Details'});
  private key = '';
  span: Span|null = null;

  constructor(private readonly app: App) {}

  update(state: State) {
    const key = `${state.lane} ${state.at} ${state.task} ${this.app.trace.complete} ${state.clock}`;
    if (key === this.key) return;
    this.key = key;
    const current = () => this.key === key;
    if (state.lane !== null && state.at !== null) {
      this.app.requests.json<Span>('span', [['lane', state.lane], ['at', state.at]])
          .then((span) => {
            if (current()) {
              this.span = span;
              this.showSpan(span);
            }
          })
          .catch((error) => {
            if (current() && !isAbort(error)) {
              this.span = null;
              this.fail(error);
            }
          });
    } else if (state.task !== null) {
      this.span = null;
      void this.showTask(state.task, current).catch((error) => {
        if (current() && !isAbort(error)) this.fail(error);
      });
    } else {
      this.span = null;
      this.showNothing();
    }
  }

  private show(...children: (Node|string|null|(Node|null)[])[]) {
    replace(
        this.root, children as Node[],
        h('button', {
          class: 'close',
          title: 'Close',
          onclick: () => this.app.store.set({lane: null, at: null, task: null})
        },
          '✕'));
    this.root.classList.remove('empty');
  }

  private fail(error: unknown) {
    this.show(
        h('h2', null, 'Cannot be shown'),
        h('div', {class: 'dim'}, String((error as Error).message ?? error)));
  }

  private showNothing() {
    const {app} = this, {trace} = app;
    this.show(
        h('h2', {class: 'name'}, trace.name),
        h('div', {class: 'facts'}, h('span', null, 'length'),
          h('span', null, exactDuration(trace.duration)), h('span', null, 'events'),
          h('span', null, count(trace.events)), h('span', null, 'goroutines'),
          h('span', null, count(trace.goroutines)), h('span', null, 'Ps, threads'),
          h('span', null, `${count(trace.procs.length)}, ${count(trace.threads.length)}`),
          h('span', null, 'tasks'), h('span', null, count(trace.tasks)),
          h('span', null, 'format of'), h('span', null, `Go ${trace.version}`),
          trace.wall_begin ?
              [
                h('span', null, 'began at'),
                h('span', null,
                  trace.wall_begin.replace('T', ' ').replace(/(\.\d{6})\d*Z$/, '$1 UTC'))
              ] :
              null),
        trace.note && !trace.fault && !app.requests.baked ? h('div', {class: 'dim'}, trace.note) :
                                                            null,
        h('hr'),
        h('div', {class: 'dim'},
          'Click a span, a task, or a row of a table. Drag in the strip above to select the window that all views follow.'),
        this.keys([
          ['/', 'search'], ['w a s d', 'zoom and pan'], ['0', 'whole trace'], ['?', 'all keys']
        ]));
    this.root.classList.add('empty');
  }

  private keys(list: [string, string][]): HTMLElement {
    return h(
        'div', null, h('hr'),
        h('div', {class: 'keys'},
          list.map(
              ([keys, text]) =>
                  h('span', null, keys.split(' ').map((k) => [h('kbd', null, k), ' ']), text))));
  }

  private place(lane: string, at: number, text: string): HTMLElement {
    return h(
        'button', {class: 'link name', onclick: () => showPlace(this.app, {lane, from: at})}, text);
  }

  private stack(frames: Frame[]): HTMLElement {
    const shown = frames.slice(0, 24);
    const box = h('div', null, shown.map((f) => this.frameLine(f)));
    if (frames.length > shown.length) {
      const more =
          h('button', {
            class: 'link',
            onclick: () => {
              more.remove();
              append(box, frames.slice(shown.length).map((f) => this.frameLine(f)));
            }
          },
            plural(frames.length - shown.length, 'more frame'));
      box.append(more);
    }
    return box;
  }

  private frameLine(f: Frame): HTMLElement {
    return h(
        'div', {class: 'frame', title: `${f.func}\n${f.file}:${f.line}`},
        h('span', {class: 'name'}, f.func || '(unknown)'),
        h('span', {class: 'dim cut'}, f.file ? `${shortFile(f.file)}:${f.line}` : ''));
  }

  private cause(title: string, cause: Cause|null|undefined, at: number): Node[] {
    // That it went on by itself says nothing.
    if (!cause || cause.kind === 'itself') return [];
    const who: Node = cause.kind === 'goroutine' && cause.lane ?
        this.place(
            cause.lane, cause.at ?? at, `G ${cause.lane.slice(2)} ${cause.name ?? ''}`.trim()) :
        h('span', null, KINDS[cause.kind] || cause.kind);
    const stack =
        cause.kind === 'goroutine' && cause.stack?.length ? this.stack(cause.stack) : null;
    return [
      h('hr'), h('h2', null, title), h('div', null, who), stack ?? document.createTextNode('')
    ];
  }

  private showSpan(span: Span) {
    const {app} = this;
    const label = STATE_LABELS[span.state] ?? span.state;
    const g = span.goroutine;
    const clipped = span.begin_clipped || span.end_clipped;
    const marks = isMarks(span.lane);
    const title = marks                          ? '' :
        span.lane.startsWith('g:') || g === null ? laneName(span.lane) :
                                                   `G ${g}`;
    const moment = (ns: number) => momentText(app, ns, span.end - span.begin);
    const facts: [string, Node|string][] = [];
    if (span.reason) facts.push(['reason', h('span', {class: 'name'}, span.reason)]);
    facts.push(
        ['began', moment(span.begin)],
        [span.end_clipped ? 'seen until' : 'ended', moment(span.end)]);
    if (g !== null && !marks && !span.lane.startsWith('g:'))
      facts.push(['on', laneName(span.lane)]);
    if (span.p !== null && span.p !== undefined && !span.lane.startsWith('p:'))
      facts.push(['P', this.place(`p:${span.p}`, span.begin, `P ${span.p}`)]);
    if (span.m !== null && span.m !== undefined && !span.lane.startsWith('m:'))
      facts.push(['thread', this.place(`m:${span.m}`, span.begin, `M ${span.m}`)]);
    if (g !== null && !span.lane.startsWith('g:'))
      facts.push([marks ? 'begun by' : 'goroutine', this.place(`g:${g}`, span.begin, `G ${g}`)]);
    // There the panel says who did so.
    if (typeof span.created === 'number' && span.created < span.begin)
      facts.push(['created', this.place(`g:${g}`, span.created, moment(span.created))]);
    this.show(
        h('h2', {class: 'name'}, title, g !== null || marks ? ` ${span.name ?? ''}` : ''),
        h('div', null, stateMark(span.state), `${label} `,
          h('span', {title: exactDuration(span.end - span.begin)},
            `${clipped ? 'at least ' : ''}${exactDuration(span.end - span.begin)}`)),
        h('hr'),
        h('div', {class: 'facts'},
          facts.map(([name, value]) => [h('span', null, name), h('span', null, value)])),
        g === null || marks ? null : this.inWhat(span),
        span.stack?.length ?
            [
              h('hr'),
              h('h2', null,
                marks                        ? 'Begun at' :
                    span.state === 'running' ? 'Stack at its end' :
                                               'Stack'),
              this.stack(span.stack)
            ] :
            null,
        this.cause('Begun by', span.begun_by, span.begin),
        this.cause('Ended by', span.ended_by, span.end),
        span.state === 'runnable' ? this.ranMeanwhile(span) : null,
        span.lane === 'stops' ? this.howStopped(span) : null,
        span.wakes?.length ?
            [
              h('hr'), h('h2', null, `Woke or created ${count(span.wakes.length)}`),
              ...span.wakes.slice(0, 12).map(
                  (w) =>
                      h('div', {class: 'frame'},
                        this.place(w.lane, w.at, `${laneName(w.lane)} ${w.name}`),
                        h('span', {class: 'dim'}, moment(w.at)))),
              span.wakes.length > 12 ?
                  h('div', {class: 'dim'}, plural(span.wakes.length - 12, 'more', 'more')) :
                  null
            ] :
            null,
        g === null || marks ?
            null :
            [
              h('hr'),
              h('div', {class: 'keys'},
                h('button',
                  {class: 'link', onclick: () => app.store.set({path: `g:${g}`, view: 'timeline'})},
                  'Critical path'),
                h('button', {
                  class: 'link',
                  onclick: () => app.store.set(
                      {view: 'events', params: {...app.store.state.params, 'events.g': String(g)}})
                },
                  'Events'),
                h('button', {
                  class: 'link',
                  onclick: () => app.store.set({
                    view: 'profile',
                    params: {
                      ...app.store.state.params,
                      'profile.g': String(g),
                      // By default it is of waits.
                      ...(WAITS.has(span.state) ? {} : {'profile.type': 'wall'})
                    }
                  })
                },
                  'Profile'))
            ],
        this.keys(marks ? [['[ ]', 'previous, next'], ['f', 'fit']] : [
          ['[ ]', 'previous, next span'], ['u', 'who began it'], ['e', 'who ended it'],
          ['o', 'whom it woke'], ['f', 'fit'], ['p', 'pin']
        ]));
  }

  /** Shows the table of a path, and not that of a sum. */
  private showPath(path: string) {
    const params = {...this.app.store.state.params};
    delete params['path.sum'];
    this.app.store.set({path, view: 'path', params});
  }

  /**
   * The rows of a table in a part of the trace. A report has those of its window, or of the whole
   * trace.
   */
  private rowsAt(name: string, rows: string, mode: string, from: number, to: number):
      Promise<Row[]> {
    const {requests, store, trace} = this.app;
    const ask = (part: Params) => requests.json<CommandAnswer>(name, [...part, [mode, true]]);
    const answer = requests.baked ?
        ask(windowParams(store.state, trace.duration)).catch(() => ask([])) :
        ask([['from', from], ['to', to]]);
    return answer.then((all) => (all[rows] ?? []) as Row[]).catch(() => []);
  }

  /** The tasks and regions in which a goroutine is, the outermost first. Comes later. */
  private inWhat(span: Span): HTMLElement {
    const box = h('div', null);
    const {app} = this;
    const begin = (row: Row) =>
        typeof row['begin_ns'] === 'number' ? sinceBegin(app, row['begin_ns']) : 0;
    const length = (row: Row) => typeof row['duration_ns'] === 'number' ? row['duration_ns'] : null;
    const end = (row: Row) => begin(row) + (length(row) ?? Infinity);
    const ask = async (name: string) => {
      const rows = await this.rowsAt(name, name, 'each', span.begin, span.begin + 1);
      return rows.filter(
          (r) => r['g'] === span.goroutine && begin(r) <= span.begin && span.begin < end(r));
    };
    const task = (row: Row) =>
        h('button', {
          class: 'link',
          onclick: () => app.store.set({task: String(row['task']), lane: null, at: null})
        },
          `task ${row['task']}`);
    const region = (row: Row) =>
        h('button', {
          class: 'link name',
          onclick: () => setWindow(app, begin(row), Math.min(end(row), app.trace.duration))
        },
          `region ${row['type']}`);
    void Promise.all([app.trace.tasks > 0 ? ask('tasks') : [], ask('regions')])
        .then(([tasks, regions]) => {
          const rows = [...tasks, ...regions].sort((a, b) => begin(a) - begin(b));
          if (!rows.length) return;
          append(box, [
            h('hr'), h('h2', null, 'In'), ...rows.map((row) => {
              const ns = length(row);
              return h(
                  'div', {class: 'frame'},
                  regions.includes(row) ? region(row) :
                                          h('span', {class: 'name'}, String(row['type'])),
                  row['task'] ? task(row) : null,
                  // It may end later.
                  h('span', {class: 'dim'}, ns === null ? '' : duration(ns)));
            })
          ]);
        });
    return box;
  }

  /** The phases of a stop of the world, and whom it waited for. Comes later. */
  private howStopped(span: Span): HTMLElement {
    const box = h('div', null);
    void this.rowsAt('gc', 'pauses', 'pauses', span.begin, Math.max(span.begin + 1, span.end))
        .then((rows) => {
          const row = rows.find((r) => sinceBegin(this.app, Number(r['begin_ns'])) === span.begin);
          if (!row) return;
          const time = (key: string) => duration(Number(row[key] ?? 0));
          const facts = [
            ['until all stopped', time('stopping_ns')], ['all stopped', time('stopped_ns')],
            ['until all went on', time('restarting_ns')]
          ];
          if (row['last_p'] !== null)
            facts.push(['last to stop', `P ${row['last_p']}, after ${time('last_p_stop_ns')}`]);
          if (row['last_g'] !== null)
            facts.push(['that ran', `G ${row['last_g']} ${row['last_function'] ?? ''}`.trim()]);
          append(box, [
            h('hr'),
            h('div', {class: 'facts'},
              facts.map(
                  ([name, value]) => [h('span', null, name!), h('span', {class: 'name'}, value!)]))
          ]);
        });
    return box;
  }

  /** Who ran while a goroutine waited for a P, most first. Comes later. */
  private ranMeanwhile(span: Span): HTMLElement {
    const box = h('div', null);
    this.app.requests
        .json<CommandAnswer>(
            'goroutines',
            [
              ['from', span.begin], ['to', span.end], ['each', true], ['sort', 'running'],
              ['top', RAN_MEANWHILE]
            ])
        .then((answer) => {
          const rows = ((answer['goroutines'] ?? []) as Row[])
                           .filter((r) => r['g'] !== span.goroutine && Number(r['running_ns']) > 0);
          if (!rows.length) return;
          append(box, [
            h('hr'), h('h2', null, 'Ran meanwhile'),
            ...rows.map(
                (r) => h(
                    'div', {class: 'frame'},
                    this.place(
                        `g:${r['g']}`, span.begin, `G ${r['g']} ${String(r['name'] ?? '')}`.trim()),
                    h('span', {class: 'dim'}, duration(Number(r['running_ns'])))))
          ]);
        })
        .catch(() => {});
    return box;
  }

  /**
   * The longest waits of the goroutine that began a task, whose path leads to others instead. Comes
   * later.
   */
  private ownWaits(g: number, task: {at: number, duration: number}): HTMLElement {
    const box = h('div', null), {app} = this;
    const ns = (row: Row) => Number(row['length_ns']);
    const place = (row: Row, prefix: string) => {
      const name = shortFunction(String(row[`${prefix}function`] ?? ''));
      const file = row[`${prefix}file`];
      return [name, file ? `${shortFile(String(file))}:${row[`${prefix}line`]}` : '']
          .filter(Boolean)
          .join(' ');
    };
    app.requests
        .json<CommandAnswer>(
            'latency',
            [['from', task.at], ['to', task.at + task.duration], ['g', g], ['worst', MOST_WAITS]])
        .then((answer) => {
          const rows = ((answer['waits'] ?? []) as Row[])
                           .filter((row) => ns(row) >= task.duration / 20)
                           .sort((a, b) => ns(b) - ns(a))
                           .slice(0, MOST_WAITS);
          if (!rows.length) return;
          append(box, [
            h('hr'), h('h2', null, `What G ${g} waited for`), ...rows.map((row) => {
              const at = sinceBegin(app, Number(row['begin_ns']));
              const what = row['kind'] === 'scheduling' ? STATE_LABELS['runnable']! :
                                                          String(row['reason'] || row['kind']);
              const by = [row['ended_by'], place(row, 'ended_by_')].filter(Boolean).join(' in ');
              return h(
                  'div', null,
                  h('div', {class: 'frame'},
                    this.place(`g:${g}`, at, [what, place(row, '')].filter(Boolean).join(' in ')),
                    h('span', {class: 'dim'}, duration(ns(row)))),
                  by ? h('div', {class: 'dim name'}, `until ${by}`) : null);
            })
          ]);
        })
        .catch(() => {});
    return box;
  }

  private async showTask(id: string, current: () => boolean) {
    const {app} = this;
    const found = await app.requests.json<CommandAnswer>('search', [['text', `task:${id}`]]) as
        unknown as {tasks: {task: number, type: string, at: number, duration: number}[]};
    if (!current()) return;
    const task = found.tasks[0];
    const head = (more: string): Node[] =>
        [h('h2', {class: 'name'}, `${task?.type ?? ''} task ${id}`.trim()),
         h('div', {class: 'dim'},
           `${
               task ? `${exactDuration(task.duration)}, began at ${
                          momentText(app, task.at, task.duration)}` :
                      ''}${more}`)];
    this.show(head(''), h('hr'), h('div', {class: 'dim'}, 'Its critical path is being computed.'));
    const [path, row, all] = await Promise.all([
      app.requests.json<CommandAnswer>('path', [['task', id]]).catch(() => null),
      app.requests
          .json<CommandAnswer>(
              'tasks',
              [['each', true], ['type', task?.type || null], ['sort', 'duration'], ['top', 500]])
          .catch(() => null),
      app.requests.json<CommandAnswer>('tasks', []).catch(() => null)
    ]);
    if (!current()) return;
    const pieces = (path?.['pieces'] ?? []) as Piece[];
    const rows = (row?.['tasks'] ?? []) as Row[];
    const self = rows.find((r) => String(r['task']) === id);
    const type = ((all?.['tasks'] ?? []) as Row[]).find((r) => r['type'] === task?.type);
    const median = Number(type?.['duration_p50_ns'] ?? 0);
    const more = (task && median > 0 && Number(type?.['count'] ?? 0) > 1 ?
                      ` · ${times(task.duration / median)} × the median` :
                      '') +
        (self && self['g'] !== null ? ` · began on G ${String(self['g'])}` : '');
    const total = pieces.reduce((sum, p) => sum + p.length_ns, 0);
    const shares = pathShares(pieces);
    const bar = h('div', {class: 'bar'}, shares.map((s) => {
      const part = h('i', {class: `state-${STATE_NAMES[s.code]}`, title: s.label});
      part.style.width = `${s.ns / total * 100}%`;
      return part;
    }));
    const largest = alike(pieces)
                        .sort((a, b) => b.ns - a.ns)
                        .slice(0, 10)
                        .sort((a, b) => a.first.begin_ns - b.first.begin_ns);
    const begin = task ? task.at : 0;
    this.show(
        head(more), h('hr'),
        pieces.length ?
            [
              h('h2', null, `Why it took ${duration(total)}`), bar,
              h('table', null,
                h('tbody', null,
                  shares.slice(0, 8).map(
                      (s) =>
                          h('tr', null,
                            h('td', {class: 'name'}, stateMark(STATE_NAMES[s.code]!), s.label),
                            h('td', {class: 'n', width: '72'}, duration(s.ns)),
                            h('td', {class: 'n', width: '60'}, percent(s.ns, total)))))),
              task && typeof self?.['g'] === 'number' ? this.ownWaits(self['g'], task) : null,
              h('hr'), h('h2', null, 'Critical path'),
              h('table', null, h('tbody', null, largest.map(({first: p, count: n, ns}) => {
                  const code = codeOfGoState(p.state, p.reason, p.start);
                  const go = () => {
                    if (p.g === null) return;
                    showPlace(app, {
                      lane: `g:${p.g}`,
                      from: sinceBegin(app, p.begin_ns),
                      to: sinceBegin(app, p.end_ns)
                    });
                  };
                  return [
                    h('tr', {class: 'go', onclick: go},
                      h('td', {class: 'n dim', width: '72'},
                        duration(sinceBegin(app, p.begin_ns) - begin)),
                      h('td', null, stateMark(STATE_NAMES[code]!),
                        `${p.g === null ? 'unknown' : `G ${p.g}`} ${
                            STATE_LABELS[STATE_NAMES[code]!] ?? ''}`,
                        n > 1 ? h('span', {class: 'dim'}, ` × ${count(n)}`) : null),
                      h('td', {class: 'n', width: '72'}, duration(ns))),
                    h('tr', {class: 'go', onclick: go}, h('td'),
                      h('td', {colspan: '2'},
                        h('div', {class: 'place', title: p.stack.split(';').reverse().join('\n')},
                          h('span', {class: 'cut'},
                            [p.reason, shortFunction(p.function)].filter(Boolean).join(' · ')),
                          p.file ? h('span', null, `${shortFile(p.file)}:${p.line}`) : null)))
                  ];
                }))),
              h('div', {class: 'keys'},
                h('button', {class: 'link', onclick: () => this.showPath(`task:${id}`)},
                  `Show all ${plural(pieces.length, 'piece')}`),
                h(
                    'button', {
                      class: 'link',
                      onclick: () => app
                                         .store.set({
                                           path: `task:${id}`,
                                           view: 'timeline',
                                           ...(task ?
                                                   {
                                                     from: Math.max(
                                                         0, task.at - task.duration * 0.05),
                                                     to: task.at + task.duration * 1.05
                                                   } :
                                                   {})
                                         })
                    },
                    'In the timeline'))
            ] as Node[] :
            [h('div', {class: 'dim'}, 'The trace does not show its critical path.')],
        h('hr'),
        self ? h('div', {class: 'facts'}, h('span', null, 'goroutines'),
                 h('span', null, count(Number(self['goroutines'] ?? 0))),
                 h('span', null, 'regions'), h('span', null, count(Number(self['regions'] ?? 0))),
                 h('span', null, 'messages'), h('span', null, count(Number(self['logs'] ?? 0)))) :
               null,
        h('div', {class: 'keys'},
          h(
              'button', {
                class: 'link',
                onclick: () => app
                                   .store.set(
                                       {
                                         view: 'tasks',
                                         params: {
                                           ...app.store.state.params,
                                           'tasks.mode': 'each',
                                           'tasks.type': task?.type ?? ''
                                         }
                                       })
              },
              `All tasks of this type`),
          h('button', {
            class: 'link',
            onclick: () => app.store.set(
                {view: 'profile', params: {...app.store.state.params, 'profile.task': id}})
          },
            'Profile')),
        this.keys([['f', 'fit'], ['k', 'critical path'], ['Esc', 'select nothing']]));
  }
}
