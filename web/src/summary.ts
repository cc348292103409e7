// The summary: what is suspicious, with the place that shows it, and the tables of `summary`.

import {CommandAnswer, Groups, Row} from './answers';
import {App, showGroup, showPlace, sinceBegin, ViewPart, windowParams} from './app';
import {STATE_LABELS, STATE_NAMES} from './colors';
import {h, replace} from './dom';
import {bytes, count, duration, percent, plural, withoutDirectories} from './format';
import {isAbort, requestText} from './requests';
import {State, View} from './state';
import {Table} from './table';

/**
 * A line of the suspicions: what is suspicious, the command that shows more, and where it is, if it
 * is somewhere.
 */
export interface Suspicion {
  id?: string;
  text: string;
  command: string;
  cost_ns?: number;
  place?: Where|null;
  culprits?: Where[];
  victims?: Where[];
  begin_ns?: number|null;
  length_ns?: number|null;
  g?: number|null;
}

export interface Where {
  function: string;
  file?: string;
  line?: number;
  time_ns?: number
}

export interface Summary {
  complete: boolean;
  error?: string;
  duration_ns: number;
  events: number;
  gomaxprocs: number;
  procs: Record<string, number>;
  runnable_ns: number;
  wasted_ns: number;
  gc_cycles: number;
  max_heap_bytes: number;
  latencies: Row[];
  functions: Row[];
  places: Row[];
  leaks: Row[];
  spans?: {kind: string, type: string, lengths: {sum: number, max: number, counts: number[]}}[];
  longest_run: Row|null;
  suspicions?: Suspicion[];
}

/** The words of a command, as a shell reads them. */
export function shellWords(command: string): string[] {
  const words = command.match(/(?:\\.|'[^']*'|[^\s'\\])+/g) ?? [];
  return words.map((word) => word.replace(/\\(.)|'([^']*)'/g, (_, one, all) => one ?? all));
}

/**
 * The view that shows what a command prints: `gc --pauses --sort=length` is the table of pauses.
 */
export function viewOfCommand(command: string): {view: View, params: Record<string, string>}|null {
  const words = shellWords(command.replace(/^gotrace-dump\s+/, ''));
  const flag = (name: string) => words
                                     .map(
                                         (w) => w === `--${name}` ? '' :
                                             w.startsWith(`--${name}=`) ? w.slice(name.length + 3) :
                                                                          null)
                                     .find((w) => w !== null) ??
      null;
  switch (words[0]) {
    case 'procs':
      return {
        view: 'procs',
        params: flag('slices') !== null ? {'procs.mode': 'slices'} :
            flag('ready') !== null      ? {'procs.mode': 'ready'} :
            flag('long-runs') !== null  ? {'procs.mode': 'runs'} :
                                          {}
      };
    case 'gc':
      return {
        view: 'gc',
        params: flag('pauses') !== null ?
            {'gc.mode': 'pauses', ...(flag('sort') ? {'gc.sort': '-length_ns'} : {})} :
            flag('mmu') !== null ? {'gc.mode': 'mmu'} :
                                   {}
      };
    case 'latency':
      return {
        view: 'latency',
        params: flag('worst') !== null ? {
          'latency.mode': 'worst',
          'latency.sort': '-length_ns',
          ...(flag('kind') ? {'latency.filter': flag('kind')!} : {})
        } :
            flag('by') === 'stack' ? {
              'latency.mode': 'stack',
              'latency.sort': flag('sort') === 'count' ? '-count' : '-total_ns',
              ...(flag('kind') ? {'latency.filter': flag('kind')!} : {})
            } :
                                     {}
      };
    case 'profile':
      return {
        view: 'profile',
        params: {
          ...(flag('type') ? {'profile.type': flag('type')!} : {}),
          ...(flag('func') ? {'profile.func': flag('func')!} : {})
        }
      };
    case 'goroutines':
      return {
        view: 'goroutines',
        params: flag('each') !== null ? {
          'goroutines.mode': 'each',
          ...(flag('sort') ? {'goroutines.sort': '-running_ns'} : {})
        } :
                                        {}
      };
    case 'path': {
      const type = flag('type'), region = flag('region');
      return {
        view: 'path',
        params: {
          'path.sum': type !== null ? `task:${type}` : `region:${region ?? ''}`,
          'path.worst': flag('worst') ?? ''
        }
      };
    }
    case 'tasks':
    case 'regions':
      return {
        view: words[0],
        params: flag('each') !== null ?
            {[`${words[0]}.mode`]: 'each', [`${words[0]}.sort`]: '-duration_ns'} :
            {}
      };
    case 'leaks':
      return {view: 'leaks', params: flag('longer') ? {'leaks.mode': 'short'} : {}};
    case 'locks':
    case 'heap':
      return {view: words[0], params: {}};
    default:
      return null;
  }
}

