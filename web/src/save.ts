// The menu that saves the window as a file.

import {App, windowParams} from './app';
import {h, replace} from './dom';
import {Params, requestText} from './requests';

const FORMATS: [string, string, Params][] = [
  ['Perfetto', 'perfetto', []],
  ['Chrome', 'chrome', []],
  ['FXT', 'fxt', []],
  ['Events as text', 'text', []],
  ['Events as JSON', 'json', []],
  ['Profile for pprof: blocked', 'pprof', [['type', 'offcpu']]],
  ['Profile for pprof: on the CPU', 'pprof', [['type', 'oncpu']]],
  ['Folded stacks: blocked', 'folded', [['type', 'offcpu']]],
];

export function saveRequest(app: App, format: string, params: Params): string {
  return requestText(
      'save',
      [...windowParams(app.store.state, app.trace.duration), ['format', format], ...params]);
}

/** The address of a file to save; the token has to be in it, since a link has no headers. */
export function saveAddress(app: App, format: string, params: Params): string {
  const token = new URLSearchParams(window.location.search).get('token') ?? '';
  return `api/${saveRequest(app, format, params)}&token=${encodeURIComponent(token)}`;
}

export function saveMenu(app: App): HTMLElement {
  const list = h('div', {hidden: true});
  const button =
      h('button', {
        class: 'dim',
        'aria-haspopup': 'true',
        onclick: () => {
          list.hidden = !list.hidden;
          if (list.hidden) return;
          replace(list, app.requests.baked ? h('p', null, 'A report cannot save files.') : [
            h('p', null, app.store.state.from === null ? 'The whole trace as' : 'The window as'),
            ...FORMATS.map(
                ([title, format, params]) =>
                    h('a', {href: saveAddress(app, format, params), download: ''}, title)),
            h('button', {
              onclick: () => {
                void navigator.clipboard?.writeText(
                    window.location.href.replace(/token=[^&#]*/, 'token='));
              }
            },
              'Copy the address of this view')
          ]);
        }
      },
        'Save ▾');
  const menu = h('div', {class: 'menu'}, button, list);
  menu.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') list.hidden = true;
  });
  document.addEventListener('pointerdown', (event) => {
    if (!menu.contains(event.target as Node)) list.hidden = true;
  });
  return menu;
}
