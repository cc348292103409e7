// Starts the page, and puts its parts together.

import {Trace} from './answers';
import {App, currentWindow, parseFilter, setWindow, showPlace, ViewPart} from './app';
import {readPalette, STATE_LABELS, STATE_NAMES} from './colors';
import {Details} from './details';
import {h, replace, stateMark} from './dom';
import {count, duration, parseDuration} from './format';
import {Help, isTyping} from './keys';
import {Overview} from './overview';
import {BakedTransport, HttpTransport, isAbort, Requests, Transport} from './requests';
import {SearchBox} from './search';
import {saveMenu} from './save';
import {State, Store, View, VIEWS} from './state';
import {Timeline} from './timeline';
import {makeView} from './views';

const TITLES: Record<View, string> = {
  summary: 'Summary',
  timeline: 'Timeline',
  goroutines: 'Goroutines',
  tasks: 'Tasks',
  regions: 'Regions',
  locks: 'Locks',
  latency: 'Latency',
  gc: 'GC',
  procs: 'Procs',
  heap: 'Heap',
  leaks: 'Leaks',
  profile: 'Profile',
  path: 'Path',
  events: 'Events',
  sql: 'SQL',
};
const JUMPS: Record<string, View> = {
  s: 'summary',
  t: 'timeline',
  g: 'goroutines',
  k: 'tasks',
  r: 'regions',
  l: 'locks',
  y: 'latency',
  c: 'gc',
  p: 'procs',
  h: 'heap',
  x: 'leaks',
  f: 'profile',
  a: 'path',
  e: 'events',
  q: 'sql',
};
const LEGEND = [
  'running', 'runnable', 'syscall', 'network', 'blocked', 'gc', 'assist', 'scheduler', 'stopped'
];
const UNREAD: Trace = {
  name: '',
  begin_ns: 0,
  end_ns: 0,
  duration: 0,
  events: 0,
  goroutines: 0,
  progress: 0,
  complete: false,
  version: '',
  procs: [],
  threads: [],
  wall_begin: null,
  groups: 0,
  tasks: 0,
  states: STATE_NAMES,
  fault: null,
  note: null,
};

class Page implements App {
  readonly store = new Store(window);
  readonly requests: Requests;
  trace = UNREAD;
  palette = readPalette();
  filter = parseFilter({}, parseDuration);
  private readonly overview: Overview;
  private readonly details: Details;
  private readonly help = new Help();
  private readonly search: SearchBox;
  private readonly views = new Map<View, ViewPart&{root: HTMLElement}>();
  private readonly host = h('div', {id: 'view'});
  private readonly banner = h('div', {id: 'banner', role: 'status'});
  private readonly toast = h('div', {id: 'toast', role: 'status', hidden: true});
  private readonly facts = h('span', {class: 'facts dim cut'});
  private readonly file = h('span', {class: 'file cut'});
  private readonly progress = h('div', {id: 'progress'});
  private readonly legend = h('div', {id: 'legend'});
  private readonly main = h('main');
  private readonly tabs = new Map<View, HTMLElement>();
  private shown: View|null = null;
  private jump = false;
  private gone = false;
  private message = '';
  private toastTimer = 0;
  private readonly dark = window.matchMedia('(prefers-color-scheme: dark)');

  constructor(transport: Transport) {
    this.requests = new Requests(transport);
    this.requests.onServerGone = () => {
      if (!this.gone) {
        this.gone = true;
        this.showBanner();
      }
    };
    this.requests.onServerBack = () => {
      this.gone = false;
      this.showBanner();
    };
    this.applyTheme();
    this.overview = new Overview(this);
    this.details = new Details(this);
    this.search = new SearchBox(this);
    this.build();
    this.store.subscribe((state, before) => this.stateChanged(state, before));
    this.dark.addEventListener('change', () => this.themeChanged());
    window.addEventListener('keydown', (event) => this.key(event));
    void this.poll();
  }

  private build() {
    const tabs = VIEWS.filter((view) => view !== 'sql' || !this.requests.baked).map((view) => {
      const tab = h('button', {role: 'tab', onclick: () => this.store.set({view})}, TITLES[view]);
      this.tabs.set(view, tab);
      return tab;
    });
    for (const name of LEGEND) {
      this.legend.append(
          h('button', {
            title: 'Show only this in full colour',
            onclick: () => {
              const code = String(STATE_NAMES.indexOf(name));
              this.store.setParam(
                  'timeline.state',
                  this.store.state.params['timeline.state'] === code ? null : code);
            }
          },
            h('span', null, stateMark(name), STATE_LABELS[name]!)));
    }
    document.body.append(
        h('header', null, h('b', null, 'gotrace'), this.file, this.facts,
          h('span', {class: 'grow'}), this.search.root, saveMenu(this),
          h('button', {class: 'dim', title: 'Light or dark (T)', onclick: () => this.switchTheme()},
            '☾'),
          h('button', {title: 'Keys', onclick: () => this.toggleHelp()}, h('kbd', null, '?')),
          this.progress),
        this.banner, this.overview.root,
        h('nav', {role: 'tablist'}, tabs, h('span', {class: 'grow'}), this.legend), this.main,
        this.toast, this.help.root);
    this.main.append(this.host, this.details.root);
  }

