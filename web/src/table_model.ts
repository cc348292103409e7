// Tables: what columns the rows of a command have, and how they are sorted, filtered and written.
// Nothing here draws.

import {Row} from './answers';
import {codeOfGoState, STATE_LABELS, STATE_NAMES} from './colors';
import {bytes, count, duration} from './format';

export type Kind = 'moment'|'duration'|'bytes'|'count'|'id'|'share'|'text'|'stack'|'reasons'|
    'histogram'|'list'|'state'|'states'|'counts';

export interface Column {
  key: string;
  title: string;
  kind: Kind;
}

const TITLES: Record<string, string> = {
  g: 'G',
  p: 'P',
  m: 'M',
  name: 'started in',
  start: 'started in',
  count: 'count',
  blocked_total_ns: 'blocked',
  blocked_ns: 'blocked on',
  ranges_ns: 'ranges',
  duration_p50_ns: 'p50',
  duration_p90_ns: 'p90',
  duration_p99_ns: 'p99',
  duration_max_ns: 'max',
  duration_min_ns: 'min',
  runnable_ns: 'waiting to run',
  states: 'where the time went',
  stack: 'stack',
  blocked_at: 'blocked at',
  created_at: 'created at',
  histogram: 'distribution',
  length_ns: 'length',
  begin_ns: 'begin',
  pauses_ns: 'pause time',
  assists_ns: 'assist time',
  longest_pause_ns: 'longest pause',
  counts: 'over time',
  mmu: 'least utilization',
  worst_time_ns: 'worst at',
  window_ns: 'window',
  user_ns: 'user code',
  gc_ns: 'collector',
  assist_ns: 'assists',
  scheduler_ns: 'scheduler',
  gomaxprocs: 'GOMAXPROCS',
  time_ns: 'time',
  time_bytes: 'time',
  ran_ns: 'Ps ran meanwhile',
  function: 'function',
  wakers: 'woken by',
  holders: 'held by',
  ready_ns: 'waiting to run',
  program_ns: 'program ran',
  idle_ps_ns: 'idle Ps',
  victims: 'who waits',
  syscall_blocked_ns: 'syscall without P',
  until_ns: 'until',
  types_bytes: 'types',
};
/** What columns mean whose titles are not enough; docs/analyses.md has all. */
const MEANINGS: Record<string, string> = {
  count: 'how many there were',
  open: 'how many lack their begin or end here, and are in no percentile',
  clipped: 'how many began before this window, or had not ended when it did',
  counts: 'how many were blocked already at the begin, after each quarter, and at the end',
  histogram: 'how many there were of each length, from short to long',
  states: 'what the goroutines did in that time, in the colours of the legend',
  wasted_ns: 'how much of the idle time of Ps was while goroutines waited for one',
  ready_ns: 'how long goroutines were ready and did not run, for the reasons beside it',
  program_ns: 'while Ps ran other goroutines of the program',
  idle_ps_ns: 'although a P was idle',
  long_runs_ns: 'the same, in runs of 20 ms or more, beyond their first 10 ms',
  waited_ns: 'how long others were ready because of its long runs',
  peers_waited_ns: 'the part of that of goroutines that started in the same function',
  holders: 'who kept them waiting, and what these did meanwhile',
  victims: 'the functions in which those who waited started',
  last_p: 'the P that stopped last',
  last_p_stop_ns: 'how long it took until that P had stopped',
  last_g: 'the goroutine that ran on that P',
  last_function: 'where that goroutine was',
  mmu: 'the least share of its Ps that the program had in any window of that length',
  depth: 'how many goroutines away from the one that the path is of',
  ran_ns: 'who ran on the Ps while it waited for one',
  steals: 'how often the P was taken from a thread in a syscall',
};
const IDS = new Set([
  'g', 'p', 'm', 'task', 'parent', 'end_g', 'cycle', 'last_p', 'ended_by_g', 'child', 'waker',
  'line', 'depth', 'age', 'last_g'
]);
const MOMENTS = new Set([
  'begin_ns', 'end_ns', 'start_ns', 'creation_ns', 'worst_time_ns', 'since_ns', 'longest_begin_ns'
]);
const STACKS = new Set(['stack', 'blocked_at', 'created_at', 'ended_by_stack']);
const SHARES = new Set(['mmu', 'occupancy', 'share', 'utilization']);

/**
 * The kind of a column follows from its name, as docs/analyses.md has it, and from its first
 * value.
 */
export function kindOf(key: string, value: unknown): Kind {
  if (key === 'states') return 'states';
  if (key === 'state') return 'state';
  if (key === 'counts') return 'counts';
  if (MOMENTS.has(key)) return 'moment';
  if (STACKS.has(key)) return 'stack';
  if (SHARES.has(key)) return 'share';
  if (IDS.has(key)) return 'id';
  if (key === 'histogram') return 'histogram';
  if (Array.isArray(value)) return 'list';
  if (value !== null && typeof value === 'object') return 'reasons';
  if (key.endsWith('_ns')) return 'duration';
  if (key.endsWith('_bytes') || key === 'bytes') return 'bytes';
  if (typeof value === 'number') return 'count';
  return 'text';
}