/** The rows of `latency`, each with the longest wait as the summary has it. */
export function withLongest(rows: Row[], latencies: Row[]): Row[] {
  return rows.map(
      (row) => ({
        ...row,
        longest: latencies.find((l) => l['kind'] === row['kind'] && l['reason'] === row['reason'])
                     ?.['longest'] ??
            null
      }));
}

/**
 * The functions of the summary as `goroutines` has them, which also says how much of the time was
 * for the network.
 */
export function functionRows(functions: Row[], goroutines: Row[]): Row[] {
  return functions.map(
      (f) => goroutines.find((row) => row['name'] === f['name']) ??
          {...f, blocked_total_ns: f['blocked_ns'], blocked_ns: undefined});
}

/** The types of tasks and regions, and HTTP requests. */
export function spanRows(summary: Pick<Summary, 'spans'>): Row[] {
  return (summary.spans ?? []).map(({kind, type, lengths}) => ({
                                     kind,
                                     type,
                                     count: lengths.counts.reduce((a, b) => a + b, 0),
                                     total_ns: lengths.sum,
                                     max_ns: lengths.max
                                   }));
}

/** Places of different functions: several lines of one are one. */
export function unique(places: Where[]): Where[] {
  return places.filter((w, i) => places.findIndex((other) => other.function === w.function) === i);
}

export class SummaryView implements ViewPart {
  readonly root = h('div', {class: 'pane'});
  private requested = '';
  private timer = 0;
  private abort: AbortController|null = null;
  private answer: Summary|null = null;
  private latencies: Row[] = [];
  private goroutines: Row[] = [];
  private tables: Table[] = [];
  private at = -1;

  constructor(private readonly app: App) {}

