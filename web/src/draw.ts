// Draws lanes. What is shorter than a few pixels is painted once into a picture of its tile, which
// only has to be copied while one scrolls and zooms; longer spans are drawn with their names.

import {MarkRow, TaskLane} from './answers';
import {filters, SpanFilter} from './app';
import {Palette} from './colors';
import {GROUP_STATES, LaneTile, WIDE_COLUMNS, WholeSpan, wholeSpans} from './decode';
import {pixelRatio, textWidth} from './dom';
import {duration, fitName, visible} from './format';
import {Scale} from './layout';

/** From the bottom of a lane to its top. */
const STACK = [1, 6, 7, 3, 2, 4, 5, 8];
const GROUP_PIXELS = 64;

interface Picture {
  canvas: HTMLCanvasElement;
  key: string
}
/** The pictures that were used last come last; the first ones go when they are too many. */
const pictures = new Map<LaneTile, Picture[]>();
const MAX_PIXELS = 24e6;
let pixels = 0;

/** The pictures of a tile, which are used now. */
function picturesOf(tile: LaneTile): Picture[] {
  const list = pictures.get(tile) ?? [];
  pictures.delete(tile);
  pictures.set(tile, list);
  if (pixels > MAX_PIXELS) {
    for (const [oldest, old] of pictures) {
      if (pixels <= MAX_PIXELS * 0.8 || oldest === tile) break;
      for (const {canvas} of old) pixels -= canvas.width * canvas.height;
      pictures.delete(oldest);
    }
  }
  return list;
}


export function matches(filter: SpanFilter, state: number, length: number, name: string): boolean {
  return (filter.state === null || filter.state === state) &&
      (filter.min === 0 || length >= filter.min) &&
      (filter.text === '' || name.toLowerCase().includes(filter.text));
}

function picture(
    tile: LaneTile, height: number, palette: Palette, filter: SpanFilter): HTMLCanvasElement {
  const group = tile.id.startsWith('group:');
  const rows = group ? GROUP_PIXELS : Math.max(1, Math.round(height * pixelRatio()));
  const key = `${rows} ${palette.version} ${filter.state} ${filter.text} ${filter.min}`;
  // A lane can be drawn at two heights: as itself, and below a task.
  const list = picturesOf(tile);
  const known = list.find((p) => p.key === key);
  if (known) return known.canvas;
  if (list.length >= 2) {
    const {canvas: old} = list.shift()!;
    pixels -= old.width * old.height;
  }
  const canvas = document.createElement('canvas');
  canvas.width = tile.count;
  canvas.height = rows;
  const context = canvas.getContext('2d')!;
  const image = context.createImageData(tile.count, rows);
  paint(image, tile, rows, palette, filter, group);
  context.putImageData(image, 0, 0);
  list.push({canvas, key});
  pixels += tile.count * rows;
  return canvas;
}

