// Serves the page and answers its requests without the viewer's C++: commands are run for every request, and lanes are
// computed from the tables that `gotrace-dump tables` writes. It is slow and keeps the whole trace in memory; it is for
// working on the page, and as a second implementation to compare answers with.
//
//   node web/tools/mock_server.mjs --gotrace-dump=PROGRAM --page=DIRECTORY [--port=N] TRACE

import {execFile, execFileSync} from 'node:child_process';
import {readFileSync, mkdtempSync, rmSync, existsSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';

const STATES = ['idle', 'running', 'runnable', 'syscall', 'network', 'blocked', 'gc', 'assist',
                'scheduler', 'stopped'];
const flags = {}, files = [];
for (const arg of process.argv.slice(2)) {
  const match = /^--([a-z-]+)=(.*)$/.exec(arg);
  if (match) flags[match[1]] = match[2]; else files.push(arg);
}
const PROGRAM = flags['gotrace-dump'], TRACE = files[0], TOKEN = flags.token ?? 'token';

class Failure extends Error {
  constructor(status, text) { super(text); this.status = status; }
}

const run = (args) => new Promise((resolve, reject) => {
  execFile(PROGRAM, args, {maxBuffer: 1 << 30}, (error, out, err) => {
    if (error && !out) reject(new Failure(400, err.trim().split('\n')[0])); else resolve(out);
  });
});

function readTables() {
  const directory = mkdtempSync(join(tmpdir(), 'gotrace-mock-'));
  const names = ['g_states', 'm_states', 'goroutines', 'ranges', 'tasks', 'regions', 'logs', 'metrics',
                 'stack_frames', 'traces'];
  try {
    execFileSync(PROGRAM, ['tables', `--tables=${names}`, '--format=jsonl', '-o', directory, TRACE],
                 {stdio: 'ignore'});
  } catch { /* A broken trace: the tables have the rows before the fault. */ }
  const tables = {};
  for (const name of names) {
    const file = join(directory, `${name}.jsonl`);
    tables[name] = existsSync(file) ?
        readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)) : [];
  }
  rmSync(directory, {recursive: true});
  return tables;
}

const T = readTables();
const info = T.traces[0];
const BEGIN = info.begin_ns, END = info.end_ns, DURATION = END - BEGIN;
const goroutines = new Map(T.goroutines.map((row) => [row.g, row]));
const nameOf = (g) => goroutines.get(g)?.name ?? '';
const stacks = new Map();
for (const row of T.stack_frames) {
  if (!stacks.has(row.stack_id)) stacks.set(row.stack_id, []);
  stacks.get(row.stack_id).push(row);
}
const stackOf = (id) => (stacks.get(id) ?? []).map((f) => ({func: f.func ?? f.function, file: f.file, line: f.line}));
const assists = new Map();
for (const r of T.ranges) {
  if (r.name !== 'GC mark assist') continue;
  const g = r.scope_id ?? r.g;
  if (!assists.has(g)) assists.set(g, []);
  assists.get(g).push([r.end_ns - r.dur_ns - BEGIN, r.end_ns - BEGIN]);
}
for (const list of assists.values()) list.sort((a, b) => a[0] - b[0]);

