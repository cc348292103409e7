// The search box: finds lanes, functions, tasks, regions, messages, and times.

import {Search} from './answers';
import {App, currentWindow, setWindow, showGroup, showPlace} from './app';
import {h, replace} from './dom';
import {count, duration, plural} from './format';
import {isAbort} from './requests';

interface Hit {
  text: string;
  note: string;
  go: () => void
}

/** Whether a text may be a time: 1.5s, @123 or 2026-11-21T04:25:08Z. */
export function looksLikeTime(text: string): boolean {
  return /^(@\d+|[\d.]+\s*(ns|us|µs|ms|s|m|h)|\d{4}-\d\d-\d\dT.*)$/.test(text.trim());
}

export class SearchBox {
  readonly root: HTMLElement;
  private readonly input = h('input', {
    type: 'text',
    placeholder: 'Search: function, task, region, log, g:123, 1.5s',
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-label': 'Search'
  });
  private readonly list = h('div', {id: 'found', hidden: true, role: 'listbox'});
  private hits: Hit[] = [];
  private at = 0;
  private timer = 0;
  private generation = 0;

  constructor(private readonly app: App) {
    this.root = h('div', {id: 'search'}, this.input, h('kbd', null, '/'), this.list);
    this.input.addEventListener('input', () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.find(), 120);
    });
    this.input.addEventListener('keydown', (event) => this.key(event));
    this.input.addEventListener('blur', () => window.setTimeout(() => {
      this.list.hidden = true;
    }, 150));
    this.input.addEventListener('focus', () => {
      if (this.hits.length) this.list.hidden = false;
    });
  }

  focus(text?: string) {
    if (text !== undefined) this.input.value = text === '@' ? '' : text;
    this.input.focus();
    this.input.select();
  }

  private key(event: KeyboardEvent) {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      this.at = Math.max(
          0, Math.min(this.hits.length - 1, this.at + (event.key === 'ArrowDown' ? 1 : -1)));
      this.mark();
      event.preventDefault();
    } else if (event.key === 'Enter') {
      clearTimeout(this.timer);
      void this.find().then(() => {
        this.hits[this.at]?.go();
        if (this.hits.length) this.input.blur();
      });
    } else if (event.key === 'Escape') {
      this.list.hidden = true;
      this.input.blur();
    }
  }

  private mark() {
    const buttons = Array.from(this.list.querySelectorAll('button'));
    buttons.forEach((b, i) => b.classList.toggle('on', i === this.at));
    buttons[this.at]?.scrollIntoView({block: 'nearest'});
  }

  /** A number may be that of a goroutine or of a task, too. */
  private async ask(text: string): Promise<Search> {
    const ask = (what: string) =>
        this.app.requests.json<Search>('search', [['text', what], ['limit', 8]]);
    const number = /^(task|g)?[\s:]*(\d+)$/i.exec(text);
    if (!number) return ask(text);
    const kinds = number[1] ? [number[1].toLowerCase()] : ['g', 'task'];
    const [found, ...more] =
        await Promise.all([ask(text), ...kinds.map((kind) => ask(`${kind}:${number[2]}`))]);
    for (const {goroutines, tasks} of more) {
      for (const g of goroutines)
        if (!found!.goroutines.some((known) => known.id === g.id)) found!.goroutines.push(g);
      for (const t of tasks)
        if (!found!.tasks.some((known) => known.task === t.task)) found!.tasks.push(t);
    }
    return found!;
  }

  private async find() {
    const text = this.input.value.trim();
    const generation = ++this.generation;
    if (!text) {
      this.hits = [];
      this.list.hidden = true;
      return;
    }
    if (text === this.list.dataset['text'] && this.hits.length) return;
    const groups: [string, Hit[]][] = [];
    const {app} = this;
    try {
      if (looksLikeTime(text)) {
        const {at} = await app.requests.json<{at: number}>('time', [['text', text]]);
        const {from, to} = currentWindow(app);
        groups.push([
          'Time', [{
            text,
            note: 'go there',
            go: () => setWindow(app, at - (to - from) / 2, at + (to - from) / 2)
          }]
        ]);
      } else {
        const found = await this.ask(text);
        if (generation !== this.generation) return;
        groups.push(
            [
              'Lanes',
              found.goroutines.map(
                  (g) => ({
                    text: `${g.id.slice(0, 1).toUpperCase()} ${g.id.slice(2)} ${g.name}`,
                    note: '',
                    go: () => showPlace(app, {lane: g.id, from: g.at})
                  }))
            ],
            [
              'Functions', found.groups.map((g) => ({
                                              text: g.name || '(unknown)',
                                              note: plural(g.goroutines, 'goroutine'),
                                              go: () => showGroup(app, g.id)
                                            }))
            ],
            [
              'In stacks',
              found.functions.map(
                  (name) =>
                      ({text: name, note: 'where it waits', go: () => this.openProfile(name)}))
            ],
            [
              'Tasks', found.tasks.map((t) => ({
                                         text: `${t.type} ${t.task}`,
                                         note: duration(t.duration),
                                         go: () => app.store.set({
                                           task: String(t.task),
                                           lane: null,
                                           at: null,
                                           view: 'timeline',
                                           from: Math.max(0, t.at - t.duration * 0.1),
                                           to: t.at + Math.max(1, t.duration) * 1.1
                                         })
                                       }))
            ],
            [
              'Regions', found.regions.map((r) => ({
                                             text: r.type,
                                             note: `${count(r.count)} of them`,
                                             go: () => showPlace(app, {lane: r.lane, from: r.at})
                                           }))
            ],
            [
              'Messages', found.logs.map((l) => ({
                                           text: l.text,
                                           note: l.task ? `task ${l.task}` : '',
                                           go: () => showPlace(app, {lane: l.lane, from: l.at})
                                         }))
            ]);
        const lane = /^([pm]):(\d+)$/.exec(text);
        if (lane && !found.goroutines.length &&
            (lane[1] === 'p' ? app.trace.procs : app.trace.threads).includes(Number(lane[2]))) {
          groups.unshift([
            'Lanes', [{
              text: `${lane[1]!.toUpperCase()} ${lane[2]}`,
              note: '',
              go: () => showPlace(app, {lane: text, from: currentWindow(app).from})
            }]
          ]);
        }
      }
    } catch (error) {
      if (isAbort(error)) return;
      this.hits = [];
      replace(this.list, h('div', {class: 'error'}, String((error as Error).message)));
      this.list.hidden = false;
      return;
    }
    if (generation !== this.generation) return;
    this.list.dataset['text'] = text;
    this.hits = groups.flatMap(([, hits]) => hits);
    this.at = 0;
    replace(
        this.list,
        this.hits.length ? groups.filter(([, hits]) => hits.length)
                               .map(([title, hits]) => [h('h2', null, title), ...hits.map((hit) => {
                                      const button =
                                          h('button', {role: 'option'},
                                            h('span', {class: 'cut grow'}, hit.text),
                                            h('span', {class: 'dim'}, hit.note));
                                      button.addEventListener('mousedown', (event) => {
                                        event.preventDefault();
                                        hit.go();
                                        this.input.blur();
                                      });
                                      return button;
                                    })]) :
                           h('div', {class: 'note'}, 'Nothing has that in its name.'));
    this.mark();
    this.list.hidden = false;
  }

  private openProfile(name: string) {
    const {params} = this.app.store.state;
    this.app.store.set({view: 'profile', params: {...params, 'profile.find': name}});
  }
}
