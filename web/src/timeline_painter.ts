// Draws the timeline on its canvas: rows with their names, the axis, and what lies over the rows.

import {Span, TaskLane} from './answers';
import {App, filterOfLane, tickText} from './app';
import {LaneTile} from './decode';
import {textWidth} from './dom';
import {drawArrow, drawBands, drawGroup, drawLane, drawMarks, drawTask, Pen} from './draw';
import {bytes, count, duration, fitName, laneName, tickStep, visible} from './format';
import {Row, ticks} from './layout';
import {TimelineData} from './timeline_data';

/** The height of the axis, below which the rows are. */
export const AXIS = 22;

/** What a frame shows. The scale begins where the names of rows end. */
export interface Scene extends Pen {
  app: App;
  data: TimelineData;
  /** All rows, and those of them that can be seen. */
  rows: Row[];
  shown: Row[];
  /** Where on the canvas the first row begins. */
  top: number;
  /** The size of the canvas. */
  width: number;
  height: number;
  /** From when to when the user measures. */
  measure: {from: number, to: number}|null;
}

export function drawTimeline(scene: Scene) {
  const {context, palette, scale, width, height, top} = scene;
  context.font = palette.font;
  context.textBaseline = 'middle';
  context.fillStyle = palette.bg;
  context.fillRect(0, 0, width, height);
  const axis = ticks(scale, width < 600 ? 70 : 110, tickStep);
  context.fillStyle = palette.line;
  for (const t of axis.times) context.fillRect(Math.round(scale.x(t)), AXIS - 6, 1, height);

  context.save();
  context.beginPath();
  context.rect(scale.left, AXIS, width - scale.left, height - AXIS);
  context.clip();
  drawBands(scene, scale.left, width, AXIS, height);
  for (const row of scene.shown) drawRow(scene, row, row.y + top);
  drawOverlays(scene);
  context.restore();
  context.fillStyle = palette.line;
  context.fillRect(scale.left - 1, 0, 1, height);
  for (const row of scene.shown) drawName(scene, row, row.y + top);
  drawAxis(scene, axis);
  drawMeasure(scene);
}

function drawRow(all: Scene, row: Row, y: number) {
  const {context, palette, scale, data} = all;
  const scene = 'name' in row ? {...all, filter: filterOfLane(all.filter, row.name)} : all;
  switch (row.kind) {
    case 'section':
      context.fillStyle = palette.soft;
      context.fillRect(scale.left, y, scale.width, row.height - 1);
      break;
    case 'note':
      context.fillStyle = palette.bg;
      context.fillRect(scale.left, y, scale.width, row.height);
      break;
    case 'lane': {
      const covers = data.tiles.cover(row.unit, scale);
      for (let i = 0; i < covers.length;) {
        // Tiles of one level together: what is cut between them is one span.
        const level: LaneTile[] = [], {step} = covers[i]!, first = i;
        for (; i < covers.length && covers[i]!.step === step; i++) {
          const lane = covers[i]!.lanes.get(row.id);
          if (lane) level.push(lane);
        }
        drawLane(scene, level, y + 1, row.height - 2, first > 0);
      }
      break;
    }
    case 'group': {
      const covers = data.tiles.cover(row.unit, scale);
      const most = data.raisePeak(row.id, covers);
      covers.forEach((tile, i) => {
        const lane = tile.lanes.get(row.id);
        if (lane) drawGroup(scene, lane, y + 3, row.height - 4, most, i > 0);
      });
      context.fillStyle = palette.line;
      context.fillRect(scale.left, y + row.height - 1, scale.width, 1);
      break;
    }
    case 'cycles':
      drawMarks(scene, data.marks.cycles, data.marks.names, y, row.height, false);
      break;
    case 'stops':
      drawMarks(scene, data.marks.stops, data.marks.names, y, row.height, true);
      break;
    case 'counter':
      drawCounter(scene, y, row.height);
      break;
    case 'task': {
      const task = data.tasks.tasks[row.index];
      if (!task) break;
      drawTask(
          scene, task, data.tasks.names, y, row.height,
          String(task.task) === scene.app.store.state.task);
      drawTaskStates(scene, task, y + row.height - 7);
      break;
    }
  }
}

