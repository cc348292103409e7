#!/usr/bin/env python3
"""Checks the slices and the counters of a trace that is converted to Perfetto's format.

  check_slices.py GOTRACE_DUMP TRACE [CONVERT_FLAG...] -- QUERY_COMMAND...

Derives from the events that `gotrace-dump events` prints what must be in the converted trace, and
compares that with what trace_processor finds. QUERY_COMMAND is called with a converted trace and SQL
statements, and prints a line of JSON for each row. Of the flags, --alloc, --from and --until change
what is expected; times must have the form @NANOSECONDS. Prints the differences, and exits with 1 if
there is one.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

METRICS = {'HeapAlloc': 'heap', 'HeapGoal': 'heap goal', 'ProcsChange': 'GOMAXPROCS'}
GAUGES = {'Runnable': 'runnable goroutines', 'Running': 'running goroutines',
          'Waiting': 'waiting goroutines', 'Syscall': 'goroutines in syscalls'}
GAUGE_INTERVAL = 100_000

SQL = ["""
SELECT slice.id, ts, dur, IFNULL(category, '') AS category, slice.name, slice.parent_id AS parent,
       tid, track.name AS track, track.id AS track_id, track.parent_id AS track_parent,
       (SELECT JSON_GROUP_OBJECT(SUBSTR(key, 7), IFNULL(string_value, int_value)) FROM args
        WHERE args.arg_set_id = slice.arg_set_id AND key GLOB 'debug.*') AS args
