// The strip: the whole trace, and in it the window that every view follows.

import {Marks, Strip} from './answers';
import {App, currentWindow, setWindow} from './app';
import {decodeBytes, decodeColumns} from './decode';
import {fitCanvas, h, replace, stateMark, textWidth} from './dom';
import {STATE_LABELS} from './colors';
import {bytes, count, duration, moment, percent, tickLabel, tickStep, wallClock} from './format';
import {Scale, ticks} from './layout';
import {isAbort} from './requests';

const STACK = [1, 6, 7, 3, 8];
const TOP = 19, HANDLE = 7;

/** What a press at `x` does to a window that is drawn from `from` to `to`. */
export function grip(x: number, y: number, from: number, to: number, whole: boolean): 'new'|'from'|
    'to'|'move' {
  if (whole) return 'new';
  const near = Math.min(HANDLE, Math.max(3, (to - from) / 3));
  if (Math.abs(x - from) <= near || (x < from && from - x <= HANDLE)) return 'from';
  if (Math.abs(x - to) <= near || (x > to && x - to <= HANDLE)) return 'to';
  return y < TOP && x > from && x < to ? 'move' : 'new';
}

export class Overview {
  readonly root: HTMLElement;
  private readonly canvas = h('canvas', {tabindex: '0', 'aria-label': 'The whole trace'});
  private readonly tip = h('div', {class: 'tip', hidden: true});
  private strip: Strip|null = null;
  private columns: [number, Uint8Array][] = [];
  private mean = new Uint8Array(0);
  private max = new Uint8Array(0);
  private metrics: Record<string, Uint8Array> = {};
  private marks: Marks = {names: [''], cycles: [], stops: []};
  private picture: HTMLCanvasElement|null = null;
  private pictureKey = '';
  private width = 0;
  private height = 0;
  private drag: {
    kind: 'new'|'from'|'to'|'move',
    x: number,
    at: number,
    from: number,
    to: number,
    moved: boolean
  }|null = null;
  private frame = 0;
  private generation = 0;

  constructor(private readonly app: App) {
    this.root = h('div', {id: 'strip'}, this.canvas, this.tip);
    new ResizeObserver(() => {
      this.resize();
    }).observe(this.root);
    this.listen();
  }

  /** Asks again: the trace has grown. */
  load() {
    const generation = ++this.generation;
    const {requests} = this.app;
    const fail = (error: unknown) => {
      if (!isAbort(error)) this.redraw();
    };
    requests.json<Strip>('strip')
        .then((strip) => {
          if (generation !== this.generation) return;
          this.strip = strip;
          this.columns = decodeColumns(strip.columns, this.app.trace.states, strip.count);
          this.mean = decodeBytes(strip.runnable.mean, strip.count);
          this.max = decodeBytes(strip.runnable.max ?? '', strip.count);
          this.metrics = {};
          for (const [name, metric] of Object.entries(strip.metrics))
            this.metrics[name] = decodeBytes(metric.max, strip.count);
          this.pictureKey = '';
          this.redraw();
        })
        .catch(fail);
    requests.json<Marks>('marks')
        .then((marks) => {
          if (generation !== this.generation) return;
          this.marks = marks;
          this.pictureKey = '';
          this.redraw();
        })
        .catch(fail);
  }

  redraw() {
    if (!this.frame)
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
  }

  private resize() {
    this.width = this.root.clientWidth;
    this.height = this.root.clientHeight;
    this.redraw();
  }

  private get scale(): Scale {
    const left = this.width < 600 ? 0 : 176;
    return new Scale(
        0, Math.max(1, this.app.trace.duration), left, Math.max(1, this.width - left - 12));
  }

