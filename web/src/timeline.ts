// The timeline: lanes on one canvas, with everything that one can do to them. What it knows is in
// TimelineData; this keeps only where things are and what the user does.

import {App, currentWindow, setWindow, ViewPart} from './app';
import {fitCanvas, h, replace, stateMark} from './dom';
import {layout, Row, rowAt, Scale, visibleRows} from './layout';
import {isMarks, State, zoomWindow} from './state';
import {Change, TimelineData} from './timeline_data';
import {markAt, spanOf, tipLines} from './timeline_hit';
import {AXIS, drawTimeline} from './timeline_painter';
import {layoutInput} from './timeline_rows';
import {drawTools} from './timeline_tools';

interface Point {
  x: number;
  y: number;
}

/** A gesture of one pointer or two: where it began, and the window then. */
interface Drag extends Point {
  kind: 'pan'|'measure'|'names'|'pinch';
  from: number;
  to: number;
  moved: boolean;
  /** How far apart the pointers of a pinch were, in pixels. */
  distance: number;
}

export class Timeline implements ViewPart {
  readonly root: HTMLElement;
  private readonly stage: HTMLElement;
  private readonly tools = h('div', {class: 'bar-of-tools thin'});
  private readonly scroll = h('div', {class: 'scroll', tabindex: '0', 'aria-label': 'Timeline'});
  private readonly canvas = h('canvas', {class: 'sheet'});
  private readonly spacer = h('div');
  private readonly divider = h('div', {class: 'divider', 'aria-hidden': 'true'});
  private readonly tip = h('div', {class: 'tip', hidden: true});
  private readonly corner =
      h('div', {class: 'corner', hidden: true}, 'not in this report: coarser than asked for');
  private readonly data: TimelineData;
  private rows: Row[] = [];
  private settleTimer = 0;
  /** The group that is to be scrolled to once it has a row. */
  private wanted: string|null = null;
  private frame = 0;
  private shown = false;
  private measure: {from: number, to: number}|null = null;
  private pointers = new Map<number, Point>();
  private drag: Drag|null = null;
  private held = new Set<string>();
  private drawn = {from: 0, to: 0};
  private stillTimer = 0;
  private lastTick = 0;
  private left = 168;
  private width = 0;
  private viewHeight = 0;
  /** For tests in a browser: how long the last frames took. */
  frameTimes: number[] = [];

  constructor(private readonly app: App) {
    this.stage = h('div', {class: 'timeline'}, this.scroll, this.divider, this.tip, this.corner);
    this.root = h('div', {class: 'split rows'}, this.tools, this.stage);
    this.scroll.append(this.canvas, this.spacer);
    this.data = new TimelineData(app, (change) => this.changed(change));
    this.listen();
    new ResizeObserver(() => {
      this.resize();
    }).observe(this.stage);
  }

  update(state: State, before: State|null) {
    // It is about what was under the pointer.
    if (before && (before.from !== state.from || before.to !== state.to)) this.tip.hidden = true;
    const first = !this.shown;
    this.shown = true;
    if (first) this.resize();
    const wish = Number(state.params['timeline.names'] ?? 0);
    this.left = wish >= 40 ? Math.min(wish, this.width * 0.6) :
        this.width < 600   ? 92 :
        this.width > 2400  ? 240 :
        this.width > 1100  ? 208 :
                             176;
    if (!before || before.lane !== state.lane || before.at !== state.at) this.data.select(state);
    if (!before || before.path !== state.path) void this.data.loadPath(state);
    const group = state.params['timeline.group'] ?? null;
    if (group && group !== before?.params['timeline.group']) this.wanted = group;
    if (!before || before.params !== state.params || before.pin !== state.pin ||
        before.path !== state.path || before.clock !== state.clock)
      drawTools(this.tools, this.app, state);
    this.settle();
    this.rebuild();
  }

  hide() {
    this.shown = false;
    this.held.clear();
    this.tip.hidden = true;
  }

  /** The trace has grown, or is complete now. */
  traceChanged() {
    this.data.clear();
    if (this.shown) {
      this.settle();
      this.rebuild();
    }
  }

  redraw() {
    if (this.frame || !this.shown) return;
    this.frame = requestAnimationFrame((now) => {
      this.frame = 0;
      this.draw(now);
    });
  }