/** What the goroutine that began a task did meanwhile, as a thin line below its regions. */
function drawTaskStates(scene: Scene, task: TaskLane, y: number) {
  const {context, scale, data} = scene;
  if (task.goroutine === null || !data.taskUnit) return;
  const x = Math.max(scale.left, scale.x(task.begin)),
        end = Math.min(scale.left + scale.width, scale.x(task.begin + task.duration));
  if (end - x < 3) return;
  context.save();
  context.beginPath();
  context.rect(x + 1, y, end - x - 2, 4);
  context.clip();
  for (const tile of data.tiles.cover(data.taskUnit, scale)) {
    const lane = tile.lanes.get(`g:${task.goroutine}`);
    if (lane) drawLane(scene, [lane], y, 4, false);
  }
  context.restore();
}

function drawCounter(scene: Scene, y: number, height: number) {
  const {context, palette, scale, data} = scene;
  if (!data.counters) return;
  const {strip, heap, goal} = data.counters;
  const heapFull = strip.metrics['heap']?.full ?? 0, goalFull = strip.metrics['goal']?.full ?? 0;
  const most = Math.max(heapFull, Math.min(goalFull, heapFull * 4 || goalFull));
  if (most <= 0) return;
  const line = (values: Uint8Array, full: number, color: string, fill: boolean) => {
    context.strokeStyle = color;
    context.beginPath();
    let first = true;
    for (let k = 0; k < strip.count; k++) {
      const x = scale.x(strip.begin + k * strip.step);
      const next = scale.x(strip.begin + (k + 1) * strip.step);
      if (next < scale.left || x > scale.left + scale.width) continue;
      const v = y + height - 2 - Math.min(1, values[k]! / 255 * full / most) * (height - 6);
      if (first) {
        context.moveTo(x, v);
        first = false;
      } else
        context.lineTo(x, v);
      context.lineTo(next, v);
    }
    context.stroke();
    if (!fill) return;
    context.lineTo(scale.left + scale.width, y + height - 2);
    context.lineTo(Math.max(scale.left, scale.x(strip.begin)), y + height - 2);
    context.closePath();
    context.globalAlpha = 0.18;
    context.fillStyle = color;
    context.fill();
    context.globalAlpha = 1;
  };
  if (heapFull) line(heap, heapFull, palette.states[6]!, true);
  if (goalFull) line(goal, goalFull, palette.dim, false);
}

