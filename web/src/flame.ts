// The profile: a flame graph of the window, with the heaviest functions beside it.

import {Flame} from './answers';
import {App, ViewPart, windowParams} from './app';
import {fitCanvas, h, replace, textWidth} from './dom';
import {ancestors, Box, boxes, forest, Forest, heaviest} from './flame_layout';
import {count, exactDuration, duration, fitName, percent, visible} from './format';
import {isAbort, Params, requestText} from './requests';
import {saveAddress} from './save';
import {State} from './state';

const TYPES: [string, string][] = [
  ['wall', 'all time'], ['offcpu', 'not running'], ['oncpu', 'on the CPU'],
  ['sync', 'waiting: channels, locks'], ['net', 'waiting: network'], ['syscall', 'in syscalls'],
  ['sched', 'waiting to run'], ['wakeup', 'waits, with who ended them'],
  ['create', 'created goroutines'], ['gc-assist', 'mark assists']
];
const ROW = 19;
const STATE_OF_TYPE: Record<string, number> = {
  wall: 5,
  offcpu: 5,
  oncpu: 1,
  sync: 5,
  net: 4,
  syscall: 3,
  sched: 2,
  wakeup: 5,
  create: 8,
  'gc-assist': 7
};

export class FlameView implements ViewPart {
  readonly root: HTMLElement;
  private readonly tools = h('div', {class: 'bar-of-tools'});
  private readonly canvas = h('canvas');
  private readonly pane = h('div', {class: 'pane flame'});
  private readonly spacer = h('div');
  private readonly side = h('div', {class: 'pane side'});
  private readonly tip = h('div', {class: 'tip', hidden: true});
  private readonly find: HTMLInputElement = h('input', {
    type: 'search',
    placeholder: 'Find a function',
    'aria-label': 'Find a function',
    spellcheck: 'false',
    oninput: () => this.app.store.setParam('profile.find', this.find.value, 'move')
  });
  private requested = '';
  private timer = 0;
  private abort: AbortController|null = null;
  private forest: Forest|null = null;
  private boxes: Box[] = [];
  private zoomed = 0;
  private focus = 0;
  private frame = 0;

  constructor(private readonly app: App) {
    const split = h('div', {class: 'split'}, this.pane, this.side);
    this.root = h('div', {class: 'split rows'}, this.tools, split, this.tip);
    this.pane.append(this.canvas, this.spacer);
    new ResizeObserver(() => {
      this.layout();
    }).observe(this.pane);
    this.pane.addEventListener('scroll', () => this.redraw(), {passive: true});
    this.canvas.addEventListener('click', (event) => {
      const box = this.boxAt(event);
      if (box) this.zoom(box.node);
    });
    this.canvas.addEventListener('pointermove', (event) => this.hover(event));
    this.canvas.addEventListener('pointerleave', () => {
      this.tip.hidden = true;
    });
  }

  private param(state: State, name: string): string {
    return state.params[`profile.${name}`] ?? '';
  }

  private params(state: State): Params {
    const p = (name: string) => this.param(state, name) || null;
    return [
      ...windowParams(state, this.app.trace.duration), ['type', p('type') ?? 'offcpu'],
      ['func', p('func')], ['g', p('g')], ['task', p('task')], ['region', p('region')]
    ];
  }