  private changed(change: Change) {
    if (change === 'rows') {
      this.rebuild();
      return;
    }
    if (change === 'selection') this.reveal(this.data.span!.lane);
    this.redraw();
  }

  private scale(): Scale {
    const {from, to} = currentWindow(this.app);
    return new Scale(from, to, this.left, Math.max(1, this.width - this.left));
  }

  /** Asks for what belongs to the window once it has been still for a moment. */
  private settle() {
    clearTimeout(this.settleTimer);
    this.settleTimer = window.setTimeout(() => {
      if (this.shown) this.data.load(this.scale(), this.taskLimit());
    }, this.data.loaded ? 120 : 0);
  }

  private taskLimit(): number {
    // A report has six.
    const usual = this.app.requests.baked || this.viewHeight < 1200 ? 6 : 12;
    const wish = Number(this.app.store.state.params['timeline.tasks'] ?? '') || usual;
    return Math.min(200, Math.max(1, wish));
  }

  /** Scrolls so that a lane can be seen. */
  private reveal(lane: string) {
    const row =
        this.rows.find((r) => (r.kind === 'lane' || r.kind === 'group' ? r.id : r.kind) === lane);
    if (!row) return;
    if (row.kind === 'group') {
      this.wanted = null;
      this.scroll.scrollTop = Math.max(0, row.y - 60);
      return;
    }
    const top = this.scroll.scrollTop, visibleHeight = this.viewHeight - AXIS;
    if (row.y < top)
      this.scroll.scrollTop = Math.max(0, row.y - 60);
    else if (row.y + row.height > top + visibleHeight)
      this.scroll.scrollTop = row.y + row.height - visibleHeight + 60;
  }

  // Rows
  // --------------------------------------------------------------------------------------------------------------

  private resize() {
    this.width = Math.max(1, this.scroll.clientWidth);
    this.viewHeight = Math.max(1, this.stage.clientHeight);
    if (this.shown) this.update(this.app.store.state, this.app.store.state);
  }

  private rebuild() {
    const {rows, height} = layout(layoutInput(this.app, this.data, this.viewHeight - AXIS));
    this.rows = rows;
    const spacer = Math.max(0, Math.min(3e7, height + AXIS + 24) - this.viewHeight);
    this.spacer.style.height = `${spacer}px`;
    this.canvas.style.height = `${this.viewHeight}px`;
    this.canvas.style.width = `${this.width}px`;
    this.divider.style.left = `${this.left - 4}px`;
    if (this.wanted) this.reveal(this.wanted);
    this.redraw();
  }

  private toggle(id: string) {
    const {open} = this.app.store.state;
    this.app.store.set({open: open.includes(id) ? open.filter((o) => o !== id) : [...open, id]});
  }

  // Drawing
  // -----------------------------------------------------------------------------------------------------------

  private draw(now: number) {
    const started = performance.now();
    this.animate(now);
    const {app, data, rows, width, viewHeight, measure} = this, {palette, filter} = app;
    const context = fitCanvas(this.canvas, width, viewHeight);
    if (!context) return;
    const scale = this.scale();
    const moving = scale.from !== this.drawn.from || scale.to !== this.drawn.to;
    this.drawn = {from: scale.from, to: scale.to};
    clearTimeout(this.stillTimer);
    if (moving) this.stillTimer = window.setTimeout(() => this.redraw(), 120);
    const {scrollTop} = this.scroll;
    const shown = visibleRows(rows, scrollTop, scrollTop + viewHeight - AXIS);
    data.tiles.begin();
    drawTimeline({
      context,
      palette,
      scale,
      filter,
      smooth: !moving,
      bands: data.bands,
      app,
      data,
      rows,
      shown,
      top: AXIS - scrollTop,
      width,
      height: viewHeight,
      measure
    });
    data.tiles.finish();
    for (const row of shown)
      if (row.kind === 'members') void data.loadMembers(row.group, row.first);
    this.corner.hidden = !data.tiles.coarser;
    this.frameTimes.push(performance.now() - started);
    if (this.frameTimes.length > 600) this.frameTimes.splice(0, 300);
    if (this.held.size) this.redraw();
  }