/** Exported for tests: paints a tile, column by column. */
export function paint(
    image: {data: Uint8ClampedArray, width: number}, tile: LaneTile, rows: number, palette: Palette,
    filter: SpanFilter, group: boolean) {
  const {data} = image, width = tile.count;
  const order = (group ? GROUP_STATES : STACK)
                    .map((code) => [code, tile.columns.find(([c]) => c === code)?.[1]] as const)
                    .filter(([, bytes]) => bytes);
  const filtered = filters(filter);
  const full = group ? Math.max(1e-9, tile.peak * tile.step / tile.full * 255) : 255;
  const put = (x: number, y: number, code: number, alpha: number) => {
    const [r, g, b] = palette.rgb[code]!, i = (y * width + x) * 4;
    data[i] = r;
    data[i + 1] = g;
    data[i + 2] = b;
    data[i + 3] = alpha;
  };
  for (let k = 0; k < width; k++) {
    let sum = 0;
    for (const [code, bytes] of order) {
      const value = bytes![k]!;
      if (value === 0) continue;
      const from = sum / full * rows;
      sum += value;
      const to = Math.min(rows, sum / full * rows);
      const dim = filtered &&
          (filter.state === null ? filter.min > 0 || filter.text !== '' : filter.state !== code);
      const most = dim ? 50 : 255;
      // The pixel in which one state ends and the next begins goes to the one that has more of it,
      // and a share below one pixel is faint rather than invisible.
      const first = Math.round(from), last = Math.round(to);
      if (last > first)
        for (let y = first; y < last; y++) put(k, rows - 1 - y, code, most);
      else if (first < rows && data[((rows - 1 - first) * width + k) * 4 + 3] === 0) {
        put(k, rows - 1 - first, code, Math.max(70, (to - from) * 255) * most / 255);
      }
    }
    if (!group && tile.longest && tile.longestStates && tile.longest[k]! >= 100 && sum < 200) {
      const code = tile.longestStates[k]!;
      const dim = filtered && filter.state !== code;
      if (code > 0 && code < 9 && !dim)
        for (let y = 0; y < Math.max(2, rows / 9); y++) put(k, y, code, 255);
    }
  }
  for (const span of tile.spans) {
    const [begin, length, code] = span;
    if (length >= WIDE_COLUMNS * tile.step) continue;
    const from = Math.max(0, Math.round((begin - tile.begin) / tile.step));
    const to = Math.min(width, Math.round((begin + length - tile.begin) / tile.step));
    const alpha = !filtered || matches(filter, code, length, tile.names[span[4]] ?? '') ? 255 : 50;
    for (let k = from; k < to; k++) {
      // A thin gap keeps one span from the next.
      const last = k === to - 1 && to - from > 3;
      for (let y = 0; y < rows; y++) put(k, y, code, last ? alpha * 0.55 : alpha);
    }
  }
}

export interface Pen {
  context: CanvasRenderingContext2D;
  palette: Palette;
  scale: Scale;
  filter: SpanFilter;
  /**
   * Whether pictures are smoothed: not while they move, since that takes most of the time of a
   * frame.
   */
  smooth: boolean;
  /** From when to when the selection is. */
  bands: {from: number, to: number}[];
}

/** Shows the selection under what is drawn later between two places. */
export function drawBands(pen: Pen, x: number, end: number, y: number, height: number) {
  const {context, palette, scale} = pen;
  context.fillStyle = palette.select;
  context.globalAlpha = 0.13;
  for (const {from, to} of pen.bands) {
    const left = Math.max(x, scale.x(from));
    const right = Math.min(end, Math.max(scale.x(to), scale.x(from) + 1));
    if (left < right) context.fillRect(left, y, right - left, height);
  }
  context.globalAlpha = 1;
}

/** Removes what was drawn from a tile's place, but not the selection. */
function clear(pen: Pen, tile: LaneTile, y: number, height: number) {
  const {scale, context} = pen;
  const x = Math.max(scale.left, scale.x(tile.begin)),
        end = Math.min(scale.left + scale.width, scale.x(tile.begin + tile.count * tile.step));
  context.fillStyle = pen.palette.bg;
  context.fillRect(x, y, end - x, height);
  drawBands(pen, x, end, y, height);
}

/** Copies the part of a tile's picture that is in the window. */
function copy(pen: Pen, tile: LaneTile, source: HTMLCanvasElement, y: number, height: number) {
  const {scale, context} = pen;
  const first = Math.max(0, Math.floor((scale.from - tile.begin) / tile.step));
  const last = Math.min(tile.count, Math.ceil((scale.to - tile.begin) / tile.step));
  if (last <= first) return;
  const x = scale.x(tile.begin + first * tile.step), end = scale.x(tile.begin + last * tile.step);
  context.imageSmoothingEnabled = pen.smooth && end - x < (last - first) * 1.5;
  context.drawImage(source, first, 0, last - first, source.height, x, y, end - x, height);
}

