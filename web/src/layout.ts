// Where the rows of the timeline are. Nothing here draws or asks.

import {laneName} from './format';

export type Row = {
  y: number,
  height: number
}&(|{kind: 'section', id: string, title: string, note: string, open: boolean}
   /**
      A lane of its own, or a goroutine of a group. `unit` is what it is asked for together with.
    */
   |{kind: 'lane', id: string, unit: string, name: string, indent: number, pinned: boolean}|
   {kind: 'group', id: string, unit: string, name: string, goroutines: number, open: boolean}
   /** Goroutines of an open group that are not known yet, `count` of them. */
   |{kind: 'members', group: string, first: number, count: number}|{kind: 'task', index: number}|
   {kind: 'cycles'}|{kind: 'stops'}|{kind: 'counter', id: 'heap' | 'runnable'}|
   {kind: 'note', text: string});

type Content = Row extends infer R ?
    R extends {y: number, height: number} ? Omit<R, 'y'|'height'>: never :
    never;

export const ROW = {
  section: 20,
  lane: 22,
  group: 34,
  member: 18,
  task: 22,
  marks: 18,
  counter: 34,
  note: 20
};

export interface LayoutInput {
  /** Groups share the height that is left. */
  viewHeight: number;
  procs: number[];
  threads: number[];
  groups: {id: string, name: string, goroutines: number}[];
  /** How many groups are not among them, since the trace has more than are listed. */
  moreGroups: number;
  /** Members of open groups, as far as they are known, with how many there are. */
  members: Map<string, {total: number, pages: Map<number, {id: string}[]>}>;
  tasks: number;
  totalTasks: number;
  pinned: string[];
  pathLanes: string[];
  pathTitle: string;
  /** The lane that is selected, if it is a goroutine: it has a row of its own. */
  selected: string|null;
  toggled: ReadonlySet<string>;
  notes: Record<string, string>;
}

/** Groups are at most this high, in pixels. */
const MAX_GROUP = 80;

export const UNIT_LANES = 16;

/** How many lanes one request may have. */
const MAX_LANES = 256;
export const MEMBER_PAGE = 100;
const CLOSED = new Set(['threads']);

export function isOpen(toggled: ReadonlySet<string>, id: string): boolean {
  return (CLOSED.has(id) || id.startsWith('group:')) === toggled.has(id);
}

/** Splits ids into the units in which they are asked for. */
export function unitOf(ids: string[], index: number): string {
  const first = Math.floor(index / UNIT_LANES) * UNIT_LANES;
  return ids.slice(first, first + UNIT_LANES).join(',');
}

/**
 * How high groups are. It does not depend on which of them are open, so that they stay as they are
 * when one opens.
 */
function groupHeight(input: LayoutInput): number {
  if (!input.groups.length) return ROW.group;
  const closed = new Set([...input.toggled].filter((id) => !id.startsWith('group:')));
  const left = input.viewHeight - place({...input, toggled: closed}, ROW.group).height;
  return Math.min(MAX_GROUP, ROW.group + Math.max(0, Math.floor(left / input.groups.length)));
}

export function layout(input: LayoutInput): {rows: Row[], height: number} {
  return place(input, groupHeight(input));
}