  // What people do
  // ----------------------------------------------------------------------------------------------------

  private listen() {
    this.scroll.addEventListener('scroll', () => {
      this.tip.hidden = true;
      this.redraw();
    }, {passive: true});
    this.scroll.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
    this.canvas.addEventListener('pointerdown', (event) => this.down(event));
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    this.canvas.addEventListener('pointerup', (event) => this.up(event));
    this.canvas.addEventListener('pointercancel', (event) => {
      this.pointers.delete(event.pointerId);
      this.drag = null;
    });
    this.canvas.addEventListener('pointerleave', () => {
      this.tip.hidden = true;
    });
    this.canvas.addEventListener('dblclick', (event) => this.doubleClick(event));
    this.divider.addEventListener('pointerdown', (event) => {
      this.divider.setPointerCapture(event.pointerId);
      const start = event.clientX, left = this.left;
      const move = (e: PointerEvent) => this.app.store.setParam(
          'timeline.names', String(Math.round(Math.max(60, left + e.clientX - start))), 'move');
      const up = () => {
        this.divider.removeEventListener('pointermove', move);
      };
      this.divider.addEventListener('pointermove', move);
      this.divider.addEventListener('pointerup', up, {once: true});
    });
    window.addEventListener('keyup', (event) => this.held.delete(event.key.toLowerCase()));
    window.addEventListener('blur', () => this.held.clear());
  }

  private point(event: MouseEvent): Point {
    const box = this.canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  }

  private wheel(event: WheelEvent) {
    const {x} = this.point(event);
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? this.viewHeight : 1;
    const scale = this.scale();
    if (event.ctrlKey || event.metaKey || event.altKey) {
      event.preventDefault();
      // A pinch on a touchpad arrives as small steps of the wheel with the control key.
      const factor = Math.exp(
          Math.max(-60, Math.min(60, event.deltaY * unit)) *
          (event.ctrlKey && Math.abs(event.deltaY) < 40 ? 0.01 : 0.005));
      this.zoom(factor, scale.time(Math.max(x, this.left)));
      return;
    }
    const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (sideways !== 0 && Math.abs(sideways) >= Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      event.preventDefault();
      this.pan(sideways * unit * scale.nsPerPixel);
    }
  }

  private zoom(factor: number, at: number) {
    const w = zoomWindow(currentWindow(this.app), factor, at, this.app.trace.duration);
    setWindow(this.app, w.from, w.to, 'move');
  }

  private pan(ns: number) {
    const {from, to} = currentWindow(this.app);
    setWindow(this.app, from + ns, to + ns, 'move');
  }

  private down(event: PointerEvent) {
    if (event.button !== 0) return;
    this.scroll.focus({preventScroll: true});
    const {x, y} = this.point(event);
    this.pointers.set(event.pointerId, {x, y});
    this.canvas.setPointerCapture(event.pointerId);
    const {from, to} = currentWindow(this.app);
    if (this.pointers.size === 2) {
      const [a, b] = [...this.pointers.values()] as [Point, Point];
      this.drag = {
        kind: 'pinch',
        x: (a.x + b.x) / 2,
        y,
        from,
        to,
        moved: true,
        distance: Math.max(20, Math.abs(a.x - b.x))
      };
      return;
    }
    this.drag = {
      kind: event.shiftKey && x > this.left ? 'measure' :
          x < this.left                     ? 'names' :
                                              'pan',
      x,
      y,
      from,
      to,
      moved: false,
      distance: 0
    };
    if (this.drag.kind === 'measure') {
      const t = this.scale().time(x);
      this.measure = {from: t, to: t};
    }
  }

