// A table on the page: sorts, filters as one types, has columns to choose, and is used with keys.

import {Row} from './answers';
import {App, momentText, sinceBegin} from './app';
import {STATE_NAMES} from './colors';
import {h, replace, stateMark} from './dom';
import {bytes, count, duration, exactDuration, percent, plural} from './format';
import {
  bars,
  bounds,
  cellText,
  Column,
  columnsOf,
  filterRows,
  firstOf,
  Histogram,
  largest,
  meaningOf,
  shortestOf,
  shownFrames,
  sortRows,
  stateOf,
  stateTitle,
  statesOf
} from './table_model';

const CHUNK = 200;
/** What says best what a row is about, the best first. */
const NAMES = ['function', 'start', 'name', 'type', 'kind', 'reason'];
const NUMBERS = new Set(['moment', 'duration', 'bytes', 'count', 'id', 'share', 'counts']);

export interface TableOptions {
  /** The prefix of its parameters in the URL. */
  view: string;
  /** Columns that are shown at first, in this order. */
  columns: string[];
  /** How rows are sorted at first, as in the URL; by default they stay in their order. */
  sort?: string;
  /** What a row leads to; null if to nothing. */
  go?: (row: Row) => (() => void) | null;
  /** Whether a row is about what is selected. */
  selected?: (row: Row) => boolean;
  /** Whether columns are shown under their own names, with all digits. */
  raw?: boolean;
  /** Called with the row that has the keyboard. */
  focused?: (row: Row) => void;
}

export class Table {
  readonly root = h('table', {class: 'data'});
  readonly tools: HTMLElement;
  private readonly head = h('thead');
  private readonly body = h('tbody');
  private readonly filterBox: HTMLInputElement;
  private readonly total = h('span', {class: 'dim'});
  private readonly none = h('div', {class: 'note', hidden: true});
  private rows: Row[] = [];
  private shownRows: Row[] = [];
  private all: Column[] = [];
  private columns: Column[] = [];
  private options: TableOptions;
  private drawn = 0;
  private at = -1;
  private range = {first: 0, last: 30};
  /** The length of the shortest row, which all moments are exact enough for. */
  private shortest = 0;
  private readonly chooser = h('div', {class: 'columns', hidden: true});

  constructor(
      private readonly app: App, options: TableOptions, private readonly pane: HTMLElement) {
    this.options = options;
    this.filterBox = h('input', {
      type: 'search',
      placeholder: 'Filter',
      'aria-label': 'Filter',
      spellcheck: 'false',
      oninput: () => {
        this.app.store.setParam(`${this.options.view}.filter`, this.filterBox.value, 'move');
      },
      onkeydown: (event: KeyboardEvent) => {
        if (event.key === 'ArrowDown' || event.key === 'Enter') {
          this.filterBox.blur();
          this.focusRow(0);
          event.preventDefault();
        }
      }
    });
    const button =
        h('button', {
          class: 'tool',
          onclick: () => {
            this.chooser.hidden = !this.chooser.hidden;
            const place = button.getBoundingClientRect();
            const inside = this.chooser.offsetParent?.getBoundingClientRect();
            if (!inside) return;
            const left = place.left - inside.left, most = inside.width - this.chooser.offsetWidth;
            this.chooser.style.left = `${Math.max(0, Math.min(left, most))}px`;
            this.chooser.style.top = `${place.bottom - inside.top + 2}px`;
          }
        },
          'Columns');
    this.tools = h('span', null, this.filterBox, ' ', button, ' ', this.total);
    this.root.append(this.head, this.body);
    pane.addEventListener('scroll', () => {
      if (pane.scrollTop + pane.clientHeight > pane.scrollHeight - 400) this.more();
    }, {passive: true});
    document.addEventListener('pointerdown', (event) => {
      if (!this.chooser.contains(event.target as Node) && event.target !== button)
        this.chooser.hidden = true;
    });
  }