// An interval is {b, e, state, subject, name, row}.
function split(interval, g) {
  if (interval.state !== 1 || !assists.has(g)) return [interval];
  const out = [];
  let {b} = interval;
  for (const [from, to] of assists.get(g)) {
    if (to <= b || from >= interval.e) continue;
    if (from > b) out.push({...interval, b, e: from});
    out.push({...interval, b: Math.max(b, from), e: Math.min(to, interval.e), state: 7});
    b = Math.min(to, interval.e);
  }
  if (b < interval.e) out.push({...interval, b});
  return out;
}
const runState = (g) => nameOf(g) === 'runtime.gcBgMarkWorker' ? 6 : 1;
const ofG = new Map(), ofP = new Map(), ofM = new Map();
const add = (map, key, intervals) => {
  if (!map.has(key)) map.set(key, []);
  map.get(key).push(...intervals);
};
for (const row of T.g_states) {
  const state = {Running: runState(row.g), Runnable: 2, Syscall: 3}[row.state] ??
                (row.reason === 'network' ? 4 : 5);
  const b = row.end_ns - row.dur_ns - BEGIN, e = row.end_ns - BEGIN;
  const name = row.state === 'Waiting' ? row.reason ?? '' : '';
  add(ofG, row.g, split({b, e, state, subject: row.p ?? -1, name, row}, row.g));
}
for (const row of T.m_states) {
  const state = row.state === 'Running' ? runState(row.g) : row.state === 'Syscall' ? 3 :
                row.state === 'Scheduling' ? 8 : 0;
  if (state === 0) continue;
  const interval = {b: row.end_ns - row.dur_ns - BEGIN, e: row.end_ns - BEGIN, state, subject: row.g ?? -1,
                    name: row.g === null || row.g === undefined ? '' : nameOf(row.g), row};
  const parts = split(interval, row.g);
  add(ofM, row.m, parts);
  if (row.p !== null && row.p !== undefined) add(ofP, row.p, parts);
}
for (const map of [ofG, ofP, ofM]) for (const list of map.values()) list.sort((x, y) => x.b - y.b);
const byStart = new Map();
for (const g of ofG.keys()) add(byStart, nameOf(g), [g]);
const groups = [...byStart].map(([name, gs]) => ({name, gs: gs.sort((a, b) => a - b)}))
                   .sort((a, b) => b.gs.length - a.gs.length || (a.name < b.name ? -1 : 1));
groups.forEach((group, i) => {
  group.id = `group:${i}`;
  group.list = group.gs.flatMap((g) => ofG.get(g));
});
const totalsOf = (list, from, to) => {
  const totals = {};
  for (const i of list) {
    const ns = Math.min(i.e, to) - Math.max(i.b, from);
    if (ns > 0) totals[STATES[i.state]] = (totals[STATES[i.state]] ?? 0) + ns;
  }
  return totals;
};

const integer = (q, name, fallback) => {
  const text = q.get(name);
  if (text === null) return fallback;
  if (!/^\d+$/.test(text)) throw new Failure(400, `${name} has to be a number`);
  return Number(text);
};
function columnsOf(q, count) {
  const from = Math.min(integer(q, 'from', 0), DURATION), to = Math.min(integer(q, 'to', DURATION), DURATION);
  let step = integer(q, 'step', 0) || 2 ** Math.ceil(Math.log2(Math.max(1, (to - from) / count)));
  while ((to - from) / step > 8190) step *= 2;
  const begin = Math.floor(from / step) * step;
  return {begin, step, count: Math.max(1, Math.ceil((to - begin) / step))};
}
const bytes = (values, full) => Buffer.from(Uint8Array.from(
    values, (v) => v <= 0 ? 0 : Math.max(1, Math.min(255, Math.round(v / full * 255))))).toString('base64');

function sums(list, {begin, step, count}, wide, longest) {
  const columns = {};
  const end = begin + step * count;
  for (const i of list) {
    const b = Math.max(i.b, begin), e = Math.min(i.e, end);
    if (e <= b) continue;
    if (wide && e - b >= 2 * step) { wide(i, b, e, end); continue; }
    const name = STATES[i.state];
    columns[name] ??= new Float64Array(count);
    for (let k = Math.floor((b - begin) / step); k < count; k++) {
      const from = begin + k * step;
      if (from >= e) break;
      columns[name][k] += Math.min(e, from + step) - Math.max(b, from);
    }
    const k = Math.floor((b - begin) / step);
    if (longest && e - b > longest.length[k]) { longest.length[k] = e - b; longest.state[k] = i.state; }
  }
  return columns;
}
const encode = (columns, full) =>
    Object.fromEntries(STATES.filter((s) => columns[s]).map((s) => [s, bytes(columns[s], full)]));