  private move(event: PointerEvent) {
    const {x, y} = this.point(event);
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, {x, y});
    const {drag} = this;
    if (!drag) {
      this.hover({x, y});
      return;
    }
    if (Math.abs(x - drag.x) > 3 || Math.abs(y - drag.y) > 3) drag.moved = true;
    if (!drag.moved) return;
    this.tip.hidden = true;
    const width = Math.max(1, this.width - this.left), ns = (drag.to - drag.from) / width;
    if (drag.kind === 'pan')
      setWindow(this.app, drag.from - (x - drag.x) * ns, drag.to - (x - drag.x) * ns, 'move');
    if (drag.kind === 'measure') {
      this.measure!.to = this.scale().time(Math.max(this.left, x));
      this.redraw();
    }
    if (drag.kind === 'pinch' && this.pointers.size === 2) {
      const [a, b] = [...this.pointers.values()] as [Point, Point];
      const factor = drag.distance / Math.max(20, Math.abs(a.x - b.x));
      const at = drag.from + (drag.x - this.left) * ns, length = (drag.to - drag.from) * factor;
      const share = ((a.x + b.x) / 2 - this.left) / width;
      setWindow(this.app, at - length * share, at + length * (1 - share), 'move');
    }
  }

  private up(event: PointerEvent) {
    this.pointers.delete(event.pointerId);
    const {drag} = this;
    this.drag = null;
    if (!drag || drag.moved) return;
    if (drag.kind === 'measure') this.measure = null;
    this.click(this.point(event));
  }

  private rowAtPoint(y: number): Row|null {
    return y < AXIS ? null : rowAt(this.rows, y - AXIS + this.scroll.scrollTop);
  }

  private click({x, y}: Point) {
    const row = this.rowAtPoint(y);
    if (!row) {
      this.clear();
      return;
    }
    const at = Math.max(0, Math.floor(this.scale().time(x)));
    if (row.kind === 'section' || row.kind === 'group')
      this.toggle(row.id);
    else if (row.kind === 'lane' && x >= this.left) {
      // A span is asked for by its begin, if that is known: a report has it by that.
      const span = spanOf(this.data.tiles, this.scale(), row, at);
      const begin = span && span.cut % 2 === 0 ? span.begin : at;
      this.app.store.set({lane: row.id, at: begin, task: null});
    } else if (row.kind === 'lane') {
      const {lane, at: before} = this.app.store.state;
      this.app.store.set({
        lane: row.id,
        at: lane === row.id ? before : Math.floor(currentWindow(this.app).from),
        task: null
      });
    } else if (row.kind === 'task') {
      const task = this.data.tasks.tasks[row.index];
      if (task) this.app.store.set({task: String(task.task), lane: null, at: null});
    } else if (row.kind === 'cycles' || row.kind === 'stops') {
      const mark = markAt(this.data.marks[row.kind], this.scale(), at);
      if (!mark) {
        this.clear();
        return;
      }
      // The first one, if there are several too close to be told apart.
      this.app.store.set({lane: row.kind, at: mark[0], task: null});
    } else
      this.clear();
  }

  private clear() {
    this.measure = null;
    if (this.app.store.state.lane !== null || this.app.store.state.task !== null) {
      this.app.store.set({lane: null, at: null, task: null});
    }
    this.redraw();
  }

  private doubleClick(event: MouseEvent) {
    const {x, y} = this.point(event);
    const row = this.rowAtPoint(y);
    if (!row || x < this.left) return;
    const t = this.scale().time(x);
    if (row.kind === 'lane') {
      const span = spanOf(this.data.tiles, this.scale(), row, t);
      if (span) this.fit(span.begin, span.end);
    } else if (row.kind === 'task') {
      const task = this.data.tasks.tasks[row.index];
      if (task) this.fit(task.begin, task.begin + task.duration);
    } else if (row.kind === 'cycles' || row.kind === 'stops') {
      const mark = markAt(this.data.marks[row.kind], this.scale(), t);
      if (mark) this.fit(mark[0], mark[0] + mark[1]);
    }
  }

  private fit(from: number, to: number) {
    const room = Math.max(1, (to - from) * 0.05);
    setWindow(this.app, from - room, to + room, 'step');
  }

  private hover({x, y}: Point) {
    const row = this.rowAtPoint(y);
    const lines = row ? tipLines(this.app, this.data, this.scale(), row, x) : [];
    this.tip.hidden = lines.length === 0;
    if (!lines.length) return;
    replace(
        this.tip,
        lines.map(
            ({text, look, state}) =>
                h('div', {class: look}, state !== undefined && stateMark(state), text)));
    const left = Math.max(4, Math.min(x + 14, this.width - this.tip.offsetWidth - 12));
    const below = y + 18 + this.tip.offsetHeight < this.viewHeight;
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${below ? y + 18 : Math.max(0, y - this.tip.offsetHeight - 8)}px`;
  }

  // Keys
  // --------------------------------------------------------------------------------------------------------------

  /** Moves while w, a, s or d is held. */
  private animate(now: number) {
    const elapsed = Math.min(50, this.lastTick ? now - this.lastTick : 16);
    this.lastTick = this.held.size ? now : 0;
    if (this.held.size) this.moveFor(elapsed / 1000);
  }

  /** Moves as far as the held keys do in some seconds. */
  private moveFor(seconds: number) {
    const {from, to} = currentWindow(this.app);
    if (this.held.has('a') !== this.held.has('d'))
      this.pan((this.held.has('a') ? -1 : 1) * (to - from) * 0.9 * seconds);
    if (this.held.has('w') !== this.held.has('s')) {
      const scale = this.scale();
      const {span} = this.data;
      const middle = span && span.begin >= from && span.end <= to ?
          (span.begin + span.end) / 2 :
          scale.time(this.left + scale.width / 2);
      this.zoom(Math.exp((this.held.has('w') ? -2.2 : 2.2) * seconds), middle);
    }
  }

  key(event: KeyboardEvent): boolean {
    const key = event.key;
    if ('wasd'.includes(key) && key.length === 1) {
      if (!this.held.size) this.lastTick = 0;
      this.held.add(key);
      // So that a tap is enough to see something.
      if (!event.repeat) this.moveFor(0.12);
      this.redraw();
      return true;
    }
    const {from, to} = currentWindow(this.app);
    const {state} = this.app.store;
    switch (key) {
      case 'ArrowLeft':
        this.pan((from - to) * 0.1);
        return true;
      case 'ArrowRight':
        this.pan((to - from) * 0.1);
        return true;
      case '+':
      case '=':
        this.zoom(0.5, (from + to) / 2);
        return true;
      case '-':
        this.zoom(2, (from + to) / 2);
        return true;
      case 'ArrowUp':
      case 'ArrowDown':
        this.moveLane(key === 'ArrowUp' ? -1 : 1);
        return true;
      case 'PageUp':
        this.scroll.scrollTop -= this.viewHeight * 0.8;
        return true;
      case 'PageDown':
        this.scroll.scrollTop += this.viewHeight * 0.8;
        return true;
      case 'Enter': {
        if (this.measure) {
          const {from: a, to: b} = this.measure;
          this.measure = null;
          setWindow(this.app, Math.min(a, b), Math.max(a, b), 'step');
          return true;
        }
        const row =
            state.lane ? this.rows.find((r) => r.kind === 'group' && r.id === state.lane) : null;
        if (row) {
          this.toggle(state.lane!);
          return true;
        }
        return false;
      }
      case 'Escape':
        this.clear();
        return true;
      case 'p':
        if (!state.lane || isMarks(state.lane)) {
          this.app.say('Select a lane to pin it.');
          return true;
        }
        this.app.store.set({
          pin: state.pin.includes(state.lane) ? state.pin.filter((l) => l !== state.lane) :
                                                [...state.pin, state.lane]
        });
        return true;
      case 'i':
        this.app.store.setParam(
            'timeline.idle', state.params['timeline.idle'] === 'hide' ? null : 'hide');
        return true;
      case 'm':
        if (this.data.span) {
          this.measure = {from: this.data.span.begin, to: this.data.span.end};
          this.redraw();
        }
        return true;
      case '>':
      case '<': {
        const now = this.taskLimit();
        this.app.store.setParam(
            'timeline.tasks',
            String(key === '>' ? Math.min(200, now * 2) : Math.max(3, Math.floor(now / 2))));
        return true;
      }
    }
    return false;
  }

  /** Selects the lane above or below, at the same time. */
  private moveLane(by: number) {
    const {state} = this.app.store;
    const lanes = this.rows.filter((r): r is Row&{kind: 'lane'} => r.kind === 'lane');
    if (!lanes.length) return;
    const {from, to} = currentWindow(this.app);
    const now = lanes.findIndex((r) => r.id === state.lane);
    const next = lanes[now < 0 ? 0 : Math.max(0, Math.min(lanes.length - 1, now + by))]!;
    this.app.store.set({lane: next.id, at: state.at ?? Math.floor((from + to) / 2), task: null});
  }
}
