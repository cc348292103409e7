// Queries on the trace's tables, with the schema beside them.

import {Query, Row} from './answers';
import {App, ViewPart} from './app';
import {append, h, replace} from './dom';
import {isAbort, RequestError} from './requests';
import {State} from './state';
import {Table} from './table';

const FIRST =
    'SELECT g, name, running_ns, runnable_ns, waiting_ns\nFROM goroutines ORDER BY running_ns DESC LIMIT 20';
const TABLES = [
  'g_states', 'goroutines', 'events', 'ranges', 'tasks', 'regions', 'logs', 'p_states', 'm_states',
  'metrics', 'cpu_samples', 'stacks', 'stack_frames', 'labels', 'allocs', 'traces', 'generations'
];

/** The rows of an answer by the names of their columns; a name that comes twice gets a number. */
export function rowsOf(answer: Query): {names: string[], rows: Row[]} {
  const names: string[] = [];
  for (const column of answer.columns) {
    let name = column;
    for (let i = 2; names.includes(name); i++) name = `${column} (${i})`;
    names.push(name);
  }
  return {
    names,
    rows:
        answer.rows.map((values) => Object.fromEntries(names.map((n, i) => [n, values[i] ?? null])))
  };
}

export class SqlView implements ViewPart {
  readonly root: HTMLElement;
  private readonly box = h('textarea', {
    rows: '4',
    spellcheck: 'false',
    'aria-label': 'Query',
    onkeydown:
        (event: KeyboardEvent) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            this.run();
          }
        }
  });
  private readonly pane = h('div', {class: 'pane'});
  private readonly side = h('div', {class: 'pane side padded'});
  private readonly tools = h('div', {class: 'bar-of-tools'});
  private readonly table: Table;
  private requested = '';
  private schema = false;

  constructor(private readonly app: App) {
    this.table = new Table(app, {view: 'sql', columns: []}, this.pane);
    const split = h('div', {class: 'split'}, this.pane, this.side);
    this.root =
        h('div', {class: 'split rows'},
          h('div', {class: 'sql'}, this.box,
            h('button', {class: 'go-button', onclick: () => this.run()}, 'Run ',
              h('kbd', null, 'Ctrl Enter'))),
          this.tools, split, this.table.chooserRoot);
    replace(this.tools, this.table.tools);
  }

  private run() {
    const query = this.box.value.trim();
    this.requested = '';
    this.app.store.setParam('sql.query', query || null);
    this.load(query);
  }

  update(state: State, before: State|null) {
    const query = state.params['sql.query'] ?? '';
    if (!before || before.params['sql.query'] !== query) this.box.value = query || FIRST;
    if (!this.schema) {
      this.schema = true;
      void this.loadSchema();
    }
    if (query)
      this.load(query);
    else if (!this.requested)
      replace(this.pane, h('div', {class: 'note'}, 'Ctrl Enter runs the query. It can only read.'));
    if (before && this.requested) this.table.update();
  }

  private load(query: string) {
    if (query === this.requested) return;
    this.requested = query;
    replace(this.pane, h('div', {class: 'note'}, 'Running'));
    this.app.requests.json<Query>('sql', [['query', query], ['limit', 5000]])
        .then((answer) => {
          if (query !== this.requested) return;
          const {names, rows} = rowsOf(answer);
          if (!rows.length) {
            replace(this.pane, h('div', {class: 'note'}, 'The query returned no rows.'));
            return;
          }
          replace(
              this.pane, this.table.root,
              answer.more ?
                  h('div', {class: 'note'}, 'There are more rows; only the first ones are shown.') :
                  null);
          this.table.show(rows, {view: 'sql', columns: names, raw: true});
        })
        .catch((error) => {
          if (isAbort(error) || query !== this.requested) return;
          replace(this.pane, h('div', {class: 'error'}, String((error as Error).message)));
        });
  }

  private async loadSchema() {
    replace(this.side, h('h2', null, 'Tables'));
    for (const name of TABLES) {
      const list = h('div', {class: 'dim', hidden: true});
      append(this.side, [
        h('div', null,
          h('button', {
            class: 'link',
            onclick: () => {
              list.hidden = !list.hidden;
              if (list.textContent) return;
              this.app.requests
                  .json<Query>(
                      'sql', [['query', `SELECT name, type FROM pragma_table_info('${name}')`]])
                  .then((answer) => {
                    replace(
                        list,
                        answer.rows.map(
                            (row) =>
                                h('div', null, `${String(row[0])} `,
                                  h('span', {class: 'dim'}, String(row[1] ?? '').toLowerCase()))));
                  })
                  .catch((error) => {
                    replace(list, error instanceof RequestError ? error.message : '');
                  });
            }
          },
            name)),
        list
      ]);
    }
  }

  key(event: KeyboardEvent): boolean {
    if (event.key === 'Tab' && document.activeElement === document.body) {
      this.box.focus();
      return true;
    }
    return this.requested !== '' && this.table.key(event);
  }
}
