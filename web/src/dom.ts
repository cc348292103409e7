// Makes elements. Texts only ever become text nodes: names from a trace cannot be markup.

import {visible} from './format';

type Child = Node|string|number|null|undefined|false|Child[];
type Props = Record<string, string|number|boolean|null|undefined|((event: never) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K, props: Props|null = null, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (props) {
    for (const [key, value] of Object.entries(props)) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === 'function')
        element.addEventListener(key.slice(2), value as EventListener);
      else
        element.setAttribute(
            key,
            value === true      ? '' :
                key === 'title' ? visible(String(value)) :
                                  String(value));
    }
  }
  append(element, children);
  return element;
}

export function append(parent: Node, children: Child[]) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child))
      append(parent, child);
    else
      parent.appendChild(
          typeof child === 'object' ? child : document.createTextNode(visible(String(child))));
  }
}

/** Replaces the children of an element. An input among them before and after keeps the focus. */
export function replace(parent: Node, ...children: Child[]) {
  const active = document.activeElement;
  const typed = active instanceof HTMLInputElement && parent.contains(active) ? active : null;
  const caret = typed ? [typed.selectionStart, typed.selectionEnd] as const: null;
  parent.textContent = '';
  append(parent, children);
  if (!typed || !parent.contains(typed)) return;
  typed.focus({preventScroll: true});
  // Null for inputs without text, such as checkboxes.
  if (caret && caret[0] !== null) typed.setSelectionRange(caret[0], caret[1]);
}

export function stateMark(state: string): HTMLElement {
  const plain = /^[a-z]+$/.test(state);
  return h('i', {class: `mark state-${plain ? state : 'idle'}`});
}

/**
 * A canvas of the size of its box, in the pixels of the screen; returns its context, or null if it
 * is not visible.
 */
export function fitCanvas(
    canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D|null {
  const ratio = pixelRatio();
  const w = Math.max(1, Math.round(width * ratio)), t = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== t) canvas.height = t;
  const context = canvas.getContext('2d');
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

export function pixelRatio(): number {
  return Math.min(3, Math.max(1, window.devicePixelRatio || 1));
}

const measured = new Map<string, number>();

/** The width of a text in the font that all canvases use. */
export function textWidth(context: CanvasRenderingContext2D, text: string): number {
  const key = context.font + text;
  let width = measured.get(key);
  if (width === undefined) {
    if (measured.size > 20000) measured.clear();
    measured.set(key, width = context.measureText(text).width);
  }
  return width;
}
