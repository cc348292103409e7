// Finds what is at a place of the timeline, and says what the tip shows about it.

import {MarkRow} from './answers';
import {App, tickText} from './app';
import {STATE_LABELS} from './colors';
import {LaneTile, sharesAt, spanAt, WholeSpan, wholeSpans} from './decode';
import {bytes, count, duration, exactDuration, laneName, percent} from './format';
import {Row, Scale} from './layout';
import {Tiles} from './tiles';
import {TimelineData} from './timeline_data';

type Lane = Row&{kind: 'lane'};
type Group = Row&{kind: 'group'};

/** The finest tile of a lane that is there at a time. */
export function laneTile(tiles: Tiles, scale: Scale, row: Lane|Group, t: number): LaneTile|null {
  for (const {lanes} of tiles.cover(row.unit, scale).reverse()) {
    const lane = lanes.get(row.id);
    if (lane && t >= lane.begin && t < lane.begin + lane.step * lane.count) return lane;
  }
  return null;
}

/** The span of a lane at a time, put together from all tiles of the finest level that is there. */
export function spanOf(tiles: Tiles, scale: Scale, row: Lane, t: number): WholeSpan|null {
  const tile = laneTile(tiles, scale, row, t);
  const span = tile && spanAt(tile, t);
  if (!tile || !span) return null;
  const level = tiles.cover(row.unit, scale)
                    .map((c) => c.lanes.get(row.id))
                    .filter((lane): lane is LaneTile => lane?.step === tile.step);
  return wholeSpans(level).find((s) => s.begin <= t && t < s.end) ?? {
    begin: span[0],
    end: span[0] + span[1],
    state: span[2],
    subject: span[3],
    name: tile.names[span[4]] ?? '',
    cut: span[5]
  };
}

/** The mark at a time, or a few pixels away. */
export function markAt(marks: MarkRow[], {nsPerPixel}: Scale, t: number): MarkRow|undefined {
  const away = (m: MarkRow) => Math.max(0, m[0] - t, t - m[0] - m[1]);
  return marks.filter((m) => away(m) <= nsPerPixel * 3).sort((a, b) => away(a) - away(b))[0];
}

/** A line of the tip. Names wrap, since they can be long; a state has a mark of its colour. */
export interface TipLine {
  text: string;
  look?: 'dim'|'name'|'name dim';
  state?: string;
}

function stateLine(app: App, code: number, text: (label: string) => string): TipLine {
  const state = app.trace.states[code] ?? '';
  return {state, text: text(STATE_LABELS[state] ?? state)};
}

function laneLines(app: App, tiles: Tiles, scale: Scale, row: Lane, t: number): TipLine[] {
  const goroutine = row.id.startsWith('g:');
  const tile = laneTile(tiles, scale, row, t), span = spanOf(tiles, scale, row, t);
  const lines: TipLine[] = [];
  if (span) {
    const length = `${span.cut ? 'more than ' : ''}${exactDuration(span.end - span.begin)}`;
    lines.push(stateLine(app, span.state, (label) => `${label} ${length}`));
    const who = span.subject >= 0 ? `${goroutine ? 'on P' : 'G'} ${span.subject}` : '';
    if (span.name || who)
      lines.push({text: [who, span.name.slice(0, 300)].filter(Boolean).join(' '), look: 'name'});
  } else if (tile) {
    const shares = sharesAt(tile, t);
    for (const [code, share] of shares)
      lines.push(stateLine(app, code, (label) => `${label} ${percent(share, 1)}`));
    lines.push(
        shares.length ? {text: `of the ${duration(tile.step)} here`, look: 'dim'} :
                        {text: goroutine ? 'not there' : 'idle', state: 'idle'});
  }
  const when = tickText(app, t, Math.max(1, scale.nsPerPixel));
  lines.push({text: `${row.name || laneName(row.id)} at ${when}`, look: 'dim'});
  return lines;
}

function groupLines(app: App, tiles: Tiles, scale: Scale, row: Group, t: number): TipLine[] {
  const tile = laneTile(tiles, scale, row, t);
  const lines: TipLine[] = [];
  if (tile) {
    for (const [code, share] of sharesAt(tile, t)) {
      const n = share * tile.full / tile.step;
      const number = n < 9.95 ? n.toFixed(2) : count(Math.round(n));
      lines.push(stateLine(app, code, (label) => `${number} ${label}`));
    }
  }
  const name = row.name.slice(0, 300) || '(unknown)';
  lines.push({text: `${name}: ${count(row.goroutines)} goroutines in the trace`, look: 'name dim'});
  return lines;
}

/** Returns the lines of the tip for a place in a row: none if there is no tip. */
export function tipLines(
    app: App, data: TimelineData, scale: Scale, row: Row, x: number): TipLine[] {
  if (x < scale.left)
    return row.kind === 'group' ? [{text: row.name.slice(0, 1200), look: 'name'}] : [];
  const t = scale.time(x);
  switch (row.kind) {
    case 'lane':
      return laneLines(app, data.tiles, scale, row, t);
    case 'group':
      return groupLines(app, data.tiles, scale, row, t);
    case 'cycles':
    case 'stops': {
      const mark = markAt(data.marks[row.kind], scale, t);
      if (!mark) return [];
      const [, length, name, marks] = mark, time = exactDuration(length);
      return [
        {text: marks > 1 ? `${count(marks)} of them within ${time}` : time},
        {text: data.marks.names[name] ?? '', look: 'dim'}
      ];
    }
    case 'counter': {
      if (!data.counters) return [];
      const {strip, heap, goal} = data.counters;
      const k = Math.floor((t - strip.begin) / strip.step);
      if (k < 0 || k >= strip.count) return [];
      const value = (name: string, values: Uint8Array) =>
          bytes(Math.round(values[k]! / 255 * (strip.metrics[name]?.full ?? 0)));
      return [
        {text: `heap ${value('heap', heap)}`}, {text: `goal ${value('goal', goal)}`, look: 'dim'}
      ];
    }
    case 'task': {
      const {tasks, names} = data.tasks, task = tasks[row.index];
      if (!task) return [];
      const nameOf = (name: number) => (names[name] ?? '').slice(0, 300);
      const title = `${nameOf(task.type)} ${task.task}: ${exactDuration(task.duration)}`;
      const regions = task.regions.filter((r) => r[0] <= t && t < r[0] + r[1]).map((r): TipLine => {
        const text = `region ${nameOf(r[2])}, ${duration(r[1])} on G ${r[3]}`;
        return {text, look: 'name dim'};
      });
      return [{text: title, look: 'name'}, ...regions];
    }
    default:
      return [];
  }
}