  private draw() {
    const context = fitCanvas(this.canvas, this.width, this.height);
    if (!context || this.width <= 0) return;
    const {palette} = this.app, scale = this.scale;
    const key = `${this.width} ${this.height} ${palette.version} ${this.app.trace.duration} ${
        this.app.store.state.clock}`;
    if (this.pictureKey !== key) {
      this.picture = this.picture ?? document.createElement('canvas');
      const under = fitCanvas(this.picture, this.width, this.height);
      if (under) this.paint(under, scale);
      this.pictureKey = key;
    }
    context.clearRect(0, 0, this.width, this.height);
    context.drawImage(this.picture!, 0, 0, this.width, this.height);
    const {from, to} = currentWindow(this.app);
    const a = scale.x(from), b = scale.x(to);
    if (from <= 0 && to >= this.app.trace.duration) return;
    context.fillStyle = palette.bg;
    context.globalAlpha = 0.6;
    context.fillRect(scale.left, TOP - 5, a - scale.left, this.height - TOP + 5);
    context.fillRect(b, TOP - 5, scale.left + scale.width - b + 1, this.height - TOP + 5);
    context.globalAlpha = 1;
    context.fillStyle = palette.select;
    context.fillRect(a, TOP - 5, Math.max(1, b - a), 3);
    const middle = (TOP + this.height) / 2 - 9;
    context.fillRect(a - 1, TOP - 5, 1.5, this.height);
    context.fillRect(Math.max(a + 1, b - 0.5), TOP - 5, 1.5, this.height);
    context.fillRect(a - 5, middle, 5, 18);
    context.fillRect(Math.max(a + 1, b), middle, 5, 18);
  }

  /** Everything but the window. */
  private paint(context: CanvasRenderingContext2D, scale: Scale) {
    const {palette} = this.app, narrow = this.width < 600;
    const bottom = this.height - 26, area = bottom - TOP;
    context.font = palette.font;
    context.textBaseline = 'middle';
    context.fillStyle = palette.bg;
    context.fillRect(0, 0, this.width, this.height);
    const axis = ticks(scale, narrow ? 80 : 110, tickStep);
    for (const t of axis.times) {
      const x = Math.round(scale.x(t));
      const {wall_begin} = this.app.trace;
      const text = this.app.store.state.clock === 'wall' && wall_begin ?
          wallClock(wall_begin, t, axis.step) :
          tickLabel(t, axis.step, this.app.trace.duration);
      context.fillStyle = palette.line;
      context.fillRect(x, TOP - 5, 1, 5);
      context.fillStyle = palette.dim;
      if (x + 3 + textWidth(context, text) < this.width) context.fillText(text, x + 3, 8);
    }
    if (!narrow) {
      context.fillStyle = palette.dim;
      context.fillText(`${count(this.app.trace.procs.length)} Ps`, 12, TOP + 9);
      const most = this.strip ? this.most(this.strip) : 0;
      context.fillText('waiting to run', 12, TOP + 27);
      context.fillStyle = palette.fg;
      context.fillRect(scale.left - 34, TOP + 27, 22, 1.2);
      context.fillStyle = palette.dim;
      if (most > 0)
        context.fillText(
            `${
                most < 10 && !Number.isInteger(most) ? most.toFixed(1) :
                                                       count(Math.round(most))} at most, dots`,
            12, TOP + 43);
      if (this.metrics['heap'])
        context.fillText(`heap ${bytes(this.strip!.metrics['heap']!.full)}, goal`, 12, bottom + 14);
    }
    const {strip} = this;
    context.strokeStyle = palette.line;
    context.strokeRect(scale.left + 0.5, TOP + 0.5, scale.width, area);
    if (!strip) return;
    // For each pixel the columns that are at least partly in it, so that a narrow strip shows the
    // same as a wide one.
    const perPixel = (x: number, use: (k: number) => void) => {
      const first = Math.max(0, Math.floor((scale.time(x) - strip.begin) / strip.step));
      const last = Math.min(
          strip.count - 1,
          Math.max(first, Math.ceil((scale.time(x + 1) - strip.begin) / strip.step) - 1));
      for (let k = first; k <= last; k++) use(k);
      return Math.max(1, last - first + 1);
    };
    for (let i = 0; i < scale.width; i++) {
      const x = scale.left + i;
      let sum = 0;
      for (const code of STACK) {
        const values = this.columns.find(([c]) => c === code)?.[1];
        if (!values) continue;
        let value = 0;
        const n = perPixel(x, (k) => {
          value += values[k]!;
        });
        const height = value / n / 255 * area;
        if (height <= 0) continue;
        context.fillStyle = palette.states[code]!;
        context.fillRect(x, bottom - sum - height, 1, height);
        sum += height;
      }
    }
    this.paintRunnable(context, scale, bottom, area, perPixel);
    this.paintHeap(context, scale, bottom, perPixel);
    context.fillStyle = palette.fg;
    for (const [begin, length] of this.marks.stops)
      context.fillRect(scale.x(begin), TOP - 4, Math.max(1, length / scale.nsPerPixel), 4);
    context.fillStyle = palette.states[6]!;
    context.globalAlpha = 0.8;
    for (const [begin, length] of this.marks.cycles)
      context.fillRect(scale.x(begin), bottom + 2, Math.max(1, length / scale.nsPerPixel), 2);
    context.globalAlpha = 1;
  }

