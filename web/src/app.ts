// What all parts of the page share.

import {Trace} from './answers';
import {Palette} from './colors';
import {moment, tickLabel, wallClock} from './format';
import {Params, Requests} from './requests';
import {clampWindow, State, Store, View, windowOf} from './state';

export interface ViewPart {
  /**
   * Called when the view is shown, and when the state, the trace or the colours change while it
   * is.
   */
  update(state: State, before: State|null): void;
  /** Keys that only this view has; returns whether it used the key. */
  key?(event: KeyboardEvent): boolean;
  hide?(): void;
}

export interface App {
  readonly store: Store;
  readonly requests: Requests;
  trace: Trace;
  palette: Palette;
  filter: SpanFilter;
  /** Shows a message for a moment, where it does not move anything. */
  say(text: string): void;
  focusSearch(): void;
  toggleHelp(): void;
}

/** What spans are dimmed: all that do not match. */
export interface SpanFilter {
  state: number|null;
  text: string;
  min: number
}

export function parseFilter(
    params: Record<string, string>, parse: (text: string) => number | null): SpanFilter {
  const state = Number(params['timeline.state'] ?? '');
  return {
    state: Number.isInteger(state) && state > 0 && state < 10 ? state : null,
    text: (params['timeline.filter'] ?? '').toLowerCase(),
    min: parse(params['timeline.min'] ?? '') ?? 0
  };
}

export function filters(filter: SpanFilter): boolean {
  return filter.state !== null || filter.text !== '' || filter.min > 0;
}

/** The filter of a lane: if its own name matches, so does all that is in it. */
export function filterOfLane(filter: SpanFilter, name: string): SpanFilter {
  const matches = filter.text !== '' && name.toLowerCase().includes(filter.text);
  return matches ? {...filter, text: ''} : filter;
}

export function currentWindow(app: App): {from: number, to: number} {
  return windowOf(app.store.state, app.trace.duration);
}

export function setWindow(app: App, from: number, to: number, how: 'step'|'move' = 'step') {
  const end = app.trace.duration;
  const w = clampWindow(from, to, end);
  const whole = w.from <= 0 && w.to >= end;
  app.store.set(whole ? {from: null, to: null} : {from: w.from, to: w.to}, how);
}

/** The parameters of a request for the window: none for the whole trace. */
export function windowParams(state: State, end: number): Params {
  if (state.from === null || state.to === null) return [];
  const {from, to} = windowOf(state, end);
  return [['from', Math.floor(from)], ['to', Math.ceil(to)]];
}

/** A time of the trace's clock, as commands print it, as one since the trace began. */
export function sinceBegin(app: App, clock: number): number {
  return clock - app.trace.begin_ns;
}

/**
 * A moment as text: since the trace began, since the window did, or by the clock on the wall. As
 * exact as what is `length` long needs, by default the window.
 */
export function momentText(app: App, ns: number, length = Infinity): string {
  const {from, to} = currentWindow(app);
  const span = Math.min(length, to - from);
  const {clock} = app.store.state;
  if (clock === 'wall' && app.trace.wall_begin)
    return wallClock(app.trace.wall_begin, ns, Math.max(1, span / 1e4));
  return clock === 'window' ? moment(ns - from, span, to - from) :
                              moment(ns, span, app.trace.duration);
}

/** A moment as momentText() has it, but only as exact as an axis with ticks every `step` needs. */
export function tickText(app: App, ns: number, step: number): string {
  const {from, to} = currentWindow(app);
  const {clock} = app.store.state;
  if (clock === 'wall' && app.trace.wall_begin) return wallClock(app.trace.wall_begin, ns, step);
  return clock === 'window' ? tickLabel(ns - from, step, to - from) : tickLabel(ns, step, to);
}

/** Goes to the goroutines of a group in the timeline. */
export function showGroup(app: App, id: string) {
  const {open, params} = app.store.state;
  app.store.set({
    view: 'timeline',
    lane: null,
    at: null,
    task: null,
    open: open.includes(id) ? open : [...open, id],
    params: {...params, 'timeline.group': id}
  });
}

/** Goes to a place in the timeline, and shows enough around it. */
export function showPlace(app: App, place: {
  lane?: string|null, from: number,
  to?: number,
  task?: string|null,
  path?: string|null,
  view?: View
}) {
  const {from, to} = currentWindow(app);
  const end = place.to ?? place.from;
  const length = Math.max(0, end - place.from);
  const patch: Partial<State> = {view: place.view ?? 'timeline'};
  if (place.lane) {
    patch.lane = place.lane;
    patch.at = Math.max(0, Math.round(place.from));
    patch.task = null;
  }
  if (place.task !== undefined) patch.task = place.task;
  if (place.path !== undefined) patch.path = place.path;
  // The window stays if the place can be seen well in it.
  const seen = place.from >= from && end <= to && length > (to - from) / 50;
  if (!seen) {
    const room = Math.max(length * 1.5, length === 0 ? (to - from) / 20 : 0, 100);
    const w = clampWindow(
        (place.from + end) / 2 - room, (place.from + end) / 2 + room, app.trace.duration);
    patch.from = w.from;
    patch.to = w.to;
  }
  app.store.set(patch);
}