  get chooserRoot(): HTMLElement {
    return this.chooser;
  }

  show(rows: Row[], options: TableOptions) {
    this.rows = rows;
    this.options = options;
    this.tools.hidden = false;
    this.update();
  }

  /** The first row that the filter leaves. */
  get first(): Row|undefined {
    return this.shownRows[0];
  }

  /** Forgets the rows, which something else is shown instead of. */
  clear() {
    this.rows = this.shownRows = [];
    this.tools.hidden = true;
  }

  /** Draws again, since the state has changed. */
  update() {
    const {view, columns} = this.options, {params} = this.app.store.state;
    this.all = columnsOf(this.rows, columns);
    if (this.options.raw) {
      this.all =
          columns.map((key) => ({
                        key,
                        title: key,
                        kind: this.rows.some((r) => typeof r[key] === 'number') ? 'id' : 'text'
                      }));
    }
    this.shortest = shortestOf(this.rows);
    const chosen = (params[`${view}.columns`] ?? columns.join(',')).split(',');
    this.columns = chosen.map((key) => this.all.find((c) => c.key === key))
                       .filter((c): c is Column => c !== undefined);
    if (!this.columns.length) this.columns = this.all.slice(0, 8);
    // On a narrow page the name has to come first to be seen at all.
    const name = NAMES.map((key) => this.columns.find((c) => c.key === key)).find((c) => c);
    if (name && this.pane.clientWidth < 640)
      this.columns = [name, ...this.columns.filter((c) => c !== name)];
    const filter = params[`${view}.filter`] ?? '';
    if (document.activeElement !== this.filterBox) this.filterBox.value = filter;
    let rows = filterRows(this.rows, this.all, filter);
    const sort = this.sort;
    const column = this.all.find((c) => c.key === sort.replace(/^-/, ''));
    if (column) rows = sortRows(rows, column, sort.startsWith('-'));
    this.shownRows = rows;
    this.range = bounds(rows.slice(0, 500).map((r) => r['histogram'] as Histogram).filter(Boolean));
    replace(
        this.total,
        rows.length === this.rows.length ?
            plural(rows.length, 'row') :
            `${count(rows.length)} of ${plural(this.rows.length, 'row')}`);
    replace(
        this.head,
        h('tr', null, this.columns.map((c) => {
          const on = column?.key === c.key;
          return h(
              'th', {
                class: `${NUMBERS.has(c.kind) ? 'n' : ''} ${on ? 'on' : ''}`,
                scope: 'col',
                title: this.options.raw ? c.key : meaningOf(c.key),
                tabindex: '0',
                onkeydown: (event: KeyboardEvent) => {
                  if (event.key === 'Enter' || event.key === ' ') {
                    this.sortBy(c);
                    event.preventDefault();
                  }
                },
                onclick: () => this.sortBy(c)
              },
              c.title, on ? (sort.startsWith('-') ? ' ↓' : ' ↑') : '');
        }),
          this.wide() < 0 ? h('th', {class: 'rest'}) : null));
    replace(this.chooser, this.all.map((c) => {
      const box = h('input', {
        type: 'checkbox',
        onchange: () => {
          const now = this.columns.map((x) => x.key);
          const next = box.checked ? [...now, c.key] : now.filter((k) => k !== c.key);
          this.app.store.setParam(`${view}.columns`, next.join(','));
        }
      });
      box.checked = this.columns.includes(c);
      return h(
          'label', null, box, c.title, h('span', {class: 'dim'}, c.title === c.key ? '' : c.key));
    }));
    this.body.textContent = '';
    this.drawn = 0;
    this.at = -1;
    this.more();
    this.showWhetherNone(filter);
    const selected = rows.findIndex((r) => this.options.selected?.(r));
    if (selected >= 0 && selected < this.drawn) this.mark(selected, false);
  }