function lanes(q) {
  const c = columnsOf(q, 1024);
  const end = c.begin + c.step * c.count;
  const ids = (q.get('ids') ?? '').split(',').flatMap((id) =>
      id === 'p:*' ? [...ofP.keys()].sort((a, b) => a - b).map((p) => `p:${p}`) :
      id === 'm:*' ? [...ofM.keys()].sort((a, b) => a - b).map((m) => `m:${m}`) : [id]);
  if (ids.length > 256) throw new Failure(400, 'too many lanes');
  const names = [''], index = new Map([['', 0]]);
  const intern = (s) => {
    if (!index.has(s)) { index.set(s, names.length); names.push(s); }
    return index.get(s);
  };
  const answer = ids.map((id) => {
    const [kind, number] = id.split(':');
    if (kind === 'group') {
      const group = groups[number];
      if (!group) throw new Failure(404, `no lane ${id}`);
      const columns = sums(group.list, c);
      const total = new Float64Array(c.count);
      for (const values of Object.values(columns)) values.forEach((v, k) => total[k] += v);
      const full = Math.max(1, ...total);
      return {id, name: group.name, totals: totalsOf(group.list, c.begin, end), full, columns: encode(columns, full)};
    }
    const list = {p: ofP, m: ofM, g: ofG}[kind]?.get(Number(number));
    if (!list) throw new Failure(404, `no lane ${id}`);
    const spans = [];
    const longest = {length: new Float64Array(c.count), state: new Uint8Array(c.count)};
    const columns = sums(list, c, (i, b, e) => spans.push(
        [b, e - b, i.state, i.subject, intern(i.name), (i.b < b ? 1 : 0) + (i.e > e ? 2 : 0)]), longest);
    return {id, name: kind === 'g' ? nameOf(Number(number)) : `${kind.toUpperCase()} ${number}`,
            totals: totalsOf(list, c.begin, end), full: c.step, columns: encode(columns, c.step),
            longest: bytes(longest.length, c.step), longest_states: Buffer.from(longest.state).toString('base64'),
            spans};
  });
  return {...c, names, lanes: answer, skipped: []};
}

const allPs = [...ofP.values()].flat();
const allRunnable = T.g_states.filter((r) => r.state === 'Runnable')
    .map((r) => ({b: r.end_ns - r.dur_ns - BEGIN, e: r.end_ns - BEGIN, state: 2}));
const METRICS = {heap: '/memory/classes/heap/objects:bytes', goal: '/gc/heap/goal:bytes',
                 gomaxprocs: '/sched/gomaxprocs:threads'};
function strip(q) {
  const c = columnsOf(q, 2048), end = c.begin + c.step * c.count;
  const full = c.step * Math.max(1, ofP.size);
  const waiting = sums(allRunnable, c).runnable ?? new Float64Array(c.count);
  const max = new Float64Array(c.count);
  const edges = allRunnable.flatMap((i) => [[i.b, 1], [i.e, -1]]).sort((x, y) => x[0] - y[0] || x[1] - y[1]);
  let now = 0, at = 0;
  for (let k = 0; k < c.count; k++) {
    const to = c.begin + (k + 1) * c.step;
    max[k] = now;
    while (at < edges.length && edges[at][0] < to) { now += edges[at++][1]; max[k] = Math.max(max[k], now); }
  }
  const meanFull = Math.max(1, ...waiting), most = Math.max(1, ...max);
  const metrics = {};
  for (const [key, name] of Object.entries(METRICS)) {
    const rows = T.metrics.filter((r) => (r.name ?? r.metric) === name);
    if (!rows.length) continue;
    const values = new Float64Array(c.count).fill(-1);
    let before = 0;
    for (const r of rows) {
      if (r.time_ns - BEGIN < c.begin) before = r.value < 0 || r.value > 1e15 ? 0 : r.value;
      const k = Math.floor((r.time_ns - BEGIN - c.begin) / c.step);
      const value = r.value < 0 || r.value > 1e15 ? 0 : r.value;
      if (k >= 0 && k < c.count) values[k] = Math.max(values[k], value);
    }
    for (let k = 0, last = before; k < c.count; k++) { if (values[k] < 0) values[k] = last; last = values[k]; }
    const largest = Math.max(1, ...values);
    metrics[key] = {full: largest, max: bytes(values, largest)};
  }
  return {...c, full, totals: totalsOf(allPs, c.begin, end), columns: encode(sums(allPs, c), full),
          runnable: {total: totalsOf(allRunnable, c.begin, end).runnable ?? 0, full: meanFull,
                     mean: bytes(waiting, meanFull), max: bytes(max, most), most}, metrics};
}