export function titleOf(key: string): string {
  return TITLES[key] ?? key.replace(/_(ns|bytes)$/, '').replace(/_/g, ' ');
}

/** The name of a column in the output of commands, and what it means. */
export function meaningOf(key: string): string {
  return MEANINGS[key] ? `${MEANINGS[key]} (${key})` : key;
}

/** All columns that rows have; those of `first` come first. */
export function columnsOf(rows: Row[], first: string[]): Column[] {
  const keys = new Map<string, unknown>();
  for (const row of rows.slice(0, 200)) {
    for (const key of Object.keys(row))
      if (!keys.has(key) || keys.get(key) === null) keys.set(key, row[key]);
  }
  if (keys.has('running_ns') && keys.has('runnable_ns')) keys.set('states', null);
  if (keys.has('user_ns') && keys.has('idle_ns')) keys.set('states', null);
  const order = [
    ...first.filter((key) => keys.has(key)),
    ...[...keys.keys()].filter((key) => !first.includes(key))
  ];
  return order.map((key) => ({key, title: titleOf(key), kind: kindOf(key, keys.get(key))}));
}

/** What a state column draws: codes of states with times. */
export function statesOf(row: Row): [number, number][] {
  const n = (key: string) => Number(row[key] ?? 0) || 0;
  const reasons = (row['blocked_ns'] ?? {}) as Record<string, number>;
  const network = Number(reasons['network'] ?? 0) || 0;
  const isCollector = row['name'] === 'runtime.gcBgMarkWorker';
  const all: [number, number][] = 'user_ns' in row ?
      [
        [1, n('user_ns')], [6, n('gc_ns')], [7, n('assist_ns')], [3, n('syscall_ns')],
        [8, n('scheduler_ns')], [9, n('stopped_ns')], [0, n('idle_ns')]
      ] :
      [
        [isCollector ? 6 : 1, n('running_ns')], [2, n('runnable_ns')],
        [3, n('syscall_ns') + n('syscall_blocked_ns')], [4, network],
        [5, (n('blocked_total_ns') || n('waiting_ns')) - network],
        [9, n('stopped_total_ns') || n('stopped_ns')]
      ];
  // Of a task counts what is in its regions.
  if (typeof row['counted'] === 'string' && typeof row['duration_ns'] === 'number')
    all.push([0, row['duration_ns'] - all.reduce((sum, [, ns]) => sum + ns, 0)]);
  return all.filter(([, ns]) => ns > 0);
}

/** What a state of statesOf() is called. */
export function stateTitle(row: Row, code: number): string {
  return code === 0 && 'counted' in row ? 'outside of its regions' :
                                          STATE_LABELS[STATE_NAMES[code]!]!;
}

/** The code of the state that a row such as a piece of a critical path is about. */
export function stateOf(row: Row): number {
  return codeOfGoState(
      String(row['state'] ?? ''), String(row['reason'] ?? ''), String(row['start'] ?? ''));
}

/** What a row's state is called; the trace may not say which one it was. */
function stateLabel(row: Row): string {
  const code = stateOf(row);
  return code === 0 ? String(row['state'] ?? '') : STATE_LABELS[STATE_NAMES[code]!]!;
}

/** The length of the shortest row, and at least a millisecond, whose thousandth people can read. */
export function shortestOf(rows: Row[]): number {
  const lengths = rows.map((r) => Number(r['length_ns'] ?? r['duration_ns'] ?? 0));
  const shortest = lengths.filter((ns) => ns > 0).reduce((a, b) => Math.min(a, b), Infinity);
  return shortest === Infinity ? 1e6 : Math.max(1e6, shortest);
}

/** The entry of an object with the largest number, with the sum of all. */
export function largest(value: unknown): {name: string, value: number, sum: number}|null {
  let best: {name: string, value: number, sum: number}|null = null, sum = 0;
  if (value === null || typeof value !== 'object') return null;
  for (const [name, n] of Object.entries(value as Record<string, unknown>)) {
    if (typeof n !== 'number') continue;
    sum += n;
    if (!best || n > best.value) best = {name, value: n, sum: 0};
  }
  return best && {...best, sum};
}

/**
 * Entries of lists such as holders: the name and the time of the first, what it did, and how many
 * more there are.
 */
export function firstOf(value: unknown): {name: string, time: number, more: number}|null {
  if (!Array.isArray(value) || !value.length) return null;
  const first = value[0] as unknown;
  if (first === null || typeof first !== 'object')
    return {name: String(first), time: 0, more: value.length - 1};
  const row = first as Row;
  const did = String(row['reason'] || (row['state'] ? stateLabel(row) : ''));
  return {
    name: String(row['function'] ?? row['start'] ?? row['name'] ?? row['g'] ?? '') +
        (did ? `: ${did}` : ''),
    time: Number(row['time_ns'] ?? 0) || 0,
    more: value.length - 1
  };
}