  /** Says so where the filter leaves no row. */
  private showWhetherNone(filter: string) {
    this.none.hidden = this.shownRows.length > 0 || filter === '';
    if (!this.none.hidden)
      replace(
          this.none, `No row has “${filter}”. `,
          h('button', {
            class: 'link',
            onclick: () => this.app.store.setParam(`${this.options.view}.filter`, null)
          },
            'Show all rows'));
    if (this.none.parentElement !== this.root.parentElement) this.root.after(this.none);
  }

  /** Draws only what the selection changes. */
  markSelected() {
    Array.from(this.body.children)
        .forEach(
            (tr, i) => tr.classList.toggle(
                'on', i === this.at || !!this.options.selected?.(this.shownRows[i]!)));
  }

  /** The column that rows are sorted by, with a minus sign before it if the largest comes first. */
  private get sort(): string {
    return this.app.store.state.params[`${this.options.view}.sort`] || this.options.sort || '';
  }

  private sortBy(column: Column) {
    const now = this.sort;
    const numbers = !['text', 'stack', 'state'].includes(column.kind);
    const first = numbers ? `-${column.key}` : column.key,
          second = numbers ? column.key : `-${column.key}`;
    this.app.store.setParam(
        `${this.options.view}.sort`,
        now === first      ? second :
            now === second ? null :
                             first);
  }

  private more() {
    const end = Math.min(this.shownRows.length, this.drawn + CHUNK);
    const widest = this.wide();
    for (let i = this.drawn; i < end; i++) {
      const row = this.shownRows[i]!, go = this.options.go?.(row) ?? null, index = i;
      const on = this.options.selected?.(row);
      this.body.append(
          h('tr', {
            class: `${go ? 'go' : ''} ${on ? 'on' : ''}`,
            onclick: () => {
              this.mark(index, false);
              this.options.focused?.(row);
              go?.();
            }
          },
            this.columns.map((c, k) => this.cell(c, row, k === widest)),
            widest < 0 ? h('td') : null));
    }
    this.drawn = end;
  }

  /**
   * The column that takes the room that is left: the last one, if it is a text. Else nothing does.
   */
  private wide(): number {
    const last = this.columns.length - 1, kind = this.columns[last]?.kind;
    return kind === 'text' || kind === 'stack' ? last : -1;
  }

  private cell(c: Column, row: Row, wide: boolean): HTMLElement {
    const value = row[c.key];
    const kind = `${NUMBERS.has(c.kind) ? 'n' : ''} ${wide ? 'wide' : ''}`;
    if (value === null || (value === undefined && c.kind !== 'states'))
      return h('td', {class: kind});
    switch (c.kind) {
      case 'moment':
        return h(
            'td', {class: kind, title: String(value)},
            momentText(this.app, sinceBegin(this.app, Number(value)), this.shortest));
      case 'duration':
        return h(
            'td', {class: kind, title: exactDuration(Number(value))},
            Number(value) === 0 ? '' : duration(Number(value)));
      case 'bytes':
        return h(
            'td', {class: kind, title: `${count(Number(value))} bytes`},
            Number(value) === 0 ? '' : bytes(Number(value)));
      case 'count':
        return h('td', {class: kind}, Number(value) === 0 ? '' : cellText(c, row));
      case 'states': {
        const states = statesOf(row), sum = states.reduce((s, [, ns]) => s + ns, 0);
        return h(
            'td', {
              title: states
                         .map(
                             ([code, ns]) =>
                                 `${stateTitle(row, code)} ${duration(ns)} (${percent(ns, sum)})`)
                         .join('\n')
            },
            h('span', {class: 'stack'}, states.map(([code, ns]) => {
              const part = h('i', {class: `state-${STATE_NAMES[code]}`});
              part.style.width = `${ns / sum * 100}%`;
              return part;
            })));
      }
      case 'state':
        return h('td', null, stateMark(STATE_NAMES[stateOf(row)]!), cellText(c, row));
      case 'reasons': {
        const top = largest(value);
        if (!top) return h('td');
        const list = Object.entries(value as Record<string, number>)
                         .sort((a, b) => b[1] - a[1])
                         .slice(0, 15);
        const text = c.key.endsWith('_bytes') ? bytes : duration;
        return h(
            'td',
            {title: list.map(([name, ns]) => `${text(ns)}  ${name || '(unknown)'}`).join('\n')},
            top.name || '(unknown)', ' ', h('span', {class: 'dim'}, percent(top.value, top.sum)));
      }
      case 'list': {
        const first = firstOf(value);
        if (!first) return h('td');
        const list = (value as Row[]).slice(0, 15).map((r) => {
          const f = firstOf([r])!;
          return `${f.time ? duration(f.time) : ''}  ${f.name}`;
        });
        return h(
            'td', {class: 'list', title: list.join('\n')}, first.name || '(unknown)',
            first.more ? h('span', {class: 'dim'}, ` and ${first.more} more`) : null);
      }
      case 'stack': {
        const frames = String(value).split(';');
        return h(
            'td', {class: kind, title: frames.slice().reverse().slice(0, 60).join('\n')},
            shownFrames(frames).join(' ← '));
      }
      case 'histogram':
        return h('td', null, this.sparkline(value as Histogram));
      default:
        return h(
            'td', {
              class: kind,
              title: c.kind === 'text' && String(value).length > 30 ? String(value) : null
            },
            cellText(c, row) || (c.kind === 'text' ? this.unnamed(c, row) : ''));
    }
  }