function marks(q) {
  const c = columnsOf(q, 1024), names = [''];
  const intern = (s) => (names.includes(s) ? 0 : names.push(s), names.indexOf(s));
  const rows = (filter, label) => {
    const out = [];
    const list = T.ranges.filter(filter).map((r) => [r.end_ns - r.dur_ns - BEGIN, r.dur_ns, intern(label(r)), 1])
        .sort((a, b) => a[0] - b[0]).filter((r) => r[0] < c.begin + c.count * c.step && r[0] + r[1] > c.begin);
    for (const r of list) {
      const last = out.at(-1);
      if (last && r[1] < c.step && Math.floor(last[0] / c.step) === Math.floor(r[0] / c.step)) {
        last[1] = Math.max(last[1], r[0] + r[1] - last[0]); last[3]++;
      } else out.push(r);
    }
    return out;
  };
  return {names, cycles: rows((r) => r.name === 'GC concurrent mark phase', (r) => r.name),
          stops: rows((r) => r.name.startsWith('stop-the-world'), (r) => `stop-the-world (${r.reason})`)};
}

const groupRow = (g) => ({id: g.id, name: g.name, goroutines: g.gs.length, totals: totalsOf(g.list, 0, DURATION)});
const contains = (a, b) => a.toLowerCase().includes(b.toLowerCase());
function page(rows, q, key, limit = 100) {
  const offset = integer(q, 'offset', 0);
  return {total: rows.length, [key]: rows.slice(offset, offset + integer(q, 'limit', limit))};
}
function members(q) {
  const from = integer(q, 'from', 0), to = integer(q, 'to', DURATION);
  const group = groups[integer(q, 'group', 0)];
  if (!group) throw new Failure(404, 'no such group');
  const rows = group.gs.map((g) => {
    const list = ofG.get(g), row = goroutines.get(g);
    return {id: `g:${g}`, begin: list[0].b, end: list.at(-1).e, begins: row?.begin_ns != null, ends: row?.end_ns != null};
  }).filter((m) => m.begin < to && m.end > from).sort((a, b) => a.begin - b.begin);
  return page(rows, q, 'members');
}

const KIND = {itself: 'itself', scheduler: 'scheduler', goroutine: 'goroutine', network: 'network', timer: 'timer',
              gc: 'gc', syscall: 'syscall'};
