// Small charts above tables: lines, stacked areas, and bars.

import {App} from './app';
import {fitCanvas, h, replace, textWidth} from './dom';
import {bytes, count, duration, percent, tickLabel, tickStep} from './format';

export interface ChartData {
  kind: 'line'|'stack'|'bars';
  title: string;
  x: number[];
  widths?: number[];
  xEnd?: number;
  xTicks: Ticks;
  series: {values: number[], color: string}[];
  /** Its scale is that of the series, or its own if its largest value is above that. */
  line?: {values: number[], color: string};
  /** What the upper edge stands for, and the lines below it. */
  most: number;
  yTicks: Ticks;
  xText: (x: number) => string;
  yText: (y: number) => string;
  click?: ((index: number) => void)|undefined;
}

/** Places on an axis, with their texts. */
export type Ticks = [number, string][];

function multiples(from: number, to: number, step: number, text: (value: number) => string): Ticks {
  const ticks: Ticks = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++) ticks.push([i * step, text(i * step)]);
  return ticks;
}

/** Round numbers up to `most`. */
export function countTicks(most: number): Ticks {
  return multiples(0, most, tickStep(most / 4, 1), count);
}

/** Round sizes up to `most`. */
export function byteTicks(most: number): Ticks {
  const unit = 1024 ** Math.max(0, Math.floor(Math.log(Math.max(1, most)) / Math.log(1024)));
  return multiples(0, most, tickStep(most / unit / 4, 1) * unit, bytes);
}

/** Shares, from nothing to everything. */
export function shareTicks(): Ticks {
  return [0, 0.5, 1].map((share) => [share, percent(share, 1)]);
}

/** Round times between two, about so many. */
export function timeTicks(from: number, to: number, number = 8): Ticks {
  const step = tickStep((to - from) / number, 1);
  return multiples(from, to, step, (ns) => tickLabel(ns, step, to));
}

/**
 * Durations between two powers of two on an axis of powers: 1, 2 and 5 of each power of ten, or the
 * ends, if these are close to each other.
 */
export function powerTicks(first: number, last: number): Ticks {
  const ticks: Ticks = [];
  for (let power = 1; power <= 2 ** last; power *= 10) {
    for (const ns of [power, 2 * power, 5 * power]) {
      if (Math.log2(ns) >= first && Math.log2(ns) <= last)
        ticks.push([Math.log2(ns), duration(ns).replace(/\.0+ /, ' ')]);
    }
  }
  return ticks.length > 1 ? ticks : [first, last].map((x) => [x, duration(2 ** x)]);
}

const LEFT = 64, RIGHT = 56, TOP = 24, BOTTOM = 20, HEIGHT = 150;

export class Chart {
  readonly root: HTMLElement;
  private readonly canvas = h('canvas', {class: 'chart'});
  private readonly tip = h('div', {class: 'tip', hidden: true});

  constructor(private readonly app: App, private readonly data: ChartData) {
    this.root = h('div', null, this.canvas, this.tip);
    this.root.style.position = 'relative';
    this.canvas.style.height = `${HEIGHT}px`;
    this.canvas.style.cursor = data.click ? 'pointer' : '';
    new ResizeObserver(() => this.draw()).observe(this.root);
    this.canvas.addEventListener('pointermove', (event) => this.hover(event.offsetX));
    this.canvas.addEventListener('pointerleave', () => {
      this.tip.hidden = true;
    });
    this.canvas.addEventListener('click', (event) => {
      const i = this.index(event.offsetX);
      if (i >= 0) data.click?.(i);
    });
  }

  private get end(): number {
    const {x, widths, xEnd} = this.data;
    return xEnd ?? (x[x.length - 1] ?? 1) + (widths?.[widths.length - 1] ?? 0);
  }

  private px(x: number): number {
    const first = this.data.x[0] ?? 0, width = this.root.clientWidth - LEFT - RIGHT;
    return LEFT + (x - first) / Math.max(1e-9, this.end - first) * width;
  }

  private index(px: number): number {
    const {x, kind} = this.data;
    let best = -1, distance = Infinity;
    for (let i = 0; i < x.length; i++) {
      const at = kind === 'line' ? this.px(x[i]!) : (this.px(x[i]!) + this.px(this.next(i))) / 2;
      if (Math.abs(at - px) < distance) {
        distance = Math.abs(at - px);
        best = i;
      }
    }
    return best;
  }

