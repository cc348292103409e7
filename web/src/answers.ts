// The answers of the viewer's requests, as docs/serve-api.md describes them.

export interface Trace {
  name: string;
  begin_ns: number;
  end_ns: number;
  duration: number;
  events: number;
  goroutines: number;
  progress: number;
  complete: boolean;
  version: string;
  procs: number[];
  threads: number[];
  wall_begin: string|null;
  groups: number;
  tasks: number;
  states: string[];
  fault: string|null;
  note: string|null;
}

export type Totals = Record<string, number>;
export type Columns = Record<string, string>;

export interface Strip {
  begin: number;
  step: number;
  count: number;
  full: number;
  totals: Totals;
  columns: Columns;
  /** `max` and `most` are the largest numbers at one moment, from servers that know them. */
  runnable: {total: number, full: number, mean: string, max?: string, most?: number};
  metrics: Record<string, {full: number, max: string}>;
}

/** begin, duration, state, subject, name, cut */
export type SpanRow = [number, number, number, number, number, number];

/** The most rows that a command's answer has. */
export const MAX_ROWS = 10000;

export interface Lane {
  id: string;
  name: string;
  totals: Totals;
  full: number;
  columns: Columns;
  longest?: string;
  longest_states?: string;
  spans?: SpanRow[];
}

export interface Lanes {
  begin: number;
  step: number;
  count: number;
  names: string[];
  lanes: Lane[];
  skipped: string[];
}

export interface Group {
  id: string;
  name: string;
  goroutines: number;
  totals: Totals
}
export interface Groups {
  total: number;
  groups: Group[]
}
export interface Member {
  id: string;
  begin: number;
  end: number;
  begins: boolean;
  ends: boolean
}
export interface Members {
  total: number;
  members: Member[]
}
export interface Frame {
  func: string;
  file: string;
  line: number
}

export interface Cause {
  kind: string;
  lane?: string|null;
  at?: number|null;
  name?: string;
  p?: number|null;
  m?: number|null;
  stack?: Frame[];
}

export interface Place {
  lane: string;
  at: number
}

export interface Span {
  lane: string;
  name?: string;
  begin: number;
  end: number;
  begin_clipped?: boolean;
  /** When its goroutine was created; null if that is not in the trace. */
  created?: number|null;
  end_clipped?: boolean;
  state: string;
  go_state?: string;
  reason?: string;
  goroutine: number|null;
  p?: number|null;
  m?: number|null;
  stack?: Frame[];
  begun_by?: Cause|null;
  ended_by?: Cause|null;
  wakes?: {lane: string, at: number, name: string}[];
  previous?: Place|null;
  next?: Place|null;
}

/** time, from, to, runs */
export type ArrowRow = [number, number, number, number];
export interface Arrows {
  total: number;
  arrows: ArrowRow[]
}

/** begin, duration, name, count */
export type MarkRow = [number, number, number, number];
export interface Marks {
  names: string[];
  cycles: MarkRow[];
  stops: MarkRow[]
}

/** begin, duration, name, goroutine, depth */
export type RegionRow = [number, number, number, number, number];
export interface TaskLane {
  task: number;
  type: number;
  parent: number|null;
  begin: number;
  duration: number;
  begins: boolean;
  ends: boolean;
  goroutine: number|null;
  regions: RegionRow[];
}
export interface TaskLanes {
  total: number;
  names: string[];
  tasks: TaskLane[]
}

export interface Search {
  functions: string[];
  groups: {id: string, name: string, goroutines: number}[];
  goroutines: {id: string, name: string, at: number}[];
  tasks: {task: number, type: string, at: number, duration: number}[];
  regions: {type: string, count: number, lane: string, at: number}[];
  logs: {lane: string, at: number, task: number, text: string}[];
}

/** parent, name, value, self */
export type FlameRow = [number, number, number, number];
export interface Flame {
  unit: string;
  total: number;
  nodes_left_out: number;
  names: string[];
  nodes: FlameRow[]
}

/**
 * The answer of a command: its name, whether it is complete, and rows under a name that depends on
 * the command.
 */
export interface CommandAnswer {
  file: string;
  complete: boolean;
  error?: string;
  [rows: string]: unknown;
}
export type Row = Record<string, unknown>;

export interface Piece {
  begin_ns: number;
  end_ns: number;
  length_ns: number;
  depth: number;
  g: number|null;
  state: string;
  reason: string;
  woken_by: string;
  ran_ns: Record<string, number>;
  start: string;
  stack: string;
  function: string;
  file: string;
  line: number|null;
}

export interface Query {
  columns: string[];
  rows: unknown[][];
  more: boolean
}