function drawName(scene: Scene, row: Row, y: number) {
  const {context, palette, scale, data} = scene, selected = scene.app.store.state;
  const middle = y + row.height / 2, right = scale.left - 8;
  const text = (s: string, x: number, end: number, color: string) => {
    context.fillStyle = color;
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    const fit = fitName(visible(s.slice(0, 400)), (t) => textWidth(context, t) <= end - x);
    context.fillText(fit, x, middle + 0.5);
    return textWidth(context, fit);
  };
  const rightText = (s: string, color: string) => {
    context.fillStyle = color;
    context.textAlign = 'right';
    context.fillText(s, right, middle + 0.5);
    context.textAlign = 'left';
    return textWidth(context, s);
  };
  // The texts of sections and notes are wider than names.
  const wide = row.kind === 'section' || row.kind === 'note';
  context.fillStyle = row.kind === 'section' ? palette.soft : palette.bg;
  context.fillRect(
      0, y, wide ? scale.left : scale.left - 1, row.height - (row.kind === 'section' ? 1 : 0));
  switch (row.kind) {
    case 'section': {
      triangle(context, 11, middle, row.open, palette.fg);
      context.font = `600 ${palette.font}`;
      const used = text(row.title, 20, scene.width, palette.fg);
      context.font = palette.font;
      text(row.note, 28 + used, scene.width - 8, palette.dim);
      break;
    }
    case 'lane': {
      if (row.id === selected.lane) {
        context.fillStyle = palette.select;
        context.fillRect(0, y + 1, 3, row.height - 2);
      }
      const name = row.name || laneName(row.id);
      const used = text(name, 8 + row.indent * 12, right, palette.fg);
      const of = row.id.startsWith('g:') && row.indent === 1 ? functionOf(scene, row) : '';
      if (of) text(of, 16 + row.indent * 12 + used, right, palette.dim);
      if (row.pinned) {
        context.fillStyle = palette.dim;
        context.beginPath();
        context.arc(11, middle, 2.5, 0, 7);
        context.fill();
      }
      break;
    }
    case 'group': {
      triangle(context, 11, middle, row.open, palette.dim);
      const most = data.peak(row.id);
      const scaleText = most !== undefined && most >= 0.05 ?
          (most < 9.95 ? most.toFixed(1) : count(Math.round(most))) :
          '';
      context.fillStyle = palette.dim;
      context.textAlign = 'right';
      context.fillText(scaleText, right, y + 9);
      context.textAlign = 'left';
      text(
          row.name || '(unknown)', 20, right - (scaleText ? textWidth(context, scaleText) + 6 : 0),
          palette.fg);
      context.fillStyle = palette.line;
      context.fillRect(0, y + row.height - 1, scale.left, 1);
      break;
    }
    case 'members':
      text('…', 32, right, palette.dim);
      break;
    case 'task': {
      const task = data.tasks.tasks[row.index];
      if (!task) break;
      if (String(task.task) === selected.task) {
        context.fillStyle = palette.select;
        context.fillRect(0, y + 1, 3, row.height - 2);
      }
      // On a small screen there is room for the name, or for its length.
      const time = scale.left > 130 ? rightText(duration(task.duration), palette.dim) : 0;
      text(
          `${data.tasks.names[task.type] ?? ''} ${task.task}`.trim(), 20, right - time - 8,
          palette.fg);
      break;
    }
    case 'cycles':
      text(scale.left > 130 ? 'mark phase' : 'marking', 20, right, palette.fg);
      break;
    case 'stops':
      text(scale.left > 130 ? 'world stopped' : 'stopped', 20, right, palette.fg);
      break;
    case 'counter': {
      const heap = data.counters?.strip.metrics['heap'];
      text(`heap, goal${heap ? '' : ': not in this trace'}`, 20, right, palette.fg);
      if (heap && scale.left > 130) {
        context.textAlign = 'right';
        context.fillStyle = palette.dim;
        context.fillText(bytes(heap.full), right, y + 9);
        context.textAlign = 'left';
      }
      break;
    }
    case 'note':
      text(row.text, 20, scene.width, palette.dim);
      break;
  }
}

/** The function of a goroutine, as far as tiles have it. */
function functionOf({scale, data}: Scene, row: Row&{kind: 'lane'}): string {
  for (const tile of data.tiles.cover(row.unit, scale)) {
    const name = tile.lanes.get(row.id)?.name;
    if (name) return name;
  }
  return '';
}

function drawAxis(scene: Scene, axis: {step: number, times: number[]}) {
  const {context, palette, scale} = scene;
  context.fillStyle = palette.bg;
  context.fillRect(0, 0, scene.width, AXIS - 5);
  context.textBaseline = 'middle';
  context.fillStyle = palette.dim;
  axis.times.forEach((t) => {
    const text = tickText(scene.app, t, axis.step), x = Math.round(scale.x(t));
    if (x + 3 + textWidth(context, text) <= scene.width) context.fillText(text, x + 3, 9);
  });
  // A scale bar: the length of the window.
  context.fillStyle = palette.bg;
  context.fillRect(0, 0, scale.left, AXIS - 1);
  context.fillStyle = palette.dim;
  context.textAlign = 'right';
  context.fillText(`${duration(scale.to - scale.from)} shown`, scale.left - 8, 9);
  context.textAlign = 'left';
  context.fillStyle = palette.line;
  context.fillRect(0, AXIS - 1, scene.width, 1);
  context.fillRect(scale.left - 1, 0, 1, AXIS);
}

/** The selection, and the lines from row to row: wake-ups and the critical path. */
function drawOverlays(scene: Scene) {
  const {context, palette, scale, top, data: {span}} = scene;
  const yOf = new Map<string, number>();
  const bottomOf = new Map<string, number>();
  for (const row of scene.rows) {
    if (row.kind !== 'lane' || yOf.has(row.id)) continue;
    yOf.set(row.id, row.y + top + row.height / 2);
    bottomOf.set(row.id, row.y + top + row.height - 2);
  }
  if (span) {
    for (const row of scene.shown) {
      if ((row.kind === 'lane' ? row.id : row.kind) !== span.lane) continue;
      const x = Math.max(scale.left - 3, scale.x(span.begin)),
            end = Math.min(scale.left + scale.width + 3, scale.x(span.end));
      context.strokeStyle = palette.select;
      context.lineWidth = 2;
      context.strokeRect(x, row.y + top + 1, Math.max(2, end - x), row.height - 2);
      context.lineWidth = 1;
    }
    drawWakes(scene, span, yOf);
  }
  // Along the lower edge of lanes, since their names are in the middle.
  if (scene.data.pieces.length) drawPath(scene, bottomOf);
}

