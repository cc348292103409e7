#!/usr/bin/env python3
"""Measures `gotrace-dump serve`: how soon it answers, how long it reads, its memory, and how long windows take.

usage: serve.py GOTRACE_DUMP TRACE...

Prints a row of the table in README.md for each trace. A window is the lanes of all Ps in about a thousand columns,
anywhere, from the whole trace to a microsecond; it is asked for twice. Windows are the same in each run.
"""

import json
import os
import random
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


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    print("| trace | answers after | read after | CPU until then | memory | window, p50 / p95 | again | largest answer |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for trace in sys.argv[2:]:
        measure(sys.argv[1], trace)


if __name__ == "__main__":
    main()