  /** How many goroutines the top of the strip stands for. */
  private most(strip: Strip): number {
    return strip.runnable.most ?? (strip.runnable.total > 0 ? strip.runnable.full / strip.step : 0);
  }

  private paintRunnable(
      context: CanvasRenderingContext2D, scale: Scale, bottom: number, area: number,
      perPixel: (x: number, use: (k: number) => void) => number) {
    const {palette} = this.app, strip = this.strip!;
    const most = this.most(strip);
    if (most <= 0) return;
    const y = (goroutines: number) => bottom - Math.min(1, goroutines / most) * (area - 3);
    // The mean as a line; moments with many more than that as dots.
    const line = (color: string, width: number) => {
      context.strokeStyle = color;
      context.lineWidth = width;
      context.lineJoin = 'round';
      context.beginPath();
      for (let i = 0; i < scale.width; i++) {
        let sum = 0;
        const n = perPixel(scale.left + i, (k) => {
          sum += this.mean[k]!;
        });
        const v = y(sum / n / 255 * strip.runnable.full / strip.step);
        if (i === 0)
          context.moveTo(scale.left, v);
        else
          context.lineTo(scale.left + i + 0.5, v);
      }
      context.stroke();
      context.lineWidth = 1;
    };
    line(palette.bg, 3);
    line(palette.fg, 1.2);
    if (!strip.runnable.most) return;
    context.fillStyle = palette.fg;
    let before = -10;
    for (let i = 0; i < scale.width; i++) {
      let top = 0, sum = 0;
      const n = perPixel(scale.left + i, (k) => {
        top = Math.max(top, this.max[k]!);
        sum += this.mean[k]!;
      });
      const maximum = top / 255 * most, mean = sum / n / 255 * strip.runnable.full / strip.step;
      if (maximum < most * 0.5 || maximum < mean + most * 0.3 || i - before < 6) continue;
      before = i;
      context.beginPath();
      context.arc(scale.left + i, y(maximum), 1.3, 0, 7);
      context.fill();
    }
  }

  private paintHeap(
      context: CanvasRenderingContext2D, scale: Scale, bottom: number,
      perPixel: (x: number, use: (k: number) => void) => number) {
    const {palette} = this.app, strip = this.strip!;
    const heap = strip.metrics['heap']?.full ?? 0;
    const full = Math.max(heap, Math.min(strip.metrics['goal']?.full ?? 0, heap * 3 || Infinity));
    for (const [name, color] of [['goal', palette.dim], ['heap', palette.states[6]!]] as const) {
      const values = this.metrics[name];
      if (!values || full <= 0) continue;
      context.strokeStyle = color;
      context.beginPath();
      for (let i = 0; i < scale.width; i++) {
        let most = 0;
        perPixel(scale.left + i, (k) => {
          most = Math.max(most, values[k]!);
        });
        const v = bottom + 24 - Math.min(1, most / 255 * strip.metrics[name]!.full / full) * 18;
        if (i === 0)
          context.moveTo(scale.left, v);
        else
          context.lineTo(scale.left + i, v);
      }
      context.stroke();
    }
  }