/** Draws what tiles of the same level, in order of time, have of a lane. */
export function drawLane(pen: Pen, tiles: LaneTile[], y: number, height: number, over: boolean) {
  const {context, palette, scale} = pen;
  const right = scale.left + scale.width;
  for (const tile of tiles) {
    if (over) clear(pen, tile, y, height);
    copy(pen, tile, picture(tile, height, palette, pen.filter), y, height);
  }
  if (!tiles.length) return;
  const filtered = filters(pen.filter), least = WIDE_COLUMNS * tiles[0]!.step;
  const goroutine = tiles[0]!.id.startsWith('g:');
  for (const span of wholeSpans(tiles)) {
    if (span.end <= scale.from || span.begin >= scale.to || span.end - span.begin < least) continue;
    const x = Math.max(scale.left - 2, scale.x(span.begin)),
          end = Math.min(right + 2, scale.x(span.end));
    const dim = filtered && !matches(pen.filter, span.state, span.end - span.begin, span.name);
    if (dim) {
      context.fillStyle = palette.bg;
      context.fillRect(x, y, Math.max(1, end - x), height);
    }
    context.globalAlpha = dim ? 0.2 : 1;
    context.fillStyle = palette.states[span.state] ?? palette.dim;
    context.fillRect(
        x, y, Math.max(1, end - x - (end - x > 3 && (span.cut & 2) === 0 ? 0.75 : 0)), height);
    context.globalAlpha = 1;
    if (end - x > 26 && height >= 12 && !dim) {
      label(
          pen, spanText(span, goroutine), span.cut ? 0 : span.end - span.begin,
          Math.max(x, scale.left) + 4, Math.min(end, right) - 5, y + height / 2,
          palette.on[span.state] ?? palette.fg);
    }
  }
}

function spanText(span: WholeSpan, goroutine: boolean): string {
  const name = visible(span.name.slice(0, 400));
  if (name) return name;
  if (goroutine) return span.subject >= 0 ? `P ${span.subject}` : '';
  return span.subject >= 0 ? `G ${span.subject}` : '';
}

const fitted = new Map<string, string>();

/** A name, in a form that fits, and a duration if there is room left. */
export function label(
    pen: Pen, name: string, length: number, x: number, end: number, middle: number, color: string) {
  const {context} = pen;
  const room = Math.floor(end - x);
  if (room < 12) return;
  const key = `${context.font}|${room >> 2}|${name}`;
  let text = fitted.get(key);
  if (text === undefined) {
    if (fitted.size > 8000) fitted.clear();
    text = fitName(name, (form) => textWidth(context, form) <= (room >> 2) * 4);
    fitted.set(key, text);
  }
  context.fillStyle = color;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  if (text) context.fillText(text, x, middle + 0.5);
  const used = text ? textWidth(context, text) + 8 : 0;
  const time = length > 0 ? duration(length) : '';
  if (time && (text === '' || text[0] !== '…') && used + textWidth(context, time) <= room) {
    context.globalAlpha = 0.75;
    context.fillText(time, x + used, middle + 0.5);
    context.globalAlpha = 1;
  }
}

/** Draws a group of goroutines as areas; `most` is the number at the top. */
export function drawGroup(
    pen: Pen, tile: LaneTile, y: number, height: number, most: number, over: boolean) {
  if (over) clear(pen, tile, y, height);
  const part = most > 0 ? Math.min(1, tile.peak / most) * height : 0;
  if (part > 0)
    copy(pen, tile, picture(tile, height, pen.palette, pen.filter), y + height - part, part);
}

/** Fills a box with hatching, for a world that stands still. */
export function hatch(
    context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number,
    color: string) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.beginPath();
  for (let i = -height + Math.floor(x) % 4; i < width + height; i += 4) {
    context.moveTo(x + i, y + height);
    context.lineTo(x + i + height, y);
  }
  context.stroke();
  context.restore();
}

