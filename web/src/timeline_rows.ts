// Which rows the timeline has, and in what order.

import {Group, MarkRow, MAX_ROWS} from './answers';
import {App, currentWindow} from './app';
import {count, plural} from './format';
import {LayoutInput} from './layout';
import {TimelineData} from './timeline_data';

/** The most goroutines of a critical path that have rows. */
const MAX_PATH_LANES = 24;

/** Sorts groups by name, or by the time in a state; without an order, they stay as they are. */
export function sortedGroups(groups: Group[], order: string): Group[] {
  if (order === '') return groups;
  return [...groups].sort(
      order === 'name' ? (a, b) => a.name < b.name ? -1 : 1 :
                         (a, b) => (b.totals[order] ?? 0) - (a.totals[order] ?? 0));
}

/** Returns what the layout of rows in a view of a height depends on. */
export function layoutInput(app: App, data: TimelineData, viewHeight: number): LayoutInput {
  const {store: {state}, trace} = app, {marks, tasks, pieces} = data;
  const goroutines = new Set(pieces.flatMap((p) => p.g ?? []));
  const pathLanes = [...goroutines].slice(0, MAX_PATH_LANES).map((g) => `g:${g}`);
  const [pathKind, pathId] = data.pathOf.split(':');
  const groups = sortedGroups(data.groups, state.params['timeline.sort'] ?? '');
  const hideIdle = state.params['timeline.idle'] === 'hide';
  const {from, to} = currentWindow(app);
  const inWindow = (rows: MarkRow[]) =>
      rows.filter((r) => r[0] < to && r[0] + r[1] > from).reduce((sum, r) => sum + r[3], 0);
  return {
    viewHeight,
    procs: trace.procs,
    threads: trace.threads,
    groups: hideIdle ? groups.filter((g) => data.peak(g.id) !== 0) : groups,
    moreGroups: data.totalGroups - data.groups.length,
    members: data.members,
    tasks: tasks.tasks.length,
    totalTasks: trace.tasks,
    pinned: state.pin,
    pathLanes,
    pathTitle: `Path of ${pathKind === 'task' ? 'task' : 'G'} ${pathId ?? ''}`,
    selected: state.lane,
    toggled: new Set(state.open),
    notes: {
      procs: count(trace.procs.length),
      collector: `${plural(inWindow(marks.cycles), 'mark phase')}, ${
          plural(inWindow(marks.stops), 'stop of the world', 'stops of the world')}`,
      tasks: tasks.total ?
          `the longest ${count(tasks.tasks.length)} of ${count(tasks.total)} in the window` :
          '',
      goroutines: 'by the function that they started in, with how many were not blocked at most',
      threads: count(trace.threads.length),
      path: `${pieces.length < MAX_ROWS ? '' : 'the first '}${plural(pieces.length, 'piece')} on ${
          plural(pathLanes.length, 'goroutine')}`,
    },
  };
}
