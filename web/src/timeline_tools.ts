// The tools above the timeline: which spans are dimmed, and which rows are shown in which order.

import {App} from './app';
import {STATE_LABELS} from './colors';
import {h, replace} from './dom';
import {State} from './state';

/** Fills the bar of tools, unless somebody types in it. */
export function drawTools(bar: HTMLElement, app: App, state: State) {
  if (bar.contains(document.activeElement) &&
      (document.activeElement as HTMLElement).tagName === 'INPUT')
    return;
  const {store} = app;
  const box = (key: string, placeholder: string, width: number) => {
    const input: HTMLInputElement = h('input', {
      type: 'search',
      placeholder,
      'aria-label': placeholder,
      spellcheck: 'false',
      oninput: () => store.setParam(key, input.value, 'move'),
      onblur: () => drawTools(bar, app, store.state)
    });
    input.value = state.params[key] ?? '';
    input.style.width = `${width}px`;
    return input;
  };
  const sort: HTMLSelectElement =
      h('select', {
        'aria-label': 'Order of functions',
        onchange: () => store.setParam('timeline.sort', sort.value)
      },
        [
          ['', 'Most goroutines first'], ['running', 'Running the longest'],
          ['runnable', 'Waiting to run the longest'], ['blocked', 'Blocked the longest'],
          ['syscall', 'In syscalls the longest'], ['name', 'By name']
        ].map(([value, title]) => h('option', {value: value!}, title!)));
  sort.value = state.params['timeline.sort'] ?? '';
  const idle = state.params['timeline.idle'] === 'hide';
  const only = Number(state.params['timeline.state'] ?? 0);
  replace(
      bar, box('timeline.filter', 'Only this function or reason', 210),
      box('timeline.min', 'At least 1ms', 124),
      only ? h('button', {
        class: 'tool',
        title: 'Show all states',
        onclick: () => store.setParam('timeline.state', null)
      },
               `${STATE_LABELS[app.trace.states[only] ?? ''] ?? ''} ✕`) :
             null,
      sort,
      h('button', {
        class: idle ? 'tool on' : 'tool',
        'aria-pressed': String(idle),
        onclick: () => store.setParam('timeline.idle', idle ? null : 'hide')
      },
        'Hide idle'),
      h('button', {
        class: 'tool',
        title: 'What times count from (c)',
        onclick: () => {
          const order = ['trace', 'window', 'wall'] as const;
          store.set(
              {clock: order[(order.indexOf(state.clock) + 1) % (app.trace.wall_begin ? 3 : 2)]!});
        }
      },
        {
          trace: 'Times since the trace began',
          window: 'Times since the window began',
          wall: 'Wall-clock times, UTC'
        }[state.clock]),
      state.path ? h('button', {class: 'tool', onclick: () => store.set({path: null})},
                     `Path of ${state.path.replace('task:', 'task ').replace('g:', 'G ')} ✕`) :
                   null,
      state.pin.length ? h('button', {class: 'tool', onclick: () => store.set({pin: []})},
                           `${state.pin.length} pinned ✕`) :
                         null);
}