  update(state: State, before: State|null) {
    const params = windowParams(state, this.app.trace.duration);
    const key = `${requestText('summary', params)} ${this.app.requests.complete}`;
    if (key === this.requested) {
      if (this.answer && (!before || before.theme !== state.theme || before.clock !== state.clock))
        this.show(this.answer);
      return;
    }
    const moved = this.requested !== '';
    this.requested = key;
    if (this.answer)
      this.root.style.opacity = '0.5';
    else
      replace(this.root, h('div', {class: 'note'}, 'Loading'));
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.abort?.abort();
      this.abort = new AbortController();
      const {signal} = this.abort;
      Promise
          .all([
            this.app.requests.json<Summary>('summary', params, signal),
            this.app.requests.json<CommandAnswer>('latency', params, signal).catch(() => null),
            this.app.requests.json<CommandAnswer>('goroutines', params, signal).catch(() => null)
          ])
          .then(([answer, latency, goroutines]) => {
            if (key !== this.requested) return;
            this.answer = answer;
            this.latencies = (latency?.['latencies'] ?? []) as Row[];
            this.goroutines = (goroutines?.['goroutines'] ?? []) as Row[];
            this.root.style.opacity = '';
            this.show(answer);
          })
          .catch((error) => {
            if (isAbort(error) || key !== this.requested) return;
            this.answer = null;
            this.root.style.opacity = '';
            replace(this.root, h('div', {class: 'error'}, String((error as Error).message)));
          });
    }, moved ? 250 : 0);
  }

  private follow(s: Suspicion) {
    const {app} = this;
    if (typeof s.begin_ns === 'number') {
      const from = Math.max(0, sinceBegin(app, s.begin_ns));
      showPlace(app, {
        lane: typeof s.g === 'number' && s.g >= 0 ? `g:${s.g}` : null,
        from,
        to: from + (s.length_ns ?? 0)
      });
      return;
    }
    const to = viewOfCommand(s.command);
    if (!to) return;
    // As --stack does, leaves the rows of the place. Leaks have no such flag.
    const isOfPlace = s.place?.function &&
        (to.view === 'leaks' || to.view === 'locks' && s.command.includes(' --stack='));
    const filter: Record<string, string> =
        isOfPlace ? {[`${to.view}.filter`]: s.place!.function} : {};
    app.store.set({view: to.view, params: {...app.store.state.params, ...to.params, ...filter}});
  }

  /** Shows the goroutines of a function that is to blame, or suffers, in the timeline. */
  private functionLink(where: Where): HTMLElement|null {
    if (!where.function) return null;
    const {app} = this;
    return h(
        'button', {
          class: 'link cut',
          title: `${where.function}${where.file ? `\n${where.file}:${where.line ?? 0}` : ''}`,
          onclick: () => {
            void app.requests.json<Groups>('groups', [['text', where.function], ['limit', 10]])
                .then(({groups}) => {
                  const group = groups.find((g) => g.name === where.function) ?? groups[0];
                  if (group) showGroup(app, group.id);
                  // Not a function that goroutines start in: the profile shows where it is.
                  else
                    app.store.set({
                      view: 'profile',
                      params: {
                        ...app.store.state.params,
                        'profile.type': 'wall',
                        'profile.find': where.function
                      }
                    });
                })
                .catch(() => {});
          }
        },
        withoutDirectories(where.function));
  }

  private show(s: Summary) {
    const {app} = this;
    if (s.procs === undefined) {
      replace(this.root, h('div', {class: 'error'}, s.error ?? 'The trace cannot be read.'));
      return;
    }
    const usage: [string, number][] = [
      ['user_ns', 1], ['gc_ns', 6], ['assist_ns', 7], ['syscall_ns', 3], ['scheduler_ns', 8],
      ['stopped_ns', 9], ['idle_ns', 0]
    ];
    const parts = usage.map(([key, code]): [number, number] => [code, Number(s.procs[key] ?? 0)])
                      .filter(([, ns]) => ns > 0);
    const sum = parts.reduce((a, [, ns]) => a + ns, 0);
    const labels: Record<number, string> = {1: 'user code'};
    const suspicions = s.suspicions ?? [];
    const bar = h('div', {class: 'usage'}, parts.map(([code, ns]) => {
      const part = h('i', {class: `state-${STATE_NAMES[code]}`});
      part.style.width = `${ns / sum * 100}%`;
      return part;
    }));
    this.tables = [];
    const table =
        (title: string, view: View, rows: Row[], columns: string[],
         go?: (row: Row) => (() => void) | null) => {
          if (!rows.length) return null;
          const shown =
              new Table(app, {view: `summary${view}`, columns, ...(go ? {go} : {})}, this.root);
          shown.show(rows.slice(0, 12), {view: `summary${view}`, columns, ...(go ? {go} : {})});
          this.tables.push(shown);
          return h(
              'section', null,
              h('h2', null,
                h('button', {class: 'link', onclick: () => app.store.set({view})}, title)),
              shown.root);
        };
    const list = suspicions.map(
        (x) =>
            h('li', null,
              x.cost_ns !== undefined ?
                  h('b', {class: 'cost', title: 'The time that goroutines lost'},
                    x.cost_ns ? duration(x.cost_ns) : '') :
                  null,
              h('span', {class: 'name text'}, x.text),
              h('span', {class: 'links'}, (['culprits', 'victims'] as const).map((kind) => {
                const links = unique(x[kind] ?? [])
                                  .slice(0, 2)
                                  .map((w) => this.functionLink(w))
                                  .filter(Boolean);
                const title = kind === 'culprits' ? 'culprit' : 'victim';
                return links.length ?
                    h('span', {class: 'who'},
                      h('span', {class: 'dim'}, links.length > 1 ? kind : title), links) :
                    null;
              }),
                typeof x.begin_ns === 'number' ?
                    h('button', {class: 'link', onclick: () => this.follow(x)},
                      'Show in the timeline') :
                    null,
                viewOfCommand(x.command) ?
                    h('button', {class: 'link', onclick: () => this.follow({...x, begin_ns: null})},
                      `More: ${x.command.split(' ')[0]}`) :
                    null)));
    this.at = -1;
    replace(this.root, h('div', {class: 'summary'},
      h('section', {class: 'first'},
        h('h2', null, [duration(s.duration_ns), `${count(s.events)} events`, `GOMAXPROCS ${s.gomaxprocs || 'unknown'}`].join(', ')),
        bar, h('div', {class: 'key'}, parts.map(([code, ns]) => h('span', null, h('i', {class: `mark state-${STATE_NAMES[code]}`}), `${labels[code] ?? STATE_LABELS[STATE_NAMES[code]!]} ${percent(ns, sum)}`))),
        h('div', {class: 'dim'}, [
          `goroutines waited to run for ${duration(s.runnable_ns)} in all`, s.wasted_ns ? `${duration(s.wasted_ns)} of that with idle Ps (${percent(s.wasted_ns, sum)} of their time)` : '',
          s.gc_cycles ? `${plural(s.gc_cycles, 'GC cycle')}, heap up to ${bytes(s.max_heap_bytes)}` : 'no GC cycle'].filter(Boolean).join('; '))),
      h('section', {class: 'first'}, h('h2', null, 'Suspicions', list.length ? h('span', {class: 'dim note-of'}, ' with the time that goroutines lost') : null), list.length ? h('ul', null, list) : h('div', {class: 'dim'}, 'Nothing stands out in this window.')),
      table('Latencies', 'latency', withLongest(this.latencies, s.latencies), ['count', 'total_ns', 'p50_ns', 'p99_ns', 'max_ns', 'kind', 'reason'], (row) => {
        const longest = row['longest'] as Row | undefined;
        return longest && typeof longest['begin_ns'] === 'number' ? () => {
          const from = Math.max(0, sinceBegin(app, Number(longest['begin_ns'])));
          showPlace(app, {lane: Number(longest['g']) >= 0 ? `g:${longest['g']}` : null, from, to: from + Number(longest['length_ns'] ?? 0)});
        } : null;
      }),
      table('Goroutines', 'goroutines', functionRows(s.functions, this.goroutines),
            ['count', 'states', 'running_ns', 'runnable_ns', 'blocked_total_ns', 'name']),
      table('Where goroutines waited', 'locks', s.places, ['count', 'time_ns', 'longest_ns', 'reason', 'function'], (row) => () => app.store.set({
        view: 'profile', params: {...app.store.state.params, 'profile.type': row['kind'] === 'syscall' ? 'syscall' : 'offcpu', 'profile.find': String(row['function'] ?? '')}})),
      table('Tasks, regions and requests', 'tasks', spanRows(s),
            ['count', 'total_ns', 'max_ns', 'kind', 'type'], (row) => row['kind'] === 'request' ? null : () => app.store.set({
        view: row['kind'] === 'region' ? 'regions' : 'tasks'})),
      table('Goroutines that may leak', 'leaks', s.leaks, ['count', 'longest_ns', 'reason', 'start', 'function'])));
  }

  key(event: KeyboardEvent): boolean {
    const buttons = Array.from(this.root.querySelectorAll<HTMLElement>('li button, tr.go'));
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      this.at =
          Math.max(0, Math.min(buttons.length - 1, this.at + (event.key === 'ArrowDown' ? 1 : -1)));
      const now = buttons[this.at];
      buttons.forEach((b) => b.classList.remove('on'));
      now?.classList.add('on');
      now?.focus();
      now?.scrollIntoView({block: 'nearest'});
      return true;
    }
    if (event.key === 'Enter' && this.at >= 0 && document.activeElement !== buttons[this.at]) {
      buttons[this.at]?.click();
      return true;
    }
    return false;
  }
}
