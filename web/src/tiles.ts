// Holds what lanes do, in tiles of 1024 columns, asks for those that are missing, and finds coarser
// ones until they come.

import {Lanes} from './answers';
import {decodeLanes, LaneTile, stepFor, TILE_COLUMNS, tilesOf} from './decode';
import {Scale} from './layout';
import {isAbort, RequestError, Requests} from './requests';

export interface Tile {
  /** Lanes that are asked for together: p:* or group:0,group:1. */
  unit: string;
  step: number;
  index: number;
  state: 'waiting'|'there'|'missing';
  lanes: Map<string, LaneTile>;
  used: number;
  /** Whether the trace has grown since it came: it is shown until its successor is there. */
  stale: boolean;
  /** Whether nothing in it is too short to be a span: finer tiles show the same. */
  exact: boolean;
}

/** How many lanes of tiles are kept: about 8 KB each. */
const MAX_LANES = 6000;
const key = (unit: string, step: number, index: number) => `${unit}|${step}|${index}`;

export class Tiles {
  /** Whether a tile that somebody wants is not in the report. */
  coarser = false;
  private tiles = new Map<string, Tile>();
  private wanted = new Set<string>();
  private aborts = new Map<string, AbortController>();
  private clock = 0;
  private timer = 0;

  constructor(
      private readonly requests: Requests, private readonly states: () => string[],
      private readonly end: () => number, private readonly changed: () => void) {}

  /** The trace has grown: everything is asked for again. What is there stays visible until then. */
  clear() {
    for (const abort of this.aborts.values()) abort.abort();
    this.aborts.clear();
    for (const [id, tile] of this.tiles)
      if (tile.state === 'there')
        tile.stale = true;
      else
        this.tiles.delete(id);
  }

  private lacks(id: string): boolean {
    const tile = this.tiles.get(id);
    return (!tile || tile.stale) && !this.aborts.has(id);
  }

  /** Begins a frame: tiles that no call of `cover` asks for in it are not worth waiting for. */
  begin() {
    this.wanted.clear();
    this.coarser = false;
    this.clock++;
  }

  /** Tiles to draw for a window, coarse ones first, so that finer ones are drawn over them. */
  cover(unit: string, {from, to, nsPerPixel}: Pick<Scale, 'from'|'to'|'nsPerPixel'>): Tile[] {
    const step = stepFor(nsPerPixel);
    const out: Tile[] = [];
    const seen = new Set<Tile>();
    for (const index of tilesOf(Math.max(0, from), Math.min(this.end(), to), step)) {
      this.wanted.add(key(unit, step, index));
      let tile = this.tiles.get(key(unit, step, index));
      if (tile) tile.used = this.clock;
      if (tile?.state === 'there') {
        out.push(tile);
        continue;
      }
      // Ask for the first coarser level that may be there; draw the first that is.
      let level = step, missing = tile?.state === 'missing';
      const lacks = missing;
      let exact = false;
      for (let i = index; level * TILE_COLUMNS < this.end() * 2;) {
        level *= 2;
        i = Math.floor(i / 2);
        tile = this.tiles.get(key(unit, level, i));
        if (missing) {
          this.wanted.add(key(unit, level, i));
          missing = tile?.state === 'missing';
        }
        if (tile?.state !== 'there') continue;
        ({exact} = tile);
        tile.used = this.clock;
        if (!seen.has(tile)) {
          seen.add(tile);
          out.unshift(tile);
        }
        break;
      }
      if (lacks && !exact) this.coarser = true;
    }
    return out.sort((a, b) => b.step - a.step || a.index - b.index);
  }

  /**
   * Ends a frame: asks for the tiles that are missing once the window has been still for a moment.
   */
  finish() {
    let lacking = false;
    for (const id of this.wanted)
      if (this.lacks(id)) {
        lacking = true;
        break;
      }
    for (const [id, abort] of this.aborts) {
      if (this.wanted.has(id)) continue;
      abort.abort();
      this.aborts.delete(id);
      if (this.tiles.get(id)?.state === 'waiting') this.tiles.delete(id);
    }
    clearTimeout(this.timer);
    if (lacking) this.timer = window.setTimeout(() => this.ask(), 50);
  }

  get waiting(): boolean {
    return this.aborts.size > 0;
  }

  private ask() {
    for (const id of this.wanted)
      if (this.lacks(id)) this.load(id);
    let lanes = 0;
    for (const tile of this.tiles.values()) lanes += tile.lanes.size;
    if (lanes <= MAX_LANES) return;
    const old = [...this.tiles.entries()]
                    .filter(([, tile]) => tile.state !== 'waiting' && tile.used < this.clock - 1)
                    .sort((a, b) => a[1].used - b[1].used);
    for (const [id, tile] of old) {
      if (lanes <= MAX_LANES) break;
      this.tiles.delete(id);
      lanes -= tile.lanes.size;
    }
  }

  private load(id: string) {
    const [unit, step, index] = id.split('|') as [string, string, string];
    const tile: Tile = {
      unit,
      step: Number(step),
      index: Number(index),
      state: 'waiting',
      lanes: new Map(),
      used: this.clock,
      stale: false,
      exact: false
    };
    if (!this.tiles.has(id)) this.tiles.set(id, tile);
    const abort = new AbortController();
    this.aborts.set(id, abort);
    const width = tile.step * TILE_COLUMNS, from = tile.index * width;
    const done = () => {
      if (this.aborts.get(id) === abort) this.aborts.delete(id);
    };
    this.requests
        .json<Lanes>(
            'lanes', [['ids', unit], ['from', from], ['to', from + width], ['step', tile.step]],
            abort.signal)
        .then((answer) => {
          done();
          tile.lanes = decodeLanes(answer, this.states());
          tile.exact = answer.lanes.every((lane) => Object.keys(lane.columns).length === 0);
          tile.state = 'there';
          this.tiles.set(id, tile);
          this.changed();
        })
        .catch((error) => {
          done();
          if (isAbort(error)) {
            if (this.tiles.get(id) === tile) this.tiles.delete(id);
            return;
          }
          // A lane that does not exist will not come; a server that is gone may come back.
          if (error instanceof RequestError) {
            tile.state = 'missing';
            this.tiles.set(id, tile);
          } else
            this.tiles.delete(id);
          this.changed();
        });
  }
}
