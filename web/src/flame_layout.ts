// Where the boxes of a flame graph are. Nothing here draws or asks.

import {Flame, FlameRow} from './answers';

export interface Box {
  node: number;
  depth: number;
  /** Where it begins and ends, as a share of the width. */
  from: number;
  to: number;
}

export interface Forest {
  flame: Flame;
  children: number[][];
}

export function forest(flame: Flame): Forest {
  const children: number[][] = flame.nodes.map(() => []);
  flame.nodes.forEach(([parent], i) => {
    if (parent >= 0 && parent < i) children[parent]!.push(i);
  });
  return {flame, children};
}

/** The node and all of its callers, the root first. */
export function ancestors(flame: Flame, node: number): number[] {
  const out: number[] = [];
  for (let i = node; i >= 0 && i < flame.nodes.length; i = flame.nodes[i]![0]) {
    out.push(i);
    if (out.length > flame.nodes.length) break;
  }
  return out.reverse();
}

/** The boxes that are at least `least` wide, as a share, when `zoomed` fills the width. */
export function boxes({flame, children}: Forest, zoomed: number, least: number): Box[] {
  const out: Box[] = [];
  const above = ancestors(flame, zoomed);
  above.forEach((node, depth) => out.push({node, depth, from: 0, to: 1}));
  const total = flame.nodes[zoomed]?.[2] ?? 0;
  if (total <= 0) return out;
  const stack = [{node: zoomed, depth: above.length - 1, from: 0}];
  while (stack.length) {
    const {node, depth, from} = stack.pop()!;
    let at = from;
    for (const child of children[node]!) {
      const width = flame.nodes[child]![2] / total;
      if (width >= least) {
        out.push({node: child, depth: depth + 1, from: at, to: at + width});
        stack.push({node: child, depth: depth + 1, from: at});
      }
      at += width;
    }
  }
  return out;
}

export interface Heavy {
  name: number;
  self: number;
  total: number
}

/**
 * The value of each function, itself and with its callees; recursion counts once. Heaviest first.
 * In an inverted profile the time of a function itself is what its roots have.
 */
export function heaviest({flame, children}: Forest, inverted = false): Heavy[] {
  const self = new Map<number, number>(), total = new Map<number, number>(),
        open = new Map<number, number>();
  const stack: {node: number, leaving: boolean}[] = [{node: 0, leaving: false}];
  while (stack.length) {
    const {node, leaving} = stack.pop()!;
    const [, name, value, own] = flame.nodes[node] ?? [-1, 0, 0, 0] as FlameRow;
    if (leaving) {
      open.set(name, open.get(name)! - 1);
      continue;
    }
    self.set(
        name,
        (self.get(name) ?? 0) +
            (!inverted                        ? own :
                 flame.nodes[node]?.[0] === 0 ? value :
                                                0));
    if (!open.get(name)) total.set(name, (total.get(name) ?? 0) + value);
    open.set(name, (open.get(name) ?? 0) + 1);
    stack.push({node, leaving: true});
    for (const child of children[node] ?? []) stack.push({node: child, leaving: false});
  }
  return [...self.keys()]
      .filter((name) => name !== 0)
      .map((name) => ({name, self: self.get(name)!, total: total.get(name)!}))
      .sort((a, b) => b.self - a.self || b.total - a.total || a.name - b.name);
}