  private listen() {
    const time = (event: PointerEvent) =>
        Math.max(0, Math.min(this.app.trace.duration, this.scale.time(event.offsetX)));
    this.canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      this.canvas.setPointerCapture(event.pointerId);
      const {from, to} = currentWindow(this.app),
                   whole = from <= 0 && to >= this.app.trace.duration;
      const kind = grip(event.offsetX, event.offsetY, this.scale.x(from), this.scale.x(to), whole);
      this.drag = {kind, x: event.offsetX, at: time(event), from, to, moved: false};
    });
    this.canvas.addEventListener('pointermove', (event) => {
      const {drag} = this, scale = this.scale;
      if (!drag) {
        this.hover(event);
        return;
      }
      if (Math.abs(event.offsetX - drag.x) > 2) drag.moved = true;
      if (!drag.moved) return;
      this.tip.hidden = true;
      const t = time(event), shift = (event.offsetX - drag.x) * scale.nsPerPixel;
      if (drag.kind === 'new')
        setWindow(this.app, Math.min(drag.at, t), Math.max(drag.at, t), 'move');
      else if (drag.kind === 'from')
        setWindow(this.app, Math.min(t, drag.to - 1), drag.to, 'move');
      else if (drag.kind === 'to')
        setWindow(this.app, drag.from, Math.max(t, drag.from + 1), 'move');
      else
        setWindow(this.app, drag.from + shift, drag.to + shift, 'move');
    });
    this.canvas.addEventListener('pointerup', (event) => {
      const {drag} = this;
      this.drag = null;
      if (!drag || drag.moved) return;
      // A click moves the window to where it was.
      const {from, to} = currentWindow(this.app);
      if (drag.kind === 'new' && to - from < this.app.trace.duration) {
        const t = time(event);
        setWindow(this.app, t - (to - from) / 2, t + (to - from) / 2, 'step');
      }
    });
    this.canvas.addEventListener('pointercancel', () => {
      this.drag = null;
    });
    this.canvas.addEventListener('pointerleave', () => {
      this.tip.hidden = true;
    });
    this.canvas.addEventListener('dblclick', () => this.app.store.set({from: null, to: null}));
    this.canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      const {from, to} = currentWindow(this.app);
      const factor = Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.005);
      const t = this.scale.time(event.offsetX), middle = t >= from && t <= to ? t : (from + to) / 2;
      setWindow(
          this.app, middle - (middle - from) * factor, middle + (to - middle) * factor, 'move');
    }, {passive: false});
  }

  private hover(event: PointerEvent) {
    const {strip} = this, scale = this.scale;
    const {from, to} = currentWindow(this.app), whole = from <= 0 && to >= this.app.trace.duration;
    const kind = grip(event.offsetX, event.offsetY, scale.x(from), scale.x(to), whole);
    this.canvas.style.cursor = kind === 'new' ? 'crosshair' :
        kind === 'move'                       ? 'grab' :
                                                'ew-resize';
    const t = scale.time(event.offsetX);
    const k = strip ? Math.floor((t - strip.begin) / strip.step) : -1;
    if (!strip || k < 0 || k >= strip.count || event.offsetX < scale.left) {
      this.tip.hidden = true;
      return;
    }
    const share = strip.full / strip.step;
    replace(
        this.tip,
        h('div', {class: 'dim'},
          `${moment(t, scale.nsPerPixel * 1000, this.app.trace.duration)}, ${
              duration(strip.step)}`),
        this.columns.filter(([code, values]) => STACK.includes(code) && values[k]! > 0)
            .map(([code, values]) => {
              const state = this.app.trace.states[code] ?? '';
              return h(
                  'div', null, stateMark(state),
                  `${STATE_LABELS[state] ?? state} ${percent(values[k]!, 255)}`,
                  ` · ${(values[k]! / 255 * share).toFixed(1)} Ps`);
            }),
        h('div', null,
          strip.runnable.most ?
              `${
                  count(Math.round(
                      this.max[k]! / 255 * strip.runnable.most))} waiting to run at most` :
              `${
                  (this.mean[k]! / 255 * strip.runnable.full / strip.step)
                      .toFixed(1)} waiting to run`),
        this.metrics['heap'] ?
            h('div', null,
              `heap ${
                  bytes(
                      Math.round(this.metrics['heap'][k]! / 255 * strip.metrics['heap']!.full))}`) :
            null);
    this.tip.hidden = false;
    this.tip.style.left =
        `${Math.max(4, Math.min(event.offsetX + 14, this.width - this.tip.offsetWidth - 8))}px`;
    this.tip.style.top = `${TOP + 4}px`;
  }
}