  private next(i: number): number {
    const {x, widths} = this.data;
    return widths ? x[i]! + widths[i]! : x[i + 1] ?? this.end;
  }

  draw() {
    const width = this.root.clientWidth;
    if (width < 50) return;
    const context = fitCanvas(this.canvas, width, HEIGHT);
    if (!context) return;
    const {palette} = this.app, {data} = this;
    const bottom = HEIGHT - BOTTOM, area = bottom - TOP;
    const py = (y: number) => bottom - Math.min(1, y / data.most) * area;
    context.clearRect(0, 0, width, HEIGHT);
    context.font = palette.font;
    context.textBaseline = 'middle';
    context.fillStyle = palette.dim;
    context.fillText(data.title, 12, 11);
    for (const [y, text] of data.yTicks) {
      context.fillStyle = palette.line;
      context.fillRect(LEFT, Math.round(py(y)), width - LEFT - RIGHT, 1);
      context.fillStyle = palette.dim;
      context.fillText(text, LEFT - 8 - textWidth(context, text), py(y));
    }
    // A line with a scale of its own has that at the right.
    const largest = Math.max(0, ...(data.line?.values ?? []));
    if (largest > data.most) {
      context.fillText('0', width - RIGHT + 8, py(0));
      context.fillText(data.yText(largest), width - RIGHT + 8, py(data.most));
    }
    let free = 0;
    for (const [tick, text] of data.xTicks) {
      const half = textWidth(context, text) / 2;
      const x = Math.max(LEFT - half, Math.min(width - 2 * half - 2, this.px(tick) - half));
      context.fillStyle = palette.line;
      context.fillRect(Math.round(this.px(tick)), bottom, 1, 3);
      if (x < free) continue;
      context.fillStyle = palette.dim;
      context.fillText(text, x, bottom + 11);
      free = x + textWidth(context, text) + 16;
    }
    if (data.kind === 'line') {
      for (const {values, color} of data.series) this.line(context, values, color, py, false);
      context.fillStyle = data.series[0]?.color ?? palette.fg;
      if (data.x.length < 60)
        data.x.forEach((x, i) => {
          context.beginPath();
          context.arc(this.px(x), py(data.series[0]!.values[i]!), 2.5, 0, 7);
          context.fill();
        });
    } else {
      data.x.forEach((x, i) => {
        let sum = 0;
        const from = this.px(x), to = this.px(this.next(i));
        for (const {values, color} of data.series) {
          const v = values[i]!;
          if (v <= 0) continue;
          context.fillStyle = color;
          const tall = Math.max(data.kind === 'bars' ? 1.5 : 0, py(sum) - py(sum + v));
          context.fillRect(
              from, py(sum) - tall,
              Math.max(1, to - from - (data.kind === 'bars' && to - from > 3 ? 1 : 0)), tall);
          sum += v;
        }
      });
    }
    if (data.line) {
      const {values, color} = data.line;
      const scaled = (y: number) => py(largest > data.most ? y / largest * data.most : y);
      this.line(context, values, palette.bg, scaled, true, 3);
      this.line(context, values, color, scaled, true);
    }
  }

  private line(
      context: CanvasRenderingContext2D, values: number[], color: string, py: (y: number) => number,
      middle: boolean, width = 1.3) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.beginPath();
    this.data.x.forEach((x, i) => {
      const at = middle ? (this.px(x) + this.px(this.next(i))) / 2 : this.px(x);
      if (i === 0)
        context.moveTo(at, py(values[i]!));
      else
        context.lineTo(at, py(values[i]!));
    });
    context.stroke();
    context.lineWidth = 1;
  }

  private hover(px: number) {
    const i = this.index(px), {data} = this;
    if (i < 0) return;
    const to = data.kind === 'bars' ? ` to ${data.xText(this.next(i))}` : '';
    replace(
        this.tip, h('div', {class: 'dim'}, `${data.xText(data.x[i]!)}${to}`),
        data.kind === 'stack' ?
            h('div', null,
              `${data.yText(data.series.reduce((s, {values}) => s + values[i]!, 0))} Ps at work`) :
            data.series.map(({values}) => h('div', null, data.yText(values[i]!))),
        data.line ? h('div', null, `${data.yText(data.line.values[i]!)} waiting to run`) : null);
    this.tip.hidden = false;
    this.tip.style.left =
        `${Math.max(4, Math.min(px + 12, this.root.clientWidth - this.tip.offsetWidth - 8))}px`;
    this.tip.style.top = '26px';
  }
}