const find = (list, at) => {
  let lo = 0, hi = list.length;
  while (lo < hi) { const mid = (lo + hi) >> 1; if (list[mid].b <= at) lo = mid + 1; else hi = mid; }
  return lo - 1;
};
function cause(row, at) {
  if (!row) return {kind: 'unknown', lane: null, at, name: '', p: null, m: null, stack: []};
  const g = row.waker_g ?? (row.ended_by === 'itself' ? row.g : null);
  const list = g === null ? null : ofG.get(g);
  const i = list ? list[find(list, at - 1)] : null;
  return {kind: KIND[row.ended_by] ?? 'unknown', lane: g === null ? null : `g:${g}`, at: at - 1, name: nameOf(g),
          p: i?.row.p ?? null, m: i?.row.m ?? null, stack: stackOf(row.waker_stack_id)};
}
function span(q) {
  const lane = q.get('lane') ?? '', at = integer(q, 'at', 0);
  const [kind, number] = lane.split(':');
  const list = {p: ofP, m: ofM, g: ofG}[kind]?.get(Number(number));
  if (!list) throw new Failure(404, `no lane ${lane}`);
  const k = find(list, at);
  let i = list[k];
  if (!i || i.e <= at) {
    const b = i ? i.e : 0, e = list[k + 1]?.b ?? DURATION;
    i = {b, e, state: 0, subject: -1, name: '', row: {}};
  }
  const g = kind === 'g' ? Number(number) : i.subject >= 0 ? i.subject : null;
  const near = (x) => x && {lane, at: x.b};
  const base = {lane, name: kind === 'g' ? nameOf(g) : `${kind.toUpperCase()} ${number}`, begin: i.b, end: i.e,
                begin_clipped: i.b === 0, end_clipped: i.e === DURATION, state: STATES[i.state],
                previous: k > 0 ? near(list[k - 1]) : null, next: near(list[k + 1]) ?? null, goroutine: g};
  if (g === null) return {...base, p: kind === 'p' ? Number(number) : null, m: i.row.m ?? null, stack: [], wakes: [], regions: []};
  const own = ofG.get(g) ?? [];
  const n = find(own, Math.max(at, i.b)), self = own[n] ?? i;
  let before = n - 1;
  while (before >= 0 && own[before].row === self.row) before--;
  const previous = own[before]?.row;
  const wakes = T.g_states.filter((r) => r.waker_g === g && r.end_ns - BEGIN > i.b && r.end_ns - BEGIN <= i.e)
      .slice(0, 100).map((r) => ({lane: `g:${r.g}`, at: r.end_ns - BEGIN, name: nameOf(r.g)}));
  return {...base, name: nameOf(g), go_state: self.row.state, reason: self.row.reason ?? '', p: self.row.p ?? null, m: self.row.m ?? null,
          stack: stackOf(self.row.stack_id), begun_by: cause(previous, i.b), ended_by: cause(self.row, i.e), wakes,
          regions: T.regions.filter((r) => r.g === g && r.end_ns - r.dur_ns - BEGIN <= i.b && r.end_ns - BEGIN >= i.e)
              .sort((a, b) => a.depth - b.depth)
              .map((r) => ({type: r.type, task: r.task ?? 0, begin: r.end_ns - r.dur_ns - BEGIN, end: r.end_ns - BEGIN}))};
}
function arrows(q) {
  const g = Number((q.get('lane') ?? '').split(':')[1]);
  const from = integer(q, 'from', 0), to = integer(q, 'to', DURATION), limit = integer(q, 'limit', 500);
  const rows = T.g_states.filter((r) => r.waker_g != null && (r.g === g || r.waker_g === g))
      .map((r) => {
        const time = r.end_ns - BEGIN, list = ofG.get(r.g);
        let k = find(list, time);
        while (k < list.length && list[k] && list[k].state === 2) k++;
        return [time, r.waker_g, r.g, list[k]?.b ?? -1];
      }).filter((r) => r[0] >= from && r[0] < to).sort((a, b) => a[0] - b[0]);
  return {total: rows.length, arrows: rows.slice(0, limit)};
}
function tasklanes(q) {
  const from = integer(q, 'from', 0), to = integer(q, 'to', DURATION), names = [''];
  const intern = (s) => (names.includes(s) ? 0 : names.push(s), names.indexOf(s));
  const rows = T.tasks.map((t) => ({t, begin: t.end_ns - t.dur_ns - BEGIN}))
      .filter(({t, begin}) => begin < to && begin + t.dur_ns > from && (!q.get('type') || t.type === q.get('type')))
      .sort((a, b) => b.t.dur_ns - a.t.dur_ns || a.t.task - b.t.task);
  const out = page(rows, q, 'tasks', 20);
  out.tasks = out.tasks.map(({t, begin}) => ({task: t.task, type: intern(t.type ?? ''), parent: t.parent ?? null, begin,
      duration: t.dur_ns, begins: !(t.flags & 1), ends: !(t.flags & 2), goroutine: t.begin_g ?? null,
      regions: T.regions.filter((r) => r.task === t.task).sort((a, b) => b.dur_ns - a.dur_ns).slice(0, 1000)
          .map((r) => [r.end_ns - r.dur_ns - BEGIN, r.dur_ns, intern(r.type), r.g ?? -1, r.depth])
          .sort((a, b) => a[0] - b[0])}));
  return {total: out.total, names, tasks: out.tasks};
}
function search(q) {
  const text = q.get('text') ?? '', limit = integer(q, 'limit', 20);
  const [, kind, number] = /^(g|p|m|task):(\d+)$/.exec(text) ?? [];
  const found = (rows, by) => rows.filter((r) => contains(by(r) ?? '', text)).slice(0, limit);
  const types = new Map();
  for (const r of T.regions) {
    if (!types.has(r.type)) types.set(r.type, {type: r.type, count: 0, lane: `g:${r.g}`, at: r.end_ns - r.dur_ns - BEGIN});
    types.get(r.type).count++;
  }
  return {
    groups: found(groups, (g) => g.name).map(({id, name, gs}) => ({id, name, goroutines: gs.length})),
    goroutines: kind === 'g' && ofG.has(Number(number)) ?
        [{id: text, name: nameOf(Number(number)), at: ofG.get(Number(number))[0].b}] : [],
    tasks: T.tasks.filter((t) => kind === 'task' ? t.task === Number(number) : contains(t.type ?? '', text))
        .sort((a, b) => b.dur_ns - a.dur_ns).slice(0, limit)
        .map((t) => ({task: t.task, type: t.type ?? '', at: t.end_ns - t.dur_ns - BEGIN, duration: t.dur_ns})),
    regions: [...types.values()].filter((r) => contains(r.type, text)).slice(0, limit),
    logs: found(T.logs, (l) => l.message).map((l) => ({lane: `g:${l.g}`, at: l.time_ns - BEGIN, task: l.task ?? 0,
        text: `${l.category ? l.category + ': ' : ''}${l.message}`}))};
}

