#!/usr/bin/env python3
"""Measures `gotrace-dump serve`: how soon it answers, how long it reads, its memory, and how long windows take.

usage: serve.py [--go=GO_TRACE_TOOL] GOTRACE_DUMP TRACE...

Prints a row of the table in README.md for each trace. A window is the lanes of all Ps in about a thousand columns,
anywhere, from the whole trace to a microsecond; it is asked for twice. Windows are the same in each run.

With --go, the program that `go tool trace` runs, a second table has its page, and the JSON that its first timeline
needs, beside the page and the first lanes of gotrace-dump.
"""

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


def measure(program, trace):
    begin = time.monotonic()
    server = subprocess.Popen([program, "serve", "--no-open", trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        url = server.stdout.readline().decode().strip()
        base, token = url.split("/?token=")

        def ask(request):
            start = time.monotonic()
            with urllib.request.urlopen(f"{base}/api/{request}{'&' if '?' in request else '?'}token={token}") as answer:
                body = answer.read()
            return body, time.monotonic() - start

        facts = json.loads(ask("trace")[0])
        usable = time.monotonic() - begin
        while not facts["complete"]:
            time.sleep(0.1)
            facts = json.loads(ask("trace")[0])
        read, cpu = time.monotonic() - begin, cpu_seconds(server)
        duration = facts["duration"]
        rng = random.Random(44)
        first, again, sizes = [], [], []
        for _ in range(WINDOWS):
            length = max(1000, int(duration ** rng.uniform(0.35, 1)))
            at = rng.randrange(max(1, duration - length))
            step = 1
            while step * 2048 <= length:
                step *= 2
            request = f"lanes?ids=p:*&from={at}&to={at + length}&step={step}"
            for times in (first, again):
                body, seconds = ask(request)
                times.append(seconds * 1000)
            sizes.append(len(body))
        row = [trace.split("/")[-1], f"{usable:.1f} s", f"{read:.1f} s", f"{cpu:.1f} s",
               f"{peak_megabytes(server):.0f} MB",
               f"{percentile(first, 0.5):.0f} / {percentile(first, 0.95):.0f} ms",
               f"{percentile(again, 0.5):.0f} / {percentile(again, 0.95):.0f} ms",
               f"{max(sizes) / 1024:.0f} KB"]
        print("| " + " | ".join(row) + " |", flush=True)
    finally:
        server.terminate()
        server.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read()


def wait_for(url, process):
    while process.poll() is None:
        try:
            return get(url)
        except OSError:
            time.sleep(0.05)
    sys.exit("go tool trace has ended")


def print_first(name, tool, begin, page, view, size, process):
    row = [name, tool, f"{page - begin:.1f} s", f"{view - begin:.1f} s", f"{cpu_seconds(process):.1f} s",
           f"{peak_megabytes(process):.0f} MB", f"{size / 1e6:.1f} MB"]
    print("| " + " | ".join(row) + " |", flush=True)


def measure_first(program, trace):
    begin = time.monotonic()
    server = subprocess.Popen([program, "serve", "--no-open", trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        base, token = server.stdout.readline().decode().strip().split("/?token=")
        get(f"{base}/?token={token}")
        page = time.monotonic()
        facts = {"complete": False}
        while not facts["complete"]:
            facts = json.loads(get(f"{base}/api/trace?token={token}"))
            time.sleep(0.05)
        step = 1
        while step * 2048 <= facts["duration"]:
            step *= 2
        lanes = get(f"{base}/api/lanes?ids=p:*&from=0&to={facts['duration']}&step={step}&token={token}")
        print_first(trace.split("/")[-1], "gotrace", begin, page, time.monotonic(), len(lanes), server)
    finally:
        server.terminate()
        server.wait()


def measure_go(tool, trace):
    base = f"http://127.0.0.1:{free_port()}"
    begin = time.monotonic()
    server = subprocess.Popen([tool, f"-http={base[len('http://'):]}", trace],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        text = wait_for(f"{base}/", server).decode()
        page = time.monotonic()
        view = re.search(r'href="/(trace\?[^"]*view=proc[^"]*)"', text).group(1).replace("&amp;", "&")
        size = len(get(f"{base}/json{view}"))
        print_first(trace.split("/")[-1], "Go", begin, page, time.monotonic(), size, server)
    finally:
        server.terminate()
        server.wait()


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
