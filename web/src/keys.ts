// The keys, and the page that lists them.

import {h} from './dom';

export const KEYS: [string, [string, string][]][] = [
  [
    'Window',
    [
      ['w s', 'zoom in, out'],
      ['a d', 'pan left, right'],
      ['← →', 'pan by a tenth'],
      ['+ −', 'zoom by two'],
      ['Z', 'twice the window'],
      ['0', 'the whole trace'],
      ['f', 'fit the selection'],
      ['t', 'go to a time: 1.5s, @2078707244416, 2026-11-21T04:25:08Z'],
      ['c', 'times since the trace, since the window, by the clock'],
    ]
  ],
  [
    'Selection',
    [
      ['[ ]', 'previous, next span of the lane'],
      ['u', 'who began it: woke or created the goroutine'],
      ['e', 'who ended it'],
      ['o', 'whom it woke first'],
      ['k K', 'show its critical path; hide it'],
      ['p', 'pin the lane'],
      ['↑ ↓', 'lane or row above, below'],
      ['Enter', 'open the row'],
      ['Esc', 'select nothing'],
    ]
  ],
  [
    'Timeline',
    [
      ['Ctrl wheel', 'zoom; also a pinch'],
      ['Shift wheel', 'pan'],
      ['drag', 'pan'],
      ['Shift drag', 'measure; Enter zooms to it'],
      ['m', 'measure the selection'],
      ['double click', 'fit what is there'],
      ['i', 'hide lanes that are idle'],
      ['< >', 'fewer, more tasks'],
    ]
  ],
  [
    'Views',
    [
      ['g s', 'summary'],
      ['g t', 'timeline'],
      ['g g', 'goroutines'],
      ['g k', 'tasks'],
      ['g r', 'regions'],
      ['g l', 'locks'],
      ['g y', 'latency'],
      ['g c', 'collector'],
      ['g p', 'procs'],
      ['g h', 'heap'],
      ['g x', 'leaks'],
      ['g f', 'profile'],
      ['g a', 'path'],
      ['g e', 'events'],
      ['g q', 'SQL'],
    ]
  ],
  [
    'Tables',
    [
      ['1 2 3', 'the first, second, third table of the view'],
      ['Tab', 'filter, columns, and headings to sort by'], ['v', 'profile: callers or callees']
    ]
  ],
  ['Page', [['/', 'search'], ['T', 'light or dark'], ['?', 'this list']]],
];

export class Help {
  readonly root =
      h('div', {
        id: 'help',
        hidden: true,
        role: 'dialog',
        'aria-label': 'Keys',
        onclick: () => this.toggle()
      },
        h('div', null,
          KEYS.map(
              ([title, keys]) => h(
                  'section', null, h('h2', null, title),
                  h('div', null,
                    keys.map(
                        ([names, text]) => h(
                            'div', null,
                            h('span', null, names.split(' ').map((k) => [h('kbd', null, k), ' '])),
                            h('span', null, text))))))));
  get open(): boolean {
    return !this.root.hidden;
  }
  toggle() {
    this.root.hidden = !this.root.hidden;
  }
}

export function isTyping(target: EventTarget|null): boolean {
  return target instanceof HTMLElement &&
      (target.tagName === 'INPUT' || target.tagName === 'TEXTAREA' ||
       target.tagName === 'SELECT') &&
      (target as HTMLInputElement).type !== 'checkbox';
}