const COMMANDS = ['goroutines', 'tasks', 'regions', 'latency', 'gc', 'procs', 'heap', 'leaks', 'path', 'profile', 'locks'];
const windowFlags = (q) => ['from', 'to'].filter((k) => q.get(k) !== null).map((k) => `--${k}=@${BEGIN + Number(q.get(k))}`);
const otherFlags = (q, without) => [...q].filter(([k]) => !['from', 'to', 'token', ...without].includes(k))
    .map(([k, v]) => v === '' ? `--${k}` : `--${k}=${v}`);
async function command(name, q) {
  const json = JSON.parse(await run([name, '--format=json', ...windowFlags(q), ...otherFlags(q, []), TRACE]));
  return {...json, file: basename(TRACE)};
}
async function summary(q) {
  const json = JSON.parse(await run(['summary', '--json', ...windowFlags(q), TRACE]));
  const text = await run(['summary', ...windowFlags(q), TRACE]);
  const at = text.indexOf('\nLook at\n');
  const suspicions = at < 0 ? [] : text.slice(at + 9).split('\n- ').map((part) => {
    const [first, second] = part.replace(/^- /, '').trim().split('\n');
    const time = / at (\d+)/.exec(first);
    return {text: first.replace(/ at \d+/, ''), command: (second ?? '').trim().replace(/^gotrace-dump /, ''),
            begin_ns: time ? Number(time[1]) : null, g: null};
  });
  return {suspicions, ...json, file: basename(TRACE)};
}
async function flame(q) {
  const folded = await run(['profile', '--format=folded', ...windowFlags(q), ...otherFlags(q, ['limit', 'inverted']), TRACE]);
  const root = {name: '', value: 0, self: 0, children: new Map()};
  for (const line of folded.split('\n')) {
    const space = line.lastIndexOf(' ');
    if (space < 0) continue;
    const frames = line.slice(0, space).split(';'), value = Number(line.slice(space + 1));
    if (q.has('inverted')) frames.reverse();
    let node = root;
    root.value += value;
    for (const frame of frames) {
      if (!node.children.has(frame)) node.children.set(frame, {name: frame, value: 0, self: 0, children: new Map()});
      node = node.children.get(frame);
      node.value += value;
    }
    node.self += value;
  }
  const names = [''], index = new Map([['', 0]]), nodes = [];
  const visit = (node, parent) => {
    if (!index.has(node.name)) { index.set(node.name, names.length); names.push(node.name); }
    const at = nodes.push([parent, index.get(node.name), node.value, node.self]) - 1;
    [...node.children.values()].sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1)).forEach((c) => visit(c, at));
  };
  visit(root, -1);
  return {unit: q.get('type') === 'create' ? 'count' : 'nanoseconds', total: root.value, nodes_left_out: 0, names, nodes};
}