  /** What stands for a text that is empty. */
  private unnamed(c: Column, row: Row): string {
    if (c.key === 'type') return '(no name)';
    return ['name', 'start', 'function'].includes(c.key) ||
            (c.key === 'reason' && row['kind'] === 'blocked') ?
        '(unknown)' :
        '';
  }

  private sparkline(histogram: Histogram): HTMLElement {
    const canvas = h('canvas', {width: '240', height: '28'});
    canvas.style.width = '120px';
    canvas.style.height = '14px';
    const context = canvas.getContext('2d');
    const list = bars(histogram, this.range.first, this.range.last, 40),
          most = Math.max(1, ...list.map((b) => b.n));
    if (context) {
      context.fillStyle = this.app.palette.dim;
      list.forEach((b, i) => {
        if (b.n) {
          const t = Math.max(2, Math.sqrt(b.n / most) * 28);
          context.fillRect(i * 6, 28 - t, 5, t);
        }
      });
    }
    canvas.title = `${duration(2 ** this.range.first)} to ${duration(2 ** this.range.last)}`;
    return canvas;
  }

  private mark(i: number, scroll: boolean) {
    this.at = i;
    this.markSelected();
    if (scroll) this.body.children[i]?.scrollIntoView({block: 'nearest'});
  }

  private focusRow(i: number) {
    if (!this.shownRows.length) return;
    const next = Math.max(0, Math.min(this.shownRows.length - 1, i));
    while (next >= this.drawn && this.drawn < this.shownRows.length) this.more();
    this.mark(next, true);
    this.options.focused?.(this.shownRows[next]!);
  }

  key(event: KeyboardEvent): boolean {
    switch (event.key) {
      case 'ArrowDown':
      case 'j':
        this.focusRow(this.at + 1);
        return true;
      case 'ArrowUp':
        this.focusRow(this.at - 1);
        return true;
      case 'PageDown':
        this.focusRow(this.at + 20);
        return true;
      case 'PageUp':
        this.focusRow(this.at - 20);
        return true;
      case 'Enter': {
        const row = this.shownRows[this.at];
        if (row) this.options.go?.(row)?.();
        return !!row;
      }
      case 'Tab':
        if (document.activeElement === document.body) {
          this.filterBox.focus();
          return true;
        }
        return false;
    }
    return false;
  }

  /** Called when the pane has been hidden: its scroll position is kept by the browser. */
  get scrollTop(): number {
    return this.pane.scrollTop;
  }
}