/** What a cell sorts by. */
export function sortValue(column: Column, row: Row): number|string {
  const value = row[column.key];
  switch (column.kind) {
    case 'states':
      return statesOf(row).reduce((sum, [, ns]) => sum + ns, 0);
    case 'reasons':
      return largest(value)?.value ?? -1;
    case 'list':
      return firstOf(value)?.time ?? -1;
    case 'histogram':
      return Number(row['p99_ns'] ?? row['max_ns'] ?? 0) || 0;
    case 'counts':
      return Array.isArray(value) ? Number(value[value.length - 1]) || 0 : 0;
    case 'state':
      return stateLabel(row);
    case 'text':
    case 'stack':
      return String(value ?? '');
    default:
      return value === null || value === undefined ? -Infinity : Number(value);
  }
}

/**
 * The innermost frames of a stack, whose last one is the innermost. Those of the runtime come only
 * where there are no others, since all stacks that end in the same way would look alike.
 */
export function shownFrames(frames: string[], most = 3): string[] {
  const isRuntime = (name: string) => /^(runtime\.|internal\/)/.test(name);
  const inner = frames.slice().reverse();
  const first = inner.findIndex((name) => !isRuntime(name));
  return inner.slice(Math.max(0, first)).slice(0, most);
}

export function sortRows(rows: Row[], column: Column, descending: boolean): Row[] {
  const keyed = rows.map((row, i) => ({row, i, value: sortValue(column, row)}));
  keyed.sort((a, b) => {
    const order = a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
    return (descending ? -order : order) || a.i - b.i;
  });
  return keyed.map((k) => k.row);
}

/**
 * A cell as text, as filters see it; moments are left to the page, since it knows the begin of the
 * trace.
 */
export function cellText(column: Column, row: Row): string {
  const value = row[column.key];
  if (value === null || value === undefined) return '';
  switch (column.kind) {
    case 'duration':
      return duration(Number(value));
    case 'bytes':
      return bytes(Number(value));
    case 'count':
      return Number.isInteger(value) ? count(Number(value)) : String(value);
    case 'share':
      return `${(Number(value) * 100).toFixed(1)} %`;
    case 'reasons': {
      const top = largest(value);
      return top ? top.name || '(unknown)' : '';
    }
    case 'list': {
      const first = firstOf(value);
      return first ? first.name : '';
    }
    case 'counts':
      return Array.isArray(value) ? value.join(' ') : '';
    case 'histogram':
    case 'states':
      return '';
    case 'state':
      return stateLabel(row);
    case 'text':
      return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
    default:
      return String(value);
  }
}

/** The rows in which some text has all words of the filter, in any case. */
export function filterRows(rows: Row[], columns: Column[], filter: string): Row[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return rows;
  const texts =
      columns.filter((c) => ['text', 'stack', 'reasons', 'list', 'id', 'state'].includes(c.kind));
  return rows.filter((row) => {
    const all = texts
                    .map(
                        (c) => c.kind === 'reasons' ?
                            Object.keys((row[c.key] as object | null) ?? {}).join(' ') :
                            cellText(c, row))
                    .join('\n')
                    .toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

export interface Histogram {
  scale: number;
  offset: number;
  counts: number[]
}

/** The bounds of a bucket, in ns. */
export function bucketBounds(histogram: Histogram, i: number): {from: number, to: number} {
  const b = histogram.offset + i, base = 2 ** histogram.scale;
  return {from: b === 0 ? 0 : 2 ** (b / base), to: 2 ** ((b + 1) / base)};
}

/** A histogram in at most `bars` bars between 2^first and 2^last ns: [sum of counts, from, to]. */
export function bars(histogram: Histogram, first: number, last: number, number: number):
    {n: number, from: number, to: number}[] {
  const out = Array.from({length: number}, (_, i) => ({
                                             n: 0,
                                             from: 2 ** (first + (last - first) * i / number),
                                             to: 2 ** (first + (last - first) * (i + 1) / number)
                                           }));
  const base = 2 ** histogram.scale;
  histogram.counts.forEach((n, i) => {
    const middle = (histogram.offset + i + 0.5) / base;
    const k = Math.floor((middle - first) / (last - first) * number);
    out[Math.max(0, Math.min(number - 1, k))]!.n += n;
  });
  return out;
}

/** The powers of two between which all durations of some histograms are. */
export function bounds(histograms: Histogram[]): {first: number, last: number} {
  let first = Infinity, last = -Infinity;
  for (const {scale, offset, counts} of histograms) {
    counts.forEach((n, i) => {
      if (!n) return;
      first = Math.min(first, Math.floor((offset + i) / 2 ** scale));
      last = Math.max(last, Math.ceil((offset + i + 1) / 2 ** scale));
    });
  }
  return first < last ? {first, last} : {first: 0, last: 30};
}
