#!/usr/bin/env python3
"""The differential fuzzer: random queries on two databases that differ in one row. run.sh starts it on a cluster of its own.

usage: ask.py QUERIES SEED WORKERS MOST_DIFFERENCES
Stops after MOST_DIFFERENCES. Beside the workers, groupings.py asks in which way rows are grouped. The last line is "N passed, N failed": queries without and with
a difference in anything but noise."""

from __future__ import annotations

import multiprocessing
import sys
import time
from multiprocessing.synchronize import Event
from queue import Empty
from typing import List

from groupings import check_groupings
from report import Report
from session import Session


def work(number: int, queries: int, seed: int, most: int, stop: Event, results: "multiprocessing.Queue[Report]") -> None:
    session = Session(number, seed * 1000 + number, stop)
    session.run(queries, most)
    results.put(session.report)


def main(queries: int, seed: int, workers: int, most: int) -> int:
    begin = time.monotonic()
    print(f"{queries} queries, seed {seed}, {workers} workers", flush=True)
    results: "multiprocessing.Queue[Report]" = multiprocessing.Queue()
    stop = multiprocessing.Event()
    processes = [multiprocessing.Process(target=work, args=(number, queries // workers, seed, most, stop, results))
                 for number in range(workers)]
    processes.append(multiprocessing.Process(target=check_groupings, args=(results,)))
    for process in processes:
        process.start()
    reports: List[Report] = []
    while len(reports) < len(processes) and any(process.is_alive() for process in processes) or not results.empty():
        try:
            reports.append(results.get(timeout=1))
        except Empty:
            pass
    for process in processes:
        process.join()
    report = Report.sum_of(reports)
    report.failed += len(processes) - len(reports)
    if stop.is_set():
        print(f"Stopped after {report.asked['all']} queries")
    report.print_summary(time.monotonic() - begin)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