const handlers = {
  trace: () => ({name: basename(TRACE), begin_ns: BEGIN, end_ns: END, duration: DURATION, events: info.events,
                 goroutines: ofG.size, progress: 1, complete: true, version: info.go_version,
                 procs: [...ofP.keys()].sort((a, b) => a - b), threads: [...ofM.keys()].sort((a, b) => a - b),
                 wall_begin: info.wall_begin_ns ? new Date(info.wall_begin_ns / 1e6).toISOString() : null,
                 groups: groups.length, tasks: T.tasks.length, states: STATES, fault: info.error ?? null, note: null}),
  strip, lanes, marks, members, span, arrows, tasklanes, search, summary, flame,
  groups: (q) => page(groups.filter((g) => contains(g.name, q.get('text') ?? '')).map(groupRow), q, 'groups'),
  time: (q) => {
    const text = q.get('text') ?? '';
    const match = /^(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m)?$/.exec(text);
    if (text.startsWith('@')) return {at: Number(text.slice(1)) - BEGIN};
    if (!match) throw new Failure(400, `not a time: ${text}`);
    return {at: Math.round(Number(match[1]) * {ns: 1, us: 1e3, 'µs': 1e3, ms: 1e6, s: 1e9, m: 6e10}[match[2] ?? 'ns'])};
  },
  info: async () => JSON.parse(await run(['info', '--json', TRACE])),
  events: async (q) => {
    const limit = integer(q, 'limit', 500);
    const out = await run(['events', ...windowFlags(q), ...otherFlags(q, ['limit', 'format']),
                           q.get('format') === 'json' ? '--format=jsonl' : '--format=go', TRACE]);
    return out.split('\n').slice(0, limit).join('\n') + '\n';
  },
  sql: async (q) => {
    const out = await run(['sql', '--format=jsonl', TRACE, q.get('query') ?? '']);
    const rows = out.split('\n').filter(Boolean).map((l) => JSON.parse(l)), limit = integer(q, 'limit', 1000);
    const columns = Object.keys(rows[0] ?? {});
    return {columns, rows: rows.slice(0, limit).map((r) => columns.map((c) => r[c])), more: rows.length > limit};
  },
};
for (const name of COMMANDS) handlers[name] = (q) => command(name, q);

const TYPES = {html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8'};
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const send = (status, type, body) => {
    response.writeHead(status, {'Content-Type': type, 'Content-Security-Policy': CSP, 'X-Content-Type-Options': 'nosniff',
                                'Cache-Control': 'no-store'});
    response.end(body);
  };
  const file = url.pathname === '/' ? 'index.html' : url.pathname.slice(1);
  if (['index.html', 'page.js', 'page.css'].includes(file)) {
    send(200, TYPES[file.split('.').pop()], readFileSync(join(flags.page, file)));
    return;
  }
  try {
    const name = url.pathname.replace(/^\/api\//, '');
    if ((request.headers['x-gotrace-token'] ?? url.searchParams.get('token')) !== TOKEN) throw new Failure(403, 'wrong token');
    if (!handlers[name]) throw new Failure(404, `no request ${name}`);
    if (flags.delay) await new Promise((r) => setTimeout(r, Number(flags.delay)));
    const answer = await handlers[name](url.searchParams);
    if (typeof answer === 'string') send(200, 'text/plain; charset=utf-8', answer);
    else send(200, 'application/json', JSON.stringify(answer));
  } catch (error) {
    if (!(error instanceof Failure)) console.error(url.href, error);
    send(error.status ?? 500, 'application/json', JSON.stringify({error: String(error.message)}));
  }
});
server.listen(Number(flags.port ?? 0), '127.0.0.1',
              () => console.log(`http://127.0.0.1:${server.address().port}/?token=${TOKEN}`));
