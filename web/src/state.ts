// The state of the page, all of it in the fragment of its URL.

export const VIEWS = [
  'summary', 'timeline', 'goroutines', 'tasks', 'regions', 'locks', 'latency', 'gc', 'procs',
  'heap', 'leaks', 'profile', 'path', 'events', 'sql'
] as const;
export type View = typeof VIEWS[number];

export interface State {
  view: View;
  /** The window, in nanoseconds since the trace's first event; null for the whole trace. */
  from: number|null;
  to: number|null;
  /** The selected span: a lane, or a row of the collector, and a time in it. */
  lane: string|null;
  at: number|null;
  /** The selected task. */
  task: string|null;
  /** What the critical path is shown of: task:9, g:17, or nothing. */
  path: string|null;
  /** Sections and groups of the timeline that are open, or closed if they are open by default. */
  open: string[];
  pin: string[];
  theme: 'light'|'dark'|null;
  /** What times are relative to. */
  clock: 'trace'|'window'|'wall';
  /** Everything that belongs to one view, as goroutines.sort. */
  params: Record<string, string>;
}

export const INITIAL: State = {
  view: 'timeline',
  from: null,
  to: null,
  lane: null,
  at: null,
  task: null,
  path: null,
  open: [],
  pin: [],
  theme: null,
  clock: 'trace',
  params: {},
};

const LANE = /^[pmg]:\d{1,19}$/;

/** The rows of the collector: their marks are selected as spans are, but they are no lanes. */
export function isMarks(id: string|null): id is 'stops'|'cycles' {
  return id === 'stops' || id === 'cycles';
}

function time(text: string|null): number|null {
  return text !== null && /^\d{1,16}$/.test(text) ? Number(text) : null;
}

function list(text: string|null): string[] {
  return (text ?? '').split(',').filter((s) => /^[a-z]+(:[a-z0-9]+)?$/.test(s));
}

/**
 * Reads a fragment, such as #timeline?from=0&to=1000. What cannot be read is as in the initial
 * state.
 */
export function parseState(fragment: string): State {
  const text = fragment.replace(/^#/, '');
  const mark = text.indexOf('?');
  const view = (mark < 0 ? text : text.slice(0, mark)) as View;
  const query = new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1));
  const state: State = {...INITIAL, params: {}};
  if (VIEWS.includes(view)) state.view = view;
  const from = time(query.get('from')), to = time(query.get('to'));
  if (from !== null && to !== null && from < to) {
    state.from = from;
    state.to = to;
  }
  const lane = query.get('lane'), at = time(query.get('at'));
  if (lane && (LANE.test(lane) || isMarks(lane)) && at !== null) {
    state.lane = lane;
    state.at = at;
  }
  const task = query.get('task');
  if (task && /^\d{1,20}$/.test(task)) state.task = task;
  const path = query.get('path');
  if (path && /^(task|g):\d{1,20}$/.test(path)) state.path = path;
  state.open = list(query.get('open'));
  state.pin = list(query.get('pin')).filter((id) => LANE.test(id));
  const theme = query.get('theme');
  if (theme === 'light' || theme === 'dark') state.theme = theme;
  const clock = query.get('clock');
  if (clock === 'window' || clock === 'wall') state.clock = clock;
  query.forEach((value, key) => {
    if (/^[a-z]+\.[a-z_]+$/.test(key)) state.params[key] = value;
  });
  return state;
}

/** The fragment of a state; what is as in the initial state is left out. */
export function formatState(state: State): string {
  const parts: string[] = [];
  const add = (key: string, value: string|number|null) => {
    if (value !== null && value !== '') {
      parts.push(
          `${key}=${encodeURIComponent(String(value)).replace(/%3A/g, ':').replace(/%2C/g, ',')}`);
    }
  };
  if (state.from !== null && state.to !== null) {
    const from = Math.floor(state.from);
    add('from', from);
    add('to', Math.max(from + 1, Math.round(state.to)));
  }
  if (state.lane !== null && state.at !== null) {
    add('lane', state.lane);
    add('at', state.at);
  }
  add('task', state.task);
  add('path', state.path);
  add('open', state.open.join(','));
  add('pin', state.pin.join(','));
  add('theme', state.theme);
  add('clock', state.clock === 'trace' ? null : state.clock);
  for (const key of Object.keys(state.params).sort()) add(key, state.params[key]!);
  return `#${state.view}${parts.length ? '?' + parts.join('&') : ''}`;
}

/** The window of a state in a trace of `end` ns. */
export function windowOf(state: State, end: number): {from: number, to: number} {
  if (state.from === null || state.to === null) return {from: 0, to: Math.max(1, end)};
  const to = Math.min(state.to, Math.max(1, end));
  return {from: Math.max(0, Math.min(state.from, to - 1)), to};
}

/**
 * A window of at least one nanosecond, within the trace. Fractions are kept, so that zooming stays
 * smooth.
 */
export function clampWindow(from: number, to: number, end: number): {from: number, to: number} {
  const whole = Math.max(1, end);
  const length = Math.min(whole, Math.max(1, to - from));
  const begin = Math.min(Math.max(0, from), whole - length);
  return {from: begin, to: begin + length};
}

/** A window that is zoomed by `factor`, while the time `at` stays where it is. */
export function zoomWindow(w: {from: number, to: number}, factor: number, at: number, end: number) {
  const length = Math.min(Math.max(1, end), Math.max(1, (w.to - w.from) * factor));
  const share = (at - w.from) / (w.to - w.from);
  return clampWindow(at - length * share, at + length * (1 - share), end);
}

export type Listener = (state: State, before: State) => void;

/** Holds the state, and keeps the URL in step with it. */
export class Store {
  state: State;
  private listeners: Listener[] = [];
  private timer = 0;
  private written: string;

  constructor(private readonly win: Window) {
    this.state = parseState(win.location.hash);
    this.written = win.location.hash;
    const read = () => {
      if (win.location.hash === this.written) return;
      this.written = win.location.hash;
      this.publish(parseState(win.location.hash));
    };
    win.addEventListener('popstate', read);
    win.addEventListener('hashchange', read);
  }

  subscribe(listener: Listener) {
    this.listeners.push(listener);
  }

  /**
   * Changes the state. Steps that one wants to go back from get an entry in the history; moves do
   * not.
   */
  set(patch: Partial<State>, how: 'step'|'move' = 'step') {
    const before = this.state;
    if (how === 'step') this.flush();
    this.publish({...before, ...patch});
    if (how === 'step') {
      const fragment = formatState(this.state);
      if (fragment !== this.written) {
        this.written = fragment;
        this.win.history.pushState(null, '', fragment);
      }
    } else {
      this.win.clearTimeout(this.timer);
      this.timer = this.win.setTimeout(() => this.flush(), 250);
    }
  }

  setParam(key: string, value: string|null, how: 'step'|'move' = 'step') {
    const params = {...this.state.params};
    if (value === null || value === '')
      delete params[key];
    else
      params[key] = value;
    this.set({params}, how);
  }

  private flush() {
    this.win.clearTimeout(this.timer);
    const fragment = formatState(this.state);
    if (fragment === this.written) return;
    this.written = fragment;
    this.win.history.replaceState(null, '', fragment);
  }

  private publish(state: State) {
    const before = this.state;
    this.state = state;
    for (const listener of this.listeners) listener(state, before);
  }
}
