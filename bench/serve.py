#!/usr/bin/env python3
"""Measures `gotrace-dump serve`: how soon it answers, how long it reads, its memory, and how long windows take.

usage: serve.py [--go=GO_TRACE_TOOL] GOTRACE_DUMP TRACE...

Prints a row of the table in README.md for each trace. A window is the lanes of all Ps in about a thousand columns,
anywhere, from the whole trace to a microsecond; it is asked for twice. Windows are the same in each run.

With --go, the program that `go tool trace` runs, a second table has its page, and the JSON that its first timeline
needs, beside the page and the first lanes of gotrace-dump.
"""

import contextlib
import json
import os
import random
import re
import socket
import subprocess
import sys
import time
import urllib.request

WINDOWS = 60


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def peak_megabytes(process):
    with open(f"/proc/{process.pid}/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat") as stat:
        user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def running(command, stdout=subprocess.DEVNULL):
    process = subprocess.Popen(command, stdout=stdout, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def serving(program, trace):
    """Yields the server, and a function that returns its answer to a request."""
    with running([program, "serve", "--no-open", trace], subprocess.PIPE) as server:
        base, token = server.stdout.readline().decode().strip().split("/?token=")
        yield server, lambda path: get(f"{base}/{path}{'&' if '?' in path else '?'}token={token}")


def get(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read()


def read_all(ask):
    """Returns what is known of the trace once all of it is read."""
    while True:
        facts = json.loads(ask("api/trace"))
        if facts["complete"]:
            return facts
        time.sleep(0.05)


def lanes_request(begin, length):
    step = 1
    while step * 2048 <= length:
        step *= 2
    return f"api/lanes?ids=p:*&from={begin}&to={begin + length}&step={step}"


def print_row(row):
    print("| " + " | ".join(row) + " |", flush=True)


def measure(program, trace):
    begin = time.monotonic()
    with serving(program, trace) as (server, ask):
        ask("api/trace")
        usable = time.monotonic() - begin
        duration = read_all(ask)["duration"]
        read, cpu = time.monotonic() - begin, cpu_seconds(server)
        rng = random.Random(44)
        first, again, sizes = [], [], []
        for _ in range(WINDOWS):
            length = max(1000, int(duration ** rng.uniform(0.35, 1)))
            request = lanes_request(rng.randrange(max(1, duration - length)), length)
            for times in (first, again):
                start = time.monotonic()
                body = ask(request)
                times.append((time.monotonic() - start) * 1000)
            sizes.append(len(body))
        print_row([trace.split("/")[-1], f"{usable:.1f} s", f"{read:.1f} s", f"{cpu:.1f} s",
                   f"{peak_megabytes(server):.0f} MB",
                   f"{percentile(first, 0.5):.0f} / {percentile(first, 0.95):.0f} ms",
                   f"{percentile(again, 0.5):.0f} / {percentile(again, 0.95):.0f} ms",
                   f"{max(sizes) / 1024:.0f} KB"])


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(url, process):
    while process.poll() is None:
        try:
            return get(url)
        except OSError:
            time.sleep(0.05)
    sys.exit("go tool trace has ended")


def print_first(name, tool, begin, page, size, process):
    print_row([name, tool, f"{page - begin:.1f} s", f"{time.monotonic() - begin:.1f} s",
               f"{cpu_seconds(process):.1f} s", f"{peak_megabytes(process):.0f} MB", f"{size / 1e6:.1f} MB"])


def measure_first(program, trace):
    begin = time.monotonic()
    with serving(program, trace) as (server, ask):
        ask("")
        page = time.monotonic()
        lanes = ask(lanes_request(0, read_all(ask)["duration"]))
        print_first(trace.split("/")[-1], "gotrace", begin, page, len(lanes), server)


def measure_go(tool, trace):
    address = f"127.0.0.1:{free_port()}"
    begin = time.monotonic()
    with running([tool, f"-http={address}", trace]) as server:
        text = wait_for(f"http://{address}/", server).decode()
        page = time.monotonic()
        view = re.search(r'href="/(trace\?[^"]*view=proc[^"]*)"', text).group(1).replace("&amp;", "&")
        size = len(get(f"http://{address}/json{view}"))
        print_first(trace.split("/")[-1], "Go", begin, page, size, server)


def main():
    arguments = sys.argv[1:]
    tool = None
    if arguments and arguments[0].startswith("--go="):
        tool = arguments.pop(0)[len("--go="):]
    if len(arguments) < 2:
        sys.exit(__doc__)
    program, traces = arguments[0], arguments[1:]
    print("| trace | answers after | read after | CPU until then | memory | window, p50 / p95 | again | largest answer |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for trace in traces:
        measure(program, trace)
    if tool is None:
        return
    print("\n| trace | | page after | first timeline after | CPU until then | memory | sent for it |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for trace in traces:
        measure_first(program, trace)
        measure_go(tool, trace)


if __name__ == "__main__":
    main()
