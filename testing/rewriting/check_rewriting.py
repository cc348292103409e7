#!/usr/bin/env python3
"""Runs trim, select, split, join and anonymise with random arguments, and reads the results with Go's own tool.

    check_rewriting.py [--uses=N] [--seed=N] [--max-bytes=N] [--go-trace=COMMAND] GOTRACE_DUMP DIR...

DIR has traces, which may be compressed with zstd. Each result must be a trace that `validate --strictness=go` accepts
and of which COMMAND -d=parsed (by default `go tool trace -d=parsed`) prints the same events as gotrace-dump. It must
also have the events that the documents promise. One use in eight has a damaged trace and --salvage: then Go must read
the result, but `validate` may find in it what no reader checks. Prints each failure with its seed, and then the number
of uses by command; exits with 1 if there was a failure.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

HEAD = re.compile(r"M=(-?\d+) P=(-?\d+) G=(-?\d+) (\w+) Time=(\d+)(.*)")
TRANSITION = re.compile(r" (GoID|ProcID)=(\d+) (\w+)->(\w+)")
EVENT_KINDS = ["Log", "Metric", "Label", "StackSample", "RangeBegin", "RangeEnd", "TaskBegin", "TaskEnd",
               "RegionBegin", "RegionEnd"]
ALL_PARTS = ["functions", "files", "labels", "tasks", "regions", "messages", "lines", "pcs", "times"]

Event = collections.namedtuple("Event", "thread proc goroutine kind time rest text")


class Failure(Exception):
    pass


def parse(text):
    """Returns the events of a text as gotrace-dump and Go's tool print it."""
    events = []
    for block in re.split(r"^(?=M=-?\d+ P=)", text, flags=re.MULTILINE):
        head = HEAD.match(block)
        if head:
            thread, proc, goroutine, kind, time, rest = head.groups()
            events.append(Event(int(thread), int(proc), int(goroutine), kind, int(time), rest, block))
    return events


def is_repeated(event):
    """Returns whether an event may only repeat what is known: a Sync event, a status or an active range."""
    if event.kind in ("Sync", "RangeActive"):
        return True
    found = event.kind == "StateTransition" and TRANSITION.match(event.rest)
    return bool(found) and found[3] in ("Undetermined", found[4])


def first_of_kind(kind):
    """Returns the kind that stands for all with which something begins and ends, which are kept together."""
    return {"RangeActive": "RangeBegin", "RangeEnd": "RangeBegin", "TaskEnd": "TaskBegin",
            "RegionEnd": "RegionBegin"}.get(kind, kind)


def without_repeated(events):
    return [event for event in events if not is_repeated(event)]


def expect_equal(got, wanted, what):
    for number, (one, other) in enumerate(zip(got, wanted)):
        if one != other:
            raise Failure(f"{what}: event {number + 1} differs:\n{one}\n{other}")
    if len(got) != len(wanted):
        longer = got if len(got) > len(wanted) else wanted
        raise Failure(f"{what}: {len(got)} events instead of {len(wanted)}:\n{longer[min(len(got), len(wanted))]}")


def texts(events):
    return [event.text for event in events]