function drawWakes({context, palette, scale, data}: Scene, span: Span, yOf: Map<string, number>) {
  const self = yOf.get(span.lane) ?? yOf.get(`g:${span.goroutine}`);
  for (const [time, from, to, runs] of data.arrows) {
    const strong = time === span.end || time === span.begin ||
        (time > span.begin && time <= span.end && from === span.goroutine);
    const fromY = from === span.goroutine ? self : yOf.get(`g:${from}`);
    const toY = to === span.goroutine ? self : yOf.get(`g:${to}`);
    if (fromY === undefined || toY === undefined || fromY === toY) continue;
    const x = scale.x(time), end = runs >= 0 ? scale.x(runs) : x;
    if (end < scale.left || x > scale.left + scale.width) continue;
    drawArrow(context, x, fromY, Math.max(end, x + 1), toY, palette.fg, strong);
  }
  // Who began and ended the span, on its P if the goroutine has no lane.
  for (const [cause, time] of [[span.begun_by, span.begin], [span.ended_by, span.end]] as const) {
    if (!cause || cause.kind !== 'goroutine' || !cause.lane || self === undefined) continue;
    if (yOf.has(cause.lane) || cause.lane === `g:${span.goroutine}`) continue;
    const y = yOf.get(`p:${cause.p}`);
    if (y === undefined || y === self) continue;
    drawArrow(context, scale.x(cause.at ?? time), y, scale.x(time), self, palette.fg, true);
  }
}

function drawPath({context, palette, scale, data}: Scene, yOf: Map<string, number>) {
  context.strokeStyle = palette.fg;
  context.lineWidth = 2;
  context.lineJoin = 'round';
  context.beginPath();
  let open = false;
  for (const piece of data.pieces) {
    const y = piece.g === null ? undefined : yOf.get(`g:${piece.g}`);
    if (y === undefined || piece.to < scale.from || piece.from > scale.to) {
      open = false;
      continue;
    }
    const x = Math.max(scale.left - 4, scale.x(piece.from)),
          end = Math.min(scale.left + scale.width + 4, scale.x(piece.to));
    if (open)
      context.lineTo(x, y);
    else
      context.moveTo(x, y);
    context.lineTo(end, y);
    open = true;
  }
  context.stroke();
  context.lineWidth = 1;
}

function drawMeasure({context, palette, scale, width, height, measure}: Scene) {
  if (!measure) return;
  const x = scale.x(Math.min(measure.from, measure.to)),
        end = scale.x(Math.max(measure.from, measure.to));
  context.fillStyle = palette.select;
  context.globalAlpha = 0.12;
  context.fillRect(x, AXIS, end - x, height);
  context.globalAlpha = 1;
  context.fillRect(x, AXIS, 1, height);
  context.fillRect(end, AXIS, 1, height);
  const text = duration(Math.abs(measure.to - measure.from)), room = textWidth(context, text) + 12;
  const middle = Math.min(width - room / 2, Math.max(scale.left + room / 2, (x + end) / 2));
  context.fillRect(middle - room / 2, AXIS + 2, room, 18);
  context.fillStyle = palette.bg;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(text, middle, AXIS + 11.5);
  context.textAlign = 'left';
}

function triangle(
    context: CanvasRenderingContext2D, x: number, y: number, open: boolean, color: string) {
  context.fillStyle = color;
  context.beginPath();
  if (open) {
    context.moveTo(x - 4, y - 2);
    context.lineTo(x + 4, y - 2);
    context.lineTo(x, y + 3);
  } else {
    context.moveTo(x - 2, y - 4);
    context.lineTo(x + 3, y);
    context.lineTo(x - 2, y + 4);
  }
  context.closePath();
  context.fill();
}