export function drawMarks(
    pen: Pen, rows: MarkRow[], names: string[], y: number, height: number, stops: boolean) {
  const {context, palette, scale} = pen;
  for (const [begin, length, name, count] of rows) {
    if (begin + length < scale.from || begin > scale.to) continue;
    const x = Math.max(scale.left - 2, scale.x(begin)),
          end = Math.min(scale.left + scale.width + 2, scale.x(begin + length));
    const width = Math.max(stops ? 2 : 1, end - x);
    if (!stops) {
      context.fillStyle = palette.states[6]!;
      context.fillRect(x, y + 3, width, height - 6);
      if (count === 1 && width > 60)
        label(
            pen, 'mark phase', length, Math.max(x, scale.left) + 4, end - 4, y + height / 2,
            palette.on[6]!);
      continue;
    }
    if (width < 4) {
      context.fillStyle = palette.fg;
      context.fillRect(x, y + 3, width, height - 6);
    } else
      hatch(context, x, y + 3, width, height - 6, palette.fg);
    const text =
        visible((names[name] ?? '').replace(/^stop-the-world \((.*)\)$/, '$1').slice(0, 200));
    if (count === 1 && width > 90) {
      const from = Math.max(x, scale.left) + 6,
            room = Math.min(width - 12, textWidth(context, `${text} ${duration(length)}`) + 16);
      context.fillStyle = palette.bg;
      context.fillRect(from - 2, y + 3, room, height - 6);
      label(pen, text, length, from + 2, from + room - 2, y + height / 2, palette.fg);
    }
  }
}

export function drawTask(
    pen: Pen, task: TaskLane, names: string[], y: number, height: number, selected: boolean) {
  const {context, palette, scale} = pen;
  const x = Math.max(scale.left - 3, scale.x(task.begin));
  const end = Math.min(scale.left + scale.width + 3, scale.x(task.begin + task.duration));
  const width = Math.max(2, end - x);
  context.fillStyle = palette.soft;
  context.fillRect(x, y + 2, width, height - 4);
  context.lineWidth = 1;
  let shown = 0;
  // Deeper regions are drawn over the ones around them, a little smaller.
  for (const [begin, length, name, , depth] of [...task.regions].sort((a, b) => a[4] - b[4])) {
    const from = Math.max(scale.left - 3, scale.x(begin)),
          to = Math.min(scale.left + scale.width + 3, scale.x(begin + length));
    if (to < scale.left || from > scale.left + scale.width) continue;
    const inset = Math.min(4, depth);
    // Boxes without a colour, which would be one of a state.
    const wide = Math.max(1, to - from - 1), high = height - 9 - inset;
    context.fillStyle = palette.bg;
    context.fillRect(from, y + 3 + inset, wide, high);
    context.strokeStyle = palette.dim;
    context.strokeRect(from + 0.5, y + 3.5 + inset, Math.max(0, wide - 1), high - 1);
    if (to - from > 26) {
      label(
          pen, visible((names[name] ?? '').slice(0, 200)), length, Math.max(from, scale.left) + 4,
          to - 3, y + height / 2 - 1.5, palette.fg);
      shown++;
    }
  }
  if (!shown && width > 40) {
    label(
        pen, visible((names[task.type] ?? '').slice(0, 200)), task.duration,
        Math.max(x, scale.left) + 4, end - 4, y + height / 2 - 1.5, palette.fg);
  }
  context.strokeStyle = selected ? palette.select : palette.dim;
  context.lineWidth = selected ? 2 : 1;
  context.strokeRect(x + 0.5, y + 2.5, width - 1, height - 5);
  context.lineWidth = 1;
}

/** Draws the arrow of a wake-up from one row to another. */
export function drawArrow(
    context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number,
    color: string, strong: boolean) {
  context.strokeStyle = color;
  context.fillStyle = color;
  context.lineWidth = strong ? 1.5 : 1;
  context.globalAlpha = strong ? 1 : 0.45;
  const bend = Math.min(24, Math.max(6, Math.abs(x1 - x0) / 2));
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 1, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 6, y1 - 3.5);
  context.lineTo(x1 - 6, y1 + 3.5);
  context.closePath();
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = 1;
}