class Checker:
    def __init__(self, arguments, directory):
        self.dump = os.path.abspath(arguments.gotrace_dump)
        self.go_trace = shlex.split(arguments.go_trace)
        self.directory = pathlib.Path(directory)
        self.random = random.Random(arguments.seed)

    def run(self, *command, codes=(0,)):
        # Texts of traces need not be UTF-8, and are compared as they are.
        result = subprocess.run([self.dump, *map(str, command)], capture_output=True, encoding="latin-1", check=False)
        if result.returncode not in codes:
            printed = result.stderr + result.stdout[:2000]
            raise Failure(f"{shlex.join(map(str, command))}: exit code {result.returncode}: {printed}")
        return result.stdout

    def check(self, trace, salvages=()):
        """Checks that Go reads a trace, and returns its events."""
        go = subprocess.run([*self.go_trace, "-d=parsed", trace], capture_output=True, encoding="latin-1", check=False)
        if go.returncode != 0:
            raise Failure(f"Go refuses {trace.name}: {go.stderr}")
        events = parse(self.run("events", trace))
        expect_equal(texts(events), texts(parse(go.stdout)), "the output of Go")
        if not salvages:
            self.run("validate", "--strictness=go", trace)
        return events

    def window(self, events):
        first, last = events[0].time, events[-1].time
        ends = [self.random.randint(first, last), self.random.choice(events).time]
        if self.random.random() < 0.5:
            ends[1] = ends[0] + (last - first) // self.random.choice([10, 100, 1000])
        return min(ends), max(ends)

    def trim(self, trace, original, salvages):
        begin, end = self.window(original)
        begin_flag = [f"--from=@{begin}"] if self.random.random() < 0.9 else []
        end_flag = [f"--to=@{end}"] if self.random.random() < 0.9 or not begin_flag else []
        if not begin_flag:
            begin = 0
        if not end_flag:
            end = original[-1].time
        if not any(begin <= event.time for event in original) or not any(event.time <= end for event in original):
            return
        out = self.directory / "out.trace"
        self.run("trim", *begin_flag, *end_flag, *salvages, "-o", out, trace, codes=(0, 1) if salvages else (0,))
        events = self.check(out, salvages)
        if salvages:
            return
        inside = [[event for event in without_repeated(some) if begin <= event.time <= end]
                  for some in (events, original)]
        # The second and third part of a switch to another goroutine are left out if the first is before the window.
        parts = len(inside[1]) - len(inside[0])
        if parts in (1, 2):
            del inside[1][:parts]
        expect_equal(*map(texts, inside), "the window")

    def select(self, trace, original, salvages):
        everything = {event.goroutine for event in original if event.goroutine >= 0}
        drops = ["--drop"] if self.random.random() < 0.4 else []
        out = self.directory / "out.trace"
        goroutines, flags, kinds = set(), [], []
        how = self.random.random()
        tasks = sorted({found[1] for event in original if (found := re.search(r" Task=(\d+)", event.rest))})
        if how < 0.3:
            kinds = self.random.sample(EVENT_KINDS, self.random.randint(1, 4))
            flags = [f"--kind={','.join(kinds)}"]
        elif how < 0.5 and tasks:
            flags = [f"--task={self.random.choice(tasks)}"]
        elif everything:
            goroutines = set(self.random.sample(sorted(everything), min(len(everything), self.random.randint(1, 5))))
            flags = [f"--g={','.join(map(str, goroutines))}"]
            if self.random.random() < 0.3:
                flags.append("--with-wakers")
        if not flags:
            return
        self.run("select", *flags, *drops, *salvages, "-o", out, trace, codes=(0, 1) if salvages else (0,))
        events = self.check(out, salvages)
        if salvages:
            return
        if kinds:
            kinds = {first_of_kind(kind) for kind in kinds}
            wanted = [event for event in without_repeated(original)
                      if event.kind == "StateTransition" or (first_of_kind(event.kind) in kinds) != bool(drops)]
            expect_equal(texts(without_repeated(events)), texts(wanted), "the kinds")
        elif goroutines and "--with-wakers" not in flags:
            self.expect_goroutines(events, original, lambda id: (id in goroutines) != bool(drops))

    def expect_goroutines(self, events, original, keeps):
        def shown(some):
            result = []
            for event in without_repeated(some):
                found = event.kind == "StateTransition" and TRANSITION.match(event.rest)
                if found and found[1] == "GoID" and keeps(int(found[2])):
                    result.append(f"{event.time} {event.thread} {event.proc} {found[0]}")
                # The end of a task has its type only if its begin is kept.
                elif event.kind in ("Log", "RegionBegin", "RegionEnd", "TaskBegin", "StackSample"):
                    if event.goroutine >= 0 and keeps(event.goroutine):
                        result.append(event.text)
            return result

        expect_equal(shown(events), shown(original), "the goroutines")
        for event in events:
            if event.goroutine >= 0 and not keeps(event.goroutine):
                raise Failure(f"a goroutine that was left out: {event.text}")

    def split_and_join(self, trace, original, salvages):
        length = original[-1].time - original[0].time
        flag = self.random.choice([f"--every={length // self.random.randint(1, 12) + 1}ns",
                                   f"--generations={self.random.randint(1, 3)}",
                                   f"--size={self.random.choice([1, 20, 200])}k"])
        pieces = self.directory / "pieces"
        self.run("split", flag, *salvages, "-o", pieces, trace, codes=(0, 1) if salvages else (0,))
        files = sorted(pieces.iterdir())
        for piece in files:
            self.check(piece, salvages)
        self.random.shuffle(files)
        if not salvages:
            self.join(files, original)

    def overlap_and_join(self, trace, original, _):
        length = original[-1].time - original[0].time
        middle = original[0].time + self.random.randint(0, length)
        overlap = self.random.randint(0, length // 4)
        files = [self.directory / "first.trace", self.directory / "second.trace"]
        self.run("trim", f"--to=@{middle + overlap}", "-o", files[0], trace)
        self.run("trim", f"--from=@{middle}", "-o", files[1], trace)
        self.random.shuffle(files)
        self.join(files, original)

    def join(self, files, original):
        out = self.directory / "out.trace"
        self.run("join", "-o", out, *files)
        expect_equal(texts(without_repeated(self.check(out))), texts(without_repeated(original)), "the joined trace")

    def anonymise(self, trace, original, salvages):
        parts = ALL_PARTS[:6]
        if self.random.random() < 0.5:
            parts = self.random.sample(ALL_PARTS, self.random.randint(1, len(ALL_PARTS)))
        out, table = self.directory / "out.trace", self.directory / "map.tsv"
        self.run("anonymise", f"--only={','.join(parts)}", f"--map={table}", *salvages, "-o", out, trace,
                 codes=(0, 1) if salvages else (0,))
        events = self.check(out, salvages)
        if not salvages:
            kept = [event for event in original if event.kind != "Experimental"]
            shift = events[0].time - kept[0].time if "times" in parts else 0
            shown = [[f"{event.thread} {event.proc} {event.goroutine} {event.kind} {event.time - by} "
                      + (TRANSITION.match(event.rest) or [""])[0] for event in some]
                     for some, by in ((events, shift), (kept, 0))]
            expect_equal(*shown, "the anonymised trace")
        # A text of a part that is replaced may be the same as one of a part that stays, and damage may make a file of
        # the name of a function.
        if not salvages and set(parts) >= set(ALL_PARTS[:6]):
            self.expect_no_secret(out.read_bytes(), table.read_bytes())

    def expect_no_secret(self, trace, table):
        secrets = {}
        for line in table.splitlines()[1:]:
            part, _, original = line.split(b"\t")
            text = re.sub(rb"\\(?:x([0-9a-f]{2})|([0-7]{3})|(.))",
                          lambda match: bytes([int(match[1], 16)]) if match[1] else bytes([int(match[2], 8)])
                          if match[2] else {b"n": b"\n", b"r": b"\r", b"t": b"\t"}.get(match[3], match[3]), original)
            # A single word may also be a part of a name of the standard library.
            if part in (b"functions", b"files", b"messages") and len(text) >= 8 and re.search(rb"\W", text):
                secrets[text] = part
        for text, part in secrets.items():
            if text in trace:
                raise Failure(f"the trace still has {text!r} of {part.decode()}")

    def damaged(self, trace):
        """Writes a copy of the trace with some bytes changed, left out or cut off, and returns its path."""
        data = bytearray(trace.read_bytes())
        for _ in range(self.random.randint(1, 3)):
            place = self.random.randrange(16, len(data))
            what = self.random.random()
            if what < 0.6:
                data[place] ^= 1 << self.random.randrange(8)
            elif what < 0.9:
                del data[place:place + self.random.randint(1, 1000)]
            else:
                del data[max(place, len(data) // 2):]
        path = self.directory / "damaged.trace"
        path.write_bytes(data)
        return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--uses", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the first use; each one has the next")
    parser.add_argument("--go-trace", default="go tool trace")
    parser.add_argument("--max-bytes", type=int, default=20_000_000, help="of a trace that is used, uncompressed")
    parser.add_argument("gotrace_dump")
    parser.add_argument("dirs", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    files = sorted(file for folder in arguments.dirs for file in folder.iterdir()
                   if file.name.endswith((".trace", ".trace.zst")))
    uses, failures = collections.Counter(), 0
    for seed in range(arguments.seed, arguments.seed + arguments.uses):
        arguments.seed = seed
        with tempfile.TemporaryDirectory() as directory:
            checker = Checker(arguments, directory)
            file = checker.random.choice(files)
            trace = pathlib.Path(directory) / "in.trace"
            if file.name.endswith(".zst"):
                subprocess.run(["zstd", "-dqf", file, "-o", trace], check=True)
            else:
                trace.write_bytes(file.read_bytes())
            if trace.stat().st_size > arguments.max_bytes:
                continue
            use = checker.random.choice([checker.trim, checker.select, checker.split_and_join,
                                         checker.overlap_and_join, checker.anonymise])
            try:
                salvages = []
                if checker.random.random() < 0.125 and use != checker.overlap_and_join:
                    trace, salvages = checker.damaged(trace), ["--salvage"]
                options = ["--salvage"] if salvages else []
                original = parse(checker.run("events", *options, trace, codes=(0, 1) if salvages else (0,)))
                if len(original) < 2:
                    continue
                use(trace, original, salvages)
            except Failure as failure:
                failures += 1
                print(f"--seed={seed} {use.__name__} of {file.name}: {failure}", flush=True)
            uses[use.__name__] += 1
    print(", ".join(f"{name}: {count}" for name, count in sorted(uses.items())) + f"; {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
