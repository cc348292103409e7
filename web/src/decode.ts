// Answers as the timeline draws them: Base64 becomes bytes, and lanes are found by their ids.

import {Columns, Lanes, SpanRow} from './answers';

const VALUES = new Uint8Array(128).fill(255);
'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.split('').forEach((c, i) => {
  VALUES[c.charCodeAt(0)] = i;
});

/**
 * The bytes of a Base64 text, cut or filled with zeros to `length`, since a broken answer must not
 * break drawing.
 */
export function decodeBytes(text: string, length: number): Uint8Array {
  const out = new Uint8Array(length);
  let bits = 0, have = 0, at = 0;
  for (let i = 0; i < text.length && at < length; i++) {
    const code = text.charCodeAt(i);
    const value = code < 128 ? VALUES[code]! : 255;
    if (value === 255) break;
    bits = (bits << 6 | value) & 0xffffff;
    have += 6;
    if (have >= 8) {
      have -= 8;
      out[at++] = bits >> have & 255;
    }
  }
  return out;
}

/** Columns by the code of their state, in ascending order of codes. */
export function decodeColumns(
    columns: Columns, states: string[], count: number): [number, Uint8Array][] {
  const out: [number, Uint8Array][] = [];
  for (const name of Object.keys(columns)) {
    const code = states.indexOf(name);
    if (code > 0) out.push([code, decodeBytes(columns[name]!, count)]);
  }
  return out.sort((a, b) => a[0] - b[0]);
}

export interface LaneTile {
  id: string;
  name: string;
  begin: number;
  step: number;
  count: number;
  full: number;
  columns: [number, Uint8Array][];
  longest: Uint8Array|null;
  longestStates: Uint8Array|null;
  spans: SpanRow[];
  /** The names that spans refer to. */
  names: string[];
  /** The largest number of goroutines in a column, for groups. */
  peak: number;
  /** Spans that are drawn with their names, and those that go on in the next tile. */
  wide: SpanRow[];
}

/** Spans of at least so many columns are drawn with their names. */
export const WIDE_COLUMNS = 12;

export interface WholeSpan {
  begin: number;
  end: number;
  state: number;
  subject: number;
  name: string;
  /** 1 if it began before what is known, plus 2 if it goes on after that. */
  cut: number;
}

/** The wide spans of tiles that follow each other, with those that tiles cut put together. */
export function wholeSpans(tiles: LaneTile[]): WholeSpan[] {
  const out: WholeSpan[] = [];
  for (const tile of tiles) {
    for (const [begin, length, state, subject, name, cut] of tile.wide) {
      const last = out[out.length - 1], text = tile.names[name] ?? '';
      if (last && (cut & 1) !== 0 && (last.cut & 2) !== 0 && last.end === begin &&
          last.state === state && last.subject === subject && last.name === text) {
        last.end = begin + length;
        last.cut = (last.cut & 1) | (cut & 2);
      } else
        out.push({begin, end: begin + length, state, subject, name: text, cut});
    }
  }
  return out;
}

/** Groups show who is at work or wants to be: goroutines that are blocked would hide them. */
export const GROUP_STATES = [1, 6, 7, 3, 2];

export function decodeLanes(answer: Lanes, states: string[]): Map<string, LaneTile> {
  const out = new Map<string, LaneTile>();
  for (const lane of answer.lanes) {
    const columns = decodeColumns(lane.columns, states, answer.count);
    const tile: LaneTile = {
      id: lane.id,
      name: lane.name,
      begin: answer.begin,
      step: answer.step,
      count: answer.count,
      full: lane.full,
      columns,
      longest: lane.longest ? decodeBytes(lane.longest, answer.count) : null,
      longestStates: lane.longest_states ? decodeBytes(lane.longest_states, answer.count) : null,
      spans: lane.spans ?? [],
      names: answer.names,
      peak: 0,
      wide: (lane.spans ??
             []).filter((span) => span[1] >= WIDE_COLUMNS * answer.step || span[5] !== 0),
    };
    if (lane.id.startsWith('group:')) {
      for (let k = 0; k < answer.count; k++) {
        let sum = 0;
        for (const [code, bytes] of columns)
          if (GROUP_STATES.includes(code)) sum += bytes[k]!;
        tile.peak = Math.max(tile.peak, sum);
      }
      tile.peak = tile.peak / 255 * lane.full / answer.step;
    }
    out.set(lane.id, tile);
  }
  return out;
}

/** The span of a tile at a time, or null if there is none. */
export function spanAt(tile: Pick<LaneTile, 'spans'>, at: number): SpanRow|null {
  let low = 0, high = tile.spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tile.spans[middle]![0] <= at)
      low = middle + 1;
    else
      high = middle;
  }
  const span = tile.spans[low - 1];
  return span && at < span[0] + span[1] ? span : null;
}

/** What is in the column of a tile at a time: the share of each state, from 0 to 1. */
export function sharesAt(tile: LaneTile, at: number): [number, number][] {
  const k = Math.floor((at - tile.begin) / tile.step);
  if (k < 0 || k >= tile.count) return [];
  return tile.columns.map(([code, bytes]): [number, number] => [code, bytes[k]! / 255])
      .filter(([, share]) => share > 0);
}

/** The largest power of two that is not more than the time of a pixel, and at least 1. */
export function stepFor(nsPerPixel: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, nsPerPixel))));
}

export const TILE_COLUMNS = 1024;

/** The numbers of the tiles, each `TILE_COLUMNS` columns wide, that cover a window. */
export function tilesOf(from: number, to: number, step: number): number[] {
  const width = step * TILE_COLUMNS;
  const first = Math.floor(from / width), last = Math.max(first, Math.ceil(to / width) - 1);
  const out: number[] = [];
  for (let i = first; i <= last && out.length < 64; i++) out.push(i);
  return out;
}