FROM slice JOIN track ON track.id = track_id
LEFT JOIN thread_track ON thread_track.id = track_id LEFT JOIN thread USING (utid)
""", """
SELECT slice_out, slice_in FROM flow
""", """
SELECT ts, track.name AS counter, value FROM counter JOIN track ON track.id = track_id ORDER BY ts
""", """
SELECT ts AS sample, cpu, tid, thread.name FROM perf_sample LEFT JOIN thread USING (utid)
"""]


def shown(value):
  """What is compared of a value. trace_processor ends a string at its first NUL, and programs differ
  in how many replacement characters they make of bytes that are not UTF-8."""
  if not isinstance(value, str): return value
  return re.sub('\ufffd+', '\ufffd', value.split('\0')[0])


class Slice:
  def __init__(self, track, category, name, begin, end, **args):
    self.track, self.category, self.name = track, category, shown(name)
    self.begin, self.end = begin, end  # The end is None if the slice is open at the end.
    self.args = {shown(key): shown(value) for key, value in args.items()}
    self.parent = None
    self.track_parent = None  # Of a task: the track of the task that its track is in.

  def row(self):
    parent = self.parent and (self.parent.category, self.parent.name, self.parent.begin)
    row = [self.track, self.category, self.name, self.begin, self.end, parent, self.track_parent,
           self.args]
    return json.dumps(row, sort_keys=True)


class Expected:
  """What the converted trace must have, between the times `start` and `stop`."""

  def __init__(self, events, start, stop, alloc):
    self.alloc = alloc
    self.slices, self.flows = [], []  # Flows are pairs of slices.
    self.counters = []                # (time, counter, value)
    self.gauges = []                  # (time, {counter: value}) after each transition.
    self.samples = []
    self.open = collections.defaultdict(list)  # By track: the open slices, the innermost last.
    self.tasks, self.tracks = {}, {}
    self.states, self.counts = {}, collections.Counter()
    self.running_procs, self.procs = set(), set()
    self.generation = 0
    window = None  # When the window begins: not before the trace does.
    first = None
    for event in events:
      if event['time'] > stop and (event['kind'] == 'Sync' or not window): break
      if event['time'] > stop and not self.is_new_status(event): continue
      if event['kind'] == 'Sync': self.generation = event['time']
      first = first or event['time']
      if window is None and event['time'] >= start:
        window = max(start, first)
        self.add_gauges(window)
      getattr(self, event['kind'])(event)
    self.clip(window, stop)
    self.add_gauges(min(stop, event['time']))

  def is_new_status(self, event):
    """Whether the event says what a goroutine was doing since the generation began."""
    return (event.get('type') in ('GoStatus', 'GoStatusStack') and
            event['state_transition']['resource']['id'] not in self.states)

  def clip(self, start, stop):
    """Keeps what is in the window. What is open where it begins, begins there."""
    inside = lambda s: s.begin <= stop and (s.end is None or s.end >= start)
    for s in self.slices:
      if s.track_parent in self.tracks and not inside(self.tracks[s.track_parent]):
        s.track_parent = 'Tasks'
      if s.end is not None and s.end > stop: s.end = None
    self.slices = [s for s in self.slices if inside(s)]
    self.flows = [flow for flow in self.flows if inside(flow[0])]
    for s in self.slices: s.begin = max(s.begin, start)
    current = {c[1]: (start, *c[1:]) for c in self.counters if c[0] < start}
    self.counters = [*current.values(), *(c for c in self.counters if start <= c[0] <= stop)]
    self.samples = [s for s in self.samples if start <= s[0] <= stop]
    self.gauges = [g for g in self.gauges if start <= g[0] <= stop]

  def begin(self, track, category, name, time, **args):
    new = Slice(track, category, name, time, None, **args)
    if self.open[track]: new.parent = self.open[track][-1]
    self.open[track].append(new)
    self.slices.append(new)
    return new

  def end(self, track, category, name, time, **args):
    """Ends the innermost slice of the category and name, and those inside of it."""
    open_slices, name = self.open[track], shown(name)
    ends = lambda s: s.category == category and name in (None, s.name)
    if not any(ends(s) for s in open_slices): return
    while True:
      last = open_slices.pop()
      last.end = time
      if ends(last): return last.args.update(args)

  def instant(self, track, category, name, time, **args):
    new = Slice(track, category, name, time, time, **args)
    if self.open[track]: new.parent = self.open[track][-1]
    self.slices.append(new)
    return new

  def Sync(self, event):
    pass

  def StateTransition(self, event):
    change = event['state_transition']
    if change['resource']['kind'] == 'Proc':
      proc = change['resource']['id']
      self.running_procs.discard(proc)
      if change['to'] == 'Running':
        self.running_procs.add(proc)
        if event['type'] == 'ProcStatus' and proc not in self.procs: self.count_before('busy Ps')
      self.procs.add(proc)
    elif change['resource']['kind'] == 'Goroutine':
      self.goroutine_transition(event, change)
    self.add_gauges(event['time'])

  def add_gauges(self, time):
    gauges = {name: self.counts[state] for state, name in GAUGES.items()}
    self.gauges.append((time, {**gauges, 'busy Ps': len(self.running_procs)}))

  def count_before(self, name):
    """Something that was just stated has been so since the generation began."""
    for time, gauges in self.gauges:
      if time >= self.generation: gauges[name] += 1

  def set_state(self, goroutine, state):
    self.counts[self.states.pop(goroutine, None)] -= 1
    self.counts[state] += 1
    if state != 'NotExist': self.states[goroutine] = state

  def goroutine_transition(self, event, change):
    time, waker, goroutine = event['time'], event['g'], change['resource']['id']
    track = f'goroutine {goroutine}'
    before, after = self.states.get(goroutine), change['to']
    is_status = event['type'] in ('GoStatus', 'GoStatusStack')
    if before is None and change['from'] == 'NotExist' and not is_status:
      if waker != -1:
        create = self.instant(f'goroutine {waker}', 'goroutine', 'create', time)
        self.flows.append((create, self.instant(track, '', 'created', time)))
    elif before is None:
      # It was in this state before.
      before = after if is_status else change['from']
      self.set_state(goroutine, before)
      if is_status: self.count_before(GAUGES[before])
      self.begin_wait(track, before, '', self.generation)
      if is_status: return
    if before == after: return
    if before in ('Waiting', 'Syscall'):
      self.end(track, 'wait' if before == 'Waiting' else 'syscall', None, time)
      if before == 'Waiting' and waker not in (-1, goroutine):
        unblock = self.instant(f'goroutine {waker}', 'goroutine', 'unblock', time)
        self.flows.append((unblock, self.instant(track, '', 'unblocked', time)))
    if after == 'NotExist':
      for last in self.open.pop(track, []): last.end = time
    self.set_state(goroutine, after)
    self.begin_wait(track, after, change['reason'], time)

  def begin_wait(self, track, state, reason, time):
    if state == 'Waiting': self.begin(track, 'wait', reason or 'waiting', time)
    if state == 'Syscall': self.begin(track, 'syscall', 'syscall', time)

  def range_of(self, event):
    scope = event['range']['scope']
    track = {'Goroutine': f"goroutine {scope['id']}", 'Proc': f"P{scope['id']}"}.get(scope['kind'])
    return track or 'GC', 'range', event['range']['name']

  def RangeBegin(self, event):
    self.begin(*self.range_of(event), event['time'])

  def RangeActive(self, event):
    track, category, name = self.range_of(event)
    if not any((s.category, s.name) == (category, shown(name)) for s in self.open[track]):
      self.begin(track, category, name, self.generation)

  def RangeEnd(self, event):
    self.end(*self.range_of(event), event['time'], **event['range']['attributes'])

  def RegionBegin(self, event):
    region = event['region']
    self.begin(f"goroutine {event['g']}", 'region', region['type'], event['time'],
               **task_arg('task', region['task']))

  def RegionEnd(self, event):
    self.end(f"goroutine {event['g']}", 'region', event['region']['type'], event['time'])

  def TaskBegin(self, event):
    task = event['task']
    begun = Slice(f"task {task['id']}", 'task', task['type'] or 'task', event['time'], None,
                  task=task['id'], **task_arg('parent', task['parent']))
    begun.track_parent = f"task {task['parent']}" if task['parent'] in self.tasks else 'Tasks'
    self.slices.append(begun)
    self.tasks[task['id']] = self.tracks[begun.track] = begun

  def TaskEnd(self, event):
    ended = self.tasks.pop(event['task']['id'], None)
    if ended: ended.end = event['time']

  def Log(self, event):
    log = event['log']
    self.instant(f"goroutine {event['g']}", 'log', log['category'] or 'log', event['time'],
                 message=log['message'], **task_arg('task', log['task']))

  def Label(self, event):
    self.instant(f"goroutine {event['g']}", 'label', event['label']['label'], event['time'])

  def Metric(self, event):
    self.counters.append((event['time'], METRICS[event['type']], event['metric']['value']))

  def StackSample(self, event):
    # Without a P, which is left out then, trace_processor takes 0.
    thread = event['g'] if event['g'] > 0 else f"M{event['m']}"
    self.samples.append((event['time'], max(event['p'], 0), thread))

  def Experimental(self, event):
    if not self.alloc: return
    experimental = event['experimental']
    track = 'GC' if event['g'] == -1 else f"goroutine {event['g']}"
    self.instant(track, 'alloc', experimental['name'], event['time'], **experimental['args'])


def task_arg(name, task):
  return {name: task} if task > 0 else {}


class Found:
  """What trace_processor found."""

  def __init__(self, rows):
    self.slices, self.flows, self.counters, self.samples = [], [], [], []
    by_id, task_tracks, tracks = {}, {}, {}
    flows, parents = [], []
    for row in rows:
      if 'slice_out' in row:
        flows.append(row)
      elif 'counter' in row:
        self.counters.append((row['ts'], row['counter'], row['value']))
      elif 'sample' in row:
        thread = row['tid'] if row['tid'] < 1 << 30 else row['name']
        self.samples.append((row['sample'], row['cpu'], thread))
      else:
        args = json.loads(row['args'])
        track = row['track'] if row['tid'] is None else f"goroutine {row['tid']}"
        if row['category'] == 'task': track = f"task {args['task']}"
        end = None if row['dur'] < 0 else row['ts'] + row['dur']
        found = Slice(track, row['category'], row['name'] or '', row['ts'], end, **args)
        by_id[row['id']] = found
        tracks[row['track_id']] = track
        parents.append((found, row))
        self.slices.append(found)
    for found, row in parents:
      if row['parent'] is not None: found.parent = by_id[row['parent']]
      if row['category'] == 'task': found.track_parent = tracks.get(row['track_parent'], 'Tasks')
    self.flows = [(by_id[row['slice_out']], by_id[row['slice_in']]) for row in flows]


def report(what, expected, found):
  """Prints how two lists differ, whatever their order. Returns whether they do."""
  missing = collections.Counter(expected)
  missing.subtract(found)
  for word, sign in ('missing', 1), ('unexpected', -1):
    rows = [row for row, count in missing.items() if count * sign > 0]
    for row in rows[:3]: print(f'{word} {what}: {row}')
    if len(rows) > 3: print(f'{word} {what}: and {len(rows) - 3} others')
  return any(missing.values())


def check_gauges(expected, found, names):
  """Checks the counters that are not written at every change. Returns whether one is wrong."""
  written = collections.defaultdict(dict)
  for time, name, value in found:
    if name in names: written[name][time] = value
  problems = []
  values = dict.fromkeys(names)
  for (time, gauges), (next_time, _) in zip(expected, expected[1:] + [(float('inf'), None)]):
    for name in names:
      if time in written[name] and next_time != time:
        values[name] = written[name].pop(time)
        if values[name] != gauges[name]: problems.append((time, name, values[name], gauges[name]))
      # It must be up to date where nothing happens for a while.
      elif next_time - time >= GAUGE_INTERVAL and values[name] != gauges[name]:
        problems.append((time, name, values[name], gauges[name]))
  for problem in problems[:3]: print('wrong counter: at %d %s is %s, not %s' % problem)
  return bool(problems)


def read_json(command):
  with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
    for line in process.stdout: yield json.loads(line)
  if process.returncode != 0: sys.exit(f'check_slices.py: {command} failed')


def main():
  split = sys.argv.index('--')
  (dump, trace, *flags), query = sys.argv[1:split], sys.argv[split + 1:]
  times = {f.split('=@')[0]: int(f.split('=@')[1]) for f in flags if '=@' in f}
  expected = Expected(read_json([dump, 'events', '--format=json', trace]), times.get('--from', 0),
                      times.get('--until', float('inf')), '--alloc' in flags)
  with tempfile.TemporaryDirectory() as folder:
    converted = os.path.join(folder, 'converted')
    subprocess.run([dump, 'convert', '--to=perfetto', '-o', converted, *flags, trace], check=True)
    found = Found(read_json([*query, converted, *SQL]))
  differs = report('slice', [s.row() for s in expected.slices], [s.row() for s in found.slices])
  differs |= report('flow', [(a.row(), b.row()) for a, b in expected.flows],
                    [(a.row(), b.row()) for a, b in found.flows])
  metrics = METRICS.values()
  differs |= report('counter', expected.counters, [c for c in found.counters if c[1] in metrics])
  differs |= report('sample', expected.samples, found.samples)
  differs |= check_gauges(expected.gauges, found.counters, [*GAUGES.values(), 'busy Ps'])
  sys.exit(differs)


main()