  /** Asks for the trace until all of it is read; views are shown from the first answer on. */
  private async poll() {
    for (let last = '';;) {
      try {
        const trace = await this.requests.json<Trace>('trace');
        const key = `${trace.duration} ${trace.events} ${trace.complete}`;
        this.trace = trace;
        this.requests.complete = trace.complete || this.requests.baked;
        this.showFacts();
        if (key !== last && trace.duration > 0 || trace.complete) this.traceChanged();
        last = key;
        if (trace.complete || this.requests.baked) return;
      } catch (error) {
        if (isAbort(error)) return;
        if (!this.gone) {
          this.message = `The trace cannot be shown: ${(error as Error).message}`;
          this.showBanner();
          return;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  private showFacts() {
    const t = this.trace;
    document.title = t.name ? `${t.name} – gotrace` : 'gotrace';
    replace(this.file, t.name);
    this.file.title = t.name;
    replace(this.facts, [
      duration(t.duration), `${count(t.events)} events`, `${count(t.goroutines)} goroutines`,
      `${count(t.procs.length)} Ps`, t.version ? `Go ${t.version}` : ''
    ].filter(Boolean).join(' · '));
    this.progress.style.width = t.complete ? '0' : `${Math.max(2, t.progress * 100)}%`;
    this.showBanner();
  }

  private showBanner() {
    const parts: string[] = [];
    if (this.gone)
      parts.push(
          'The server has ended. What is loaded stays; start gotrace-dump serve again for more.');
    if (this.message) parts.push(this.message);
    // Without a fault it is no warning, and the details have it. Of no use to whoever was sent a
    // report.
    if (this.trace.note && this.trace.fault && !this.requests.baked) parts.push(this.trace.note);
    if (this.trace.fault) parts.push(`The trace is broken: ${this.trace.fault}`);
    replace(this.banner, parts.map((p) => h('span', {class: 'name'}, p)));
  }

  private traceChanged() {
    this.overview.load();
    for (const view of this.views.values()) (view as {traceChanged?: () => void}).traceChanged?.();
    this.stateChanged(this.store.state, null);
  }

  private stateChanged(state: State, before: State|null) {
    if (before && before.theme !== state.theme) this.themeChanged();
    this.filter = parseFilter(state.params, parseDuration);
    this.tabs.forEach((tab, view) => {
      tab.classList.toggle('on', view === state.view);
      tab.setAttribute('aria-selected', String(view === state.view));
    });
    Array.from(this.legend.children).forEach((entry, i) => {
      const code = STATE_NAMES.indexOf(LEGEND[i]!);
      (entry as HTMLElement).style.opacity =
          this.filter.state === null || this.filter.state === code ? '1' : '0.35';
    });
    this.overview.redraw();
    if (!this.trace.name && this.trace.duration === 0 && !this.trace.complete) return;
    this.details.update(state);
    this.main.dataset['view'] = state.view;
    if (this.shown !== state.view) {
      if (this.shown) this.views.get(this.shown)?.hide?.();
      const view = this.view(state.view);
      replace(this.host, view.root);
      this.shown = state.view;
      this.tabs.get(state.view)?.scrollIntoView({block: 'nearest', inline: 'nearest'});
      view.update(state, null);
    } else {
      this.view(state.view).update(state, before);
    }
  }

  private view(name: View): ViewPart&{root: HTMLElement} {
    let view = this.views.get(name);
    if (!view) {
      view = name === 'timeline' ? new Timeline(this) : makeView(name, this);
      this.views.set(name, view);
    }
    return view;
  }

  private applyTheme() {
    const {theme} = this.store.state;
    document.documentElement.classList.toggle(
        'dark', theme === null ? this.dark.matches : theme === 'dark');
    this.palette = readPalette();
  }

  private themeChanged() {
    this.applyTheme();
    this.overview.redraw();
    const view = this.shown ? this.views.get(this.shown) : null;
    view?.update(this.store.state, null);
  }

  private switchTheme() {
    this.store.set({theme: document.documentElement.classList.contains('dark') ? 'light' : 'dark'});
  }

  say(text: string) {
    replace(this.toast, text);
    this.toast.hidden = false;
    clearTimeout(this.toastTimer);
    this.toastTimer = window.setTimeout(() => {
      this.toast.hidden = true;
    }, 5000);
  }

  focusSearch() {
    this.search.focus();
  }
  toggleHelp() {
    this.help.toggle();
  }

  private follow(place: {lane?: string|null, at?: number|null}|null|undefined, what: string) {
    if (place && place.lane && place.at !== null && place.at !== undefined)
      showPlace(this, {lane: place.lane, from: place.at});
    else
      this.say(what);
  }

  private key(event: KeyboardEvent) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.help.open) {
      if (event.key === 'Escape' || event.key === '?') {
        this.help.toggle();
        event.preventDefault();
      }
      return;
    }
    if (isTyping(event.target)) {
      if (event.key === 'Escape') (event.target as HTMLElement).blur();
      return;
    }
    if (this.handle(event)) event.preventDefault();
  }

  private zoom(factor: number) {
    const {from, to} = currentWindow(this), middle = (from + to) / 2,
                 half = (to - from) / 2 * factor;
    setWindow(this, middle - half, middle + half, 'move');
  }

  private handle(event: KeyboardEvent): boolean {
    const {span} = this.details;
    const {key} = event;
    if (this.jump) {
      this.jump = false;
      const view = JUMPS[key];
      if (view && this.tabs.has(view)) {
        this.store.set({view});
        return true;
      }
    }
    if (this.shown && this.views.get(this.shown)?.key?.(event)) return true;
    switch (key) {
      case '?':
        this.toggleHelp();
        return true;
      case '/':
        this.focusSearch();
        return true;
      case 't':
        this.search.focus('@');
        return true;
      case 'g':
        this.jump = true;
        return true;
      case 'T':
        this.switchTheme();
        return true;
      case 'c': {
        const order = ['trace', 'window', 'wall'] as const;
        const next =
            order[(order.indexOf(this.store.state.clock) + 1) % (this.trace.wall_begin ? 3 : 2)]!;
        this.store.set({clock: next});
        this.say({
          trace: 'Times count from the begin of the trace.',
          window: 'Times count from the begin of the window.',
          wall: 'Times are those of the clock on the wall, in UTC.'
        }[next]);
        return true;
      }
      case '0':
      case 'Home':
        this.store.set({from: null, to: null});
        return true;
      case 'Escape':
        if (this.store.state.lane !== null || this.store.state.task !== null)
          this.store.set({lane: null, at: null, task: null});
        return true;
      case '[':
        this.follow(span?.previous, 'There is no span before this one.');
        return true;
      case ']':
        this.follow(span?.next, 'There is no span after this one.');
        return true;
      case 'u':
        this.follow(span?.begun_by, 'The trace does not say which goroutine began this.');
        return true;
      case 'e':
        this.follow(span?.ended_by, 'The trace does not say which goroutine ended this.');
        return true;
      case 'o':
        this.follow(span?.wakes?.[0], 'It woke no goroutine.');
        return true;
      case 'k': {
        const {task} = this.store.state;
        if (task)
          this.store.set({path: `task:${task}`});
        else if (span && span.goroutine !== null)
          this.store.set({path: `g:${span.goroutine}`});
        else if (this.store.state.path)
          this.store.set({path: null});
        return true;
      }
      case 'K':
        this.store.set({path: null});
        return true;
      case 'f': {
        if (span) {
          const room = Math.max(1, (span.end - span.begin) * 0.05);
          setWindow(this, span.begin - room, span.end + room);
        } else if (this.store.state.task) {
          void this.requests
              .json<{tasks: {at: number, duration: number}[]}>(
                  'search', [['text', `task:${this.store.state.task}`]])
              .then(({tasks}) => {
                if (tasks[0])
                  setWindow(
                      this, tasks[0].at - tasks[0].duration * 0.05,
                      tasks[0].at + tasks[0].duration * 1.05);
              })
              .catch(() => {});
        }
        return true;
      }
      // In the timeline these move smoothly while they are held.
      case 'w':
      case '+':
        this.zoom(0.5);
        return true;
      case 's':
      case '-':
        this.zoom(2);
        return true;
      case 'a':
      case 'd': {
        const {from, to} = currentWindow(this), by = (to - from) / (key === 'a' ? -4 : 4);
        setWindow(this, from + by, to + by, 'move');
        return true;
      }
      case 'Z': {
        const {from, to} = currentWindow(this);
        setWindow(this, from - (to - from) / 2, to + (to - from) / 2);
        return true;
      }
    }
    return false;
  }
}

function transport(): Transport {
  const baked = document.getElementById('gotrace-answers');
  // A report begins with what it has the most of, unless the link says otherwise.
  if (baked && !window.location.hash)
    window.history.replaceState(null, '', baked.dataset['state'] ?? '');
  if (baked)
    return new BakedTransport(JSON.parse(baked.textContent ?? '{}') as Record<string, string>);
  const token = new URLSearchParams(window.location.search).get('token') ?? '';
  return new HttpTransport('api/', token);
}

const page = new Page(transport());
// For tests in a browser.
(window as unknown as {gotrace: unknown}).gotrace = page;