  update(state: State, before: State|null) {
    const params: Params =
        [...this.params(state), ['inverted', this.param(state, 'inverted') === '1']];
    const key = `${requestText('flame', params)} ${this.app.requests.complete}`;
    if (document.activeElement !== this.find) this.find.value = this.param(state, 'find');
    this.drawTools(state);
    if (key !== this.requested) {
      const moved = this.requested !== '' && before !== null &&
          requestText('x', this.params(before).slice(-5)) ===
              requestText('x', this.params(state).slice(-5));
      this.requested = key;
      if (this.forest) this.pane.style.opacity = '0.5';
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.load(params, key), moved ? 250 : 0);
    } else
      this.redraw();
  }

  private drawTools(state: State) {
    const type: HTMLSelectElement =
        h('select', {
          'aria-label': 'Type of profile',
          onchange: () => this.app.store.setParam('profile.type', type.value)
        },
          TYPES.map(([id, title]) => h('option', {value: id}, `${id}: ${title}`)));
    type.value = this.param(state, 'type') || 'offcpu';
    const inverted = this.param(state, 'inverted') === '1';
    const chips = ['func', 'g', 'task', 'region']
                      .filter((k) => this.param(state, k))
                      .map(
                          (k) =>
                              h('button', {
                                class: 'tool',
                                title: 'Remove this condition',
                                onclick: () => this.app.store.setParam(`profile.${k}`, null)
                              },
                                `${{func: 'function', g: 'G', task: 'task', region: 'region'}[k]} ${
                                    this.param(state, k)} ✕`));
    const g = state.lane?.startsWith('g:') ? state.lane.slice(2) : null;
    replace(
        this.tools, type,
        h('span', {class: 'choice'},
          h('button', {
            class: inverted ? '' : 'on',
            onclick: () => this.app.store.setParam('profile.inverted', null)
          },
            'Callees'),
          h('button', {
            class: inverted ? 'on' : '',
            title: 'From the functions in which time was spent to their callers',
            onclick: () => this.app.store.setParam('profile.inverted', '1')
          },
            'Callers')),
        chips,
        g !== null && this.param(state, 'g') !== g ?
            h('button', {class: 'tool', onclick: () => this.app.store.setParam('profile.g', g)},
              `Only G ${g}`) :
            null,
        state.task && this.param(state, 'task') !== state.task ?
            h('button',
              {class: 'tool', onclick: () => this.app.store.setParam('profile.task', state.task)},
              `Only task ${state.task}`) :
            null,
        this.find, this.app.requests.baked ? null : [
          h('a', {
            class: 'link',
            download: '',
            href: saveAddress(
                this.app, 'pprof', this.params(state).filter(([k]) => k !== 'from' && k !== 'to'))
          },
            'pprof'),
          h('a', {
            class: 'link',
            download: '',
            href: saveAddress(
                this.app, 'folded', this.params(state).filter(([k]) => k !== 'from' && k !== 'to'))
          },
            'folded')
        ]);
  }

  private load(params: Params, key: string) {
    this.abort?.abort();
    this.abort = new AbortController();
    this.app.requests.json<Flame>('flame', params, this.abort.signal)
        .then((answer) => {
          if (key !== this.requested) return;
          this.forest = forest(answer);
          this.zoomed = this.focus = 0;
          this.pane.style.opacity = '';
          if (this.canvas.parentElement !== this.pane) replace(this.pane, this.canvas, this.spacer);
          if (answer.total <= 0) {
            replace(this.pane, h('div', {class: 'note'}, 'Nothing of this type is in the window.'));
            this.side.textContent = '';
            return;
          }
          this.drawSide();
          this.layout();
        })
        .catch((error) => {
          if (isAbort(error) || key !== this.requested) return;
          this.forest = null;
          this.pane.style.opacity = '';
          replace(this.pane, h('div', {class: 'error'}, String((error as Error).message)));
          this.side.textContent = '';
        });
  }

  private value(n: number): string {
    return this.forest?.flame.unit === 'nanoseconds' ? duration(n) : count(n);
  }

  private drawSide() {
    const {flame} = this.forest!;
    const rows =
        heaviest(this.forest!, this.param(this.app.store.state, 'inverted') === '1').slice(0, 300);
    replace(
        this.side,
        h('table', {class: 'data'},
          h('thead', null,
            h('tr', null, h('th', {class: 'n'}, 'self'), h('th', {class: 'n'}, '%'),
              h('th', {class: 'n'}, 'total'), h('th', null, 'function'))),
          h('tbody', null,
            rows.map(
                (r) =>
                    h('tr', {
                      class: 'go',
                      onclick: () =>
                          this.app.store.setParam('profile.find', flame.names[r.name] ?? '')
                    },
                      h('td', {class: 'n'}, r.self ? this.value(r.self) : ''),
                      h('td', {class: 'n dim'}, r.self ? percent(r.self, flame.total) : ''),
                      h('td', {class: 'n'}, this.value(r.total)),
                      h('td', {class: 'wide', title: flame.names[r.name] ?? ''},
                        flame.names[r.name] || '(unknown)'))))),
        flame.nodes_left_out ?
            h('div', {class: 'note'}, `${count(flame.nodes_left_out)} small nodes are left out.`) :
            null);
  }

  private zoom(node: number) {
    this.zoomed = this.focus = node;
    this.layout();
  }

  private layout() {
    if (!this.forest) return;
    const width = this.pane.clientWidth;
    this.boxes = boxes(this.forest, this.zoomed, 0.7 / Math.max(1, width));
    const depth = this.boxes.reduce((d, b) => Math.max(d, b.depth), 0) + 1;
    this.spacer.style.height = `${Math.max(0, depth * ROW + 8 - this.pane.clientHeight)}px`;
    this.redraw();
  }

  private redraw() {
    if (!this.frame)
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
  }

  private draw() {
    if (!this.forest) return;
    const width = this.pane.clientWidth, height = this.pane.clientHeight;
    if (width < 10) return;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = fitCanvas(this.canvas, width, height);
    if (!context) return;
    const {palette} = this.app, {flame} = this.forest;
    const find = this.param(this.app.store.state, 'find').toLowerCase();
    const above = new Set(ancestors(flame, this.zoomed).slice(0, -1));
    context.font = palette.font;
    context.textBaseline = 'middle';
    context.clearRect(0, 0, width, height);
    const color =
        palette.states[STATE_OF_TYPE[this.param(this.app.store.state, 'type') || 'offcpu'] ?? 5]!;
    for (const box of this.boxes) {
      const y = box.depth * ROW - this.pane.scrollTop;
      if (y + ROW < 0 || y > height) continue;
      const [, nameIndex, value] = flame.nodes[box.node]!;
      const name = box.node === 0 ? `all ${this.value(flame.total)}` : flame.names[nameIndex] ?? '';
      const hit = find !== '' && name.toLowerCase().includes(find);
      const x = box.from * width, w = (box.to - box.from) * width;
      context.fillStyle = palette.soft;
      context.fillRect(x, y, Math.max(0.6, w - 1), ROW - 1);
      context.fillStyle = hit ? palette.select : color;
      context.globalAlpha = hit              ? 0.55 :
          find !== '' || above.has(box.node) ? 0.15 :
          box.node === 0                     ? 0.1 :
                                               0.32 + (box.depth % 2) * 0.1;
      context.fillRect(x, y, Math.max(0.6, w - 1), ROW - 1);
      context.globalAlpha = 1;
      if (box.node === this.focus && this.focus !== 0) {
        context.strokeStyle = palette.select;
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, Math.max(1, w - 3), ROW - 3);
        context.lineWidth = 1;
      }
      if (w < 28) continue;
      const text = fitName(visible(name.slice(0, 400)), (t) => textWidth(context, t) <= w - 10);
      context.fillStyle = palette.fg;
      context.fillText(text, x + 4, y + ROW / 2);
      const used = textWidth(context, text),
            side = `${this.value(value)}  ${percent(value, flame.total)}`;
      if (box.node !== 0 && w - used - 20 > textWidth(context, side)) {
        context.fillStyle = palette.dim;
        context.fillText(side, x + w - 6 - textWidth(context, side), y + ROW / 2);
      }
    }
  }

  private boxAt(event: {offsetX: number, offsetY: number}): Box|null {
    const x = event.offsetX / Math.max(1, this.pane.clientWidth),
          depth = Math.floor((event.offsetY + this.pane.scrollTop) / ROW);
    return this.boxes.find((b) => b.depth === depth && b.from <= x && x < b.to) ?? null;
  }

  private hover(event: PointerEvent) {
    const box = this.boxAt(event), forest = this.forest;
    this.tip.hidden = !box;
    if (!box || !forest) return;
    const {flame} = forest;
    const [, name, value, self] = flame.nodes[box.node]!;
    const exact = (n: number) => flame.unit === 'nanoseconds' ? exactDuration(n) : count(n);
    replace(
        this.tip, h('div', {class: 'name'}, box.node === 0 ? 'all' : flame.names[name] ?? ''),
        h('div', null, `${exact(value)}, ${percent(value, flame.total)}`),
        self ? h('div', {class: 'dim'}, `itself ${exact(self)}`) : null);
    this.tip.style.left = `${
        Math.max(
            4, Math.min(event.offsetX + 14, this.pane.clientWidth - this.tip.offsetWidth - 8))}px`;
    this.tip.style.top = `${event.offsetY + 52}px`;
  }

  key(event: KeyboardEvent): boolean {
    const forest = this.forest;
    if (!forest || forest.flame.total <= 0) return false;
    const {flame, children} = forest;
    const parent = flame.nodes[this.focus]![0];
    const siblings = parent >= 0 ? children[parent]! : [0];
    const to = (node: number|undefined) => {
      if (node !== undefined && node >= 0) {
        this.focus = node;
        this.redraw();
      }
      return true;
    };
    switch (event.key) {
      case 'ArrowDown':
        return to(children[this.focus]![0]);
      case 'ArrowUp':
        return to(parent);
      case 'ArrowLeft':
        return to(siblings[siblings.indexOf(this.focus) - 1]);
      case 'ArrowRight':
        return to(siblings[siblings.indexOf(this.focus) + 1]);
      case 'Enter':
        this.zoom(this.focus);
        return true;
      case 'Escape':
      case 'Backspace':
        if (this.zoomed !== 0) {
          this.zoom(event.key === 'Escape' ? 0 : Math.max(0, flame.nodes[this.zoomed]![0]));
          return true;
        }
        return false;
      case 'v':
        this.app.store.setParam(
            'profile.inverted', this.param(this.app.store.state, 'inverted') === '1' ? null : '1');
        return true;
      case 'Tab':
        this.find.focus();
        return true;
    }
    return false;
  }
}