function place(input: LayoutInput, group: number): {rows: Row[], height: number} {
  const rows: Row[] = [];
  let y = 0;
  const add = (height: number, content: Content) => {
    rows.push({...content, y, height} as Row);
    y += height;
  };
  const section = (id: string, title: string): boolean => {
    const open = isOpen(input.toggled, id);
    add(ROW.section, {kind: 'section', id, title, note: input.notes[id] ?? '', open});
    return open;
  };
  const lanes = (ids: string[], pinned: boolean, height = ROW.member) => ids.forEach(
      (id, i) => add(
          height, {kind: 'lane', id, unit: unitOf(ids, i), name: laneName(id), indent: 1, pinned}));
  // All Ps or threads are asked for together, unless they are more than one request may have.
  const every = (kind: 'p'|'m', numbers: number[]) => {
    const ids = numbers.map((n) => `${kind}:${n}`);
    ids.forEach((id, i) => add(ROW.lane, {
                  kind: 'lane',
                  id,
                  unit: ids.length <= MAX_LANES ? `${kind}:*` : unitOf(ids, i),
                  name: laneName(id),
                  indent: 1,
                  pinned: false
                }));
  };
  if (input.pathLanes.length && section('path', input.pathTitle)) lanes(input.pathLanes, false);
  const own = input.selected && input.selected.startsWith('g:') &&
          !input.pinned.includes(input.selected) && !input.pathLanes.includes(input.selected) ?
      [input.selected] :
      [];
  // It keeps its place while nothing is selected, so that a click does not move the lanes.
  if (input.pinned.length || own.length || input.groups.length) {
    if (section('pinned', input.pinned.length ? 'Pinned' : 'Selected')) {
      lanes(input.pinned, true);
      lanes(own, false);
      if (!input.pinned.length && !own.length) {
        add(ROW.member, {kind: 'note', text: 'click a span: its goroutine is shown here'});
      }
    }
  }
  if (input.procs.length && section('procs', 'Ps')) {
    every('p', input.procs);
  }
  if (section('collector', 'Collector')) {
    add(ROW.marks, {kind: 'cycles'});
    add(ROW.marks, {kind: 'stops'});
    add(ROW.counter, {kind: 'counter', id: 'heap'});
  }
  if (input.totalTasks > 0 && section('tasks', 'Tasks')) {
    for (let i = 0; i < input.tasks; i++) add(ROW.task, {kind: 'task', index: i});
    if (input.tasks === 0) add(ROW.note, {kind: 'note', text: 'no task is open in this window'});
  }
  if (section('goroutines', 'Goroutines')) {
    const ids = input.groups.map((g) => g.id);
    input.groups.forEach(({id, name, goroutines}, i) => {
      const open = isOpen(input.toggled, id);
      add(group, {kind: 'group', id, unit: unitOf(ids, i), name, goroutines, open});
      if (!open) return;
      const known = input.members.get(id);
      if (!known) {
        add(ROW.note, {kind: 'members', group: id, first: 0, count: 1});
        return;
      }
      for (let first = 0; first < known.total; first += MEMBER_PAGE) {
        const page = known.pages.get(first / MEMBER_PAGE);
        const count = Math.min(MEMBER_PAGE, known.total - first);
        if (!page) {
          add(ROW.member * count, {kind: 'members', group: id, first, count});
          continue;
        }
        const lanesOfPage = page.map((m) => m.id);
        lanesOfPage.forEach((id, k) => add(ROW.member, {
                              kind: 'lane',
                              id,
                              unit: unitOf(lanesOfPage, k),
                              name: '',
                              indent: 2,
                              pinned: false
                            }));
      }
    });
    if (input.moreGroups > 0) {
      add(ROW.note, {kind: 'note', text: `${input.moreGroups} more functions: search for one`});
    }
  }
  if (input.threads.length && section('threads', 'Threads')) every('m', input.threads);
  return {rows, height: y};
}

/** The row at a height, or null beyond the last one. */
export function rowAt(rows: Row[], y: number): Row|null {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.y <= y)
      low = middle + 1;
    else
      high = middle;
  }
  const row = rows[low - 1];
  return row && y < row.y + row.height ? row : null;
}

/** The rows that are at least partly between two heights. */
export function visibleRows(rows: Row[], top: number, bottom: number): Row[] {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.y + rows[middle]!.height <= top)
      low = middle + 1;
    else
      high = middle;
  }
  const out: Row[] = [];
  for (let i = low; i < rows.length && rows[i]!.y < bottom; i++) out.push(rows[i]!);
  return out;
}

/** Maps times to pixels. */
export class Scale {
  constructor(
      readonly from: number, readonly to: number, readonly left: number, readonly width: number) {}
  get nsPerPixel(): number {
    return (this.to - this.from) / Math.max(1, this.width);
  }
  x(time: number): number {
    return this.left + (time - this.from) / (this.to - this.from) * this.width;
  }
  time(x: number): number {
    return this.from + (x - this.left) / Math.max(1, this.width) * (this.to - this.from);
  }
}

export function ticks(
    scale: Scale, pixels: number,
    step: (nsPerPixel: number, pixels: number) => number): {step: number, times: number[]} {
  const size = step(scale.nsPerPixel, pixels);
  const times: number[] = [];
  for (let t = Math.ceil(scale.from / size) * size; t <= scale.to && times.length < 200; t += size)
    times.push(t);
  return {step: size, times};
}
