// The text of `events` around the selection, without end in both directions that the trace has.

import {App, currentWindow, momentText, showPlace, sinceBegin, ViewPart} from './app';
import {h, replace} from './dom';
import {isAbort, Params, requestText} from './requests';
import {State} from './state';

const BLOCK = 300;
const MAX_LINES = 6000;
/** Times are exact to a thousandth of this: a microsecond. */
const EXACT = 1e6;

/** The time of a line as `events` prints it, or null if it has none. */
export function timeOfLine(line: string): number|null {
  const match = / Time=(\d+)/.exec(line);
  return match ? Number(match[1]) : null;
}

/** The goroutine of a line: the one that an event is about, or on which it happened. */
export function goroutineOfLine(line: string): number|null {
  const match = / GoID=(\d+)/.exec(line) ?? /(?:^| )G=(\d+)/.exec(line);
  return match ? Number(match[1]) : null;
}

export class EventsView implements ViewPart {
  readonly root: HTMLElement;
  private readonly tools = h('div', {class: 'bar-of-tools'});
  private readonly pane = h('div', {class: 'pane', tabindex: '0'});
  private readonly text = h('pre');
  private readonly end = h('div', {class: 'note'});
  private readonly filter: HTMLInputElement = h('input', {
    type: 'search',
    placeholder: 'Kind, as StateTransition',
    'aria-label': 'Kind of event',
    spellcheck: 'false',
    onchange: () => this.app.store.setParam('events.kind', this.filter.value)
  });
  private requested = '';
  private next: number|null = null;
  private loading = false;
  private lines = 0;
  private timer = 0;

  constructor(private readonly app: App) {
    this.root = h('div', {class: 'split rows'}, this.tools, this.pane);
    this.pane.append(this.text, this.end);
    this.pane.addEventListener('scroll', () => {
      if (this.pane.scrollTop + this.pane.clientHeight > this.pane.scrollHeight - 600)
        void this.more();
    }, {passive: true});
    this.text.addEventListener('dblclick', (event) => {
      const line = (event.target as HTMLElement).closest('div')?.textContent ?? '';
      const time = timeOfLine(line), g = goroutineOfLine(line);
      if (time !== null)
        showPlace(
            this.app,
            {lane: g === null ? null : `g:${g}`, from: Math.max(0, sinceBegin(this.app, time))});
    });
  }

  private conditions(state: State): Params {
    const p = (name: string) => state.params[`events.${name}`] || null;
    return [['kind', p('kind')], ['g', p('g')], ['p', p('p')], ['m', p('m')]];
  }

  update(state: State) {
    const {from, to} = currentWindow(this.app);
    const start =
        state.at !== null && state.at >= from && state.at < to ? state.at : Math.floor(from);
    const key = `${start} ${Math.ceil(to)} ${requestText('', this.conditions(state))} ${
        this.app.requests.complete}`;
    if (document.activeElement !== this.filter)
      this.filter.value = state.params['events.kind'] ?? '';
    const lane = /^([gpm]):(\d+)$/.exec(state.lane ?? '');
    const chips = ['g', 'p', 'm']
                      .filter((k) => state.params[`events.${k}`])
                      .map(
                          (k) =>
                              h('button', {
                                class: 'tool',
                                title: 'Remove this condition',
                                onclick: () => this.app.store.setParam(`events.${k}`, null)
                              },
                                `${k.toUpperCase()} ${state.params[`events.${k}`]} ✕`));
    replace(
        this.tools, this.filter, chips,
        lane && state.params[`events.${lane[1]}`] !== lane[2] ?
            h('button', {
              class: 'tool',
              onclick: () => this.app.store.setParam(`events.${lane[1]}`, lane[2]!)
            },
              `Only ${lane[1]!.toUpperCase()} ${lane[2]}`) :
            null,
        h('span', {class: 'dim'}, 'double click: show it in the timeline'));
    if (key === this.requested) return;
    const first = this.requested === '';
    this.requested = key;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.text.textContent = '';
      this.lines = 0;
      this.next = start;
      this.pane.scrollTop = 0;
      this.loading = false;
      void this.more();
    }, first ? 0 : 250);
  }

  private line(line: string, time: number|null): HTMLElement {
    const text = line.slice(0, 4000).replace(/\t/g, '    ');
    if (time === null) return h('div', {class: 'dim'}, text);
    return h(
        'div', null,
        h('span', {class: 'dim time'},
          momentText(this.app, Math.max(0, sinceBegin(this.app, time)), EXACT)),
        text);
  }

  private async more() {
    if (this.loading || this.next === null) return;
    this.loading = true;
    const key = this.requested;
    replace(this.end, 'Loading');
    try {
      const {baked} = this.app.requests, to = Math.ceil(currentWindow(this.app).to);
      // A report has the events from a place on, and does not know where a window ends.
      const text = await this.app.requests.text('events', [
        ['from', this.next], ['to', baked ? null : to], ...this.conditions(this.app.store.state),
        ['limit', BLOCK]
      ]);
      if (key !== this.requested) return;
      const lines = text.split('\n');
      let last: number|null = null, events = 0;
      const parts = document.createDocumentFragment();
      for (const line of lines) {
        const time = timeOfLine(line);
        if (time !== null) {
          if (baked && sinceBegin(this.app, time) > to) {
            last = null;
            break;
          }
          last = time;
          events++;
        }
        if (line) parts.append(this.line(line, time));
      }
      this.text.append(parts);
      this.lines += lines.length;
      this.next = last !== null && events >= BLOCK / 2 ? sinceBegin(this.app, last) + 1 : null;
      // What was read long ago goes, so that the page does not grow without end. One block may have
      // more lines, which nobody has read yet.
      if (this.lines > MAX_LINES && this.pane.scrollTop > this.pane.scrollHeight / 2) {
        const before = this.pane.scrollHeight;
        for (let i = 0; i < MAX_LINES / 3; i++) this.text.firstChild?.remove();
        this.lines -= MAX_LINES / 3;
        this.pane.scrollTop -= before - this.pane.scrollHeight;
      }
      replace(
          this.end,
          this.next === null ? (this.text.firstChild ? 'The end of the window.' :
                                                       'There are no such events in the window.') :
                               '');
    } catch (error) {
      if (!isAbort(error) && key === this.requested) {
        replace(this.end, String((error as Error).message));
        this.next = null;
      }
    } finally {
      if (key === this.requested) this.loading = false;
    }
  }

  key(event: KeyboardEvent): boolean {
    const by: Record<string, number> = {
      ArrowDown: 34,
      ArrowUp: -34,
      PageDown: this.pane.clientHeight - 40,
      PageUp: 40 - this.pane.clientHeight
    };
    if (by[event.key] === undefined) {
      if (event.key === 'Tab') {
        this.filter.focus();
        return true;
      }
      return false;
    }
    this.pane.scrollTop += by[event.key]!;
    return true;
  }
}
