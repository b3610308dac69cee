"""Measure this project beside what people would use instead: `make bench`, or `python -m
tests.benchmarks`.

Everything is measured in one run, the sides in turn, and written as ratios to docs/benchmarks.md.
With --quick the sizes are tiny: that shows that the benchmark runs, and its table is printed only.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path

from . import files, imports, peers, scale
from .measure import ROOT, Row, markdown

PAGE = ROOT / "docs" / "benchmarks.md"
GOALS = ("measured", "ours", "beside it", "result", "goal", "held")
PARTS = ("imports", "published", "peers", "scale", "files")


def main() -> None:
    asked = arguments()
    if asked.install:
        peers.install()
        return
    rows: list[Row] = []
    beside: list[list[str]] = []
    growth: list[list[str]] = []
    rounds = 1 if asked.quick else 3
    steps: dict[str, Callable[[], None]] = {
        "imports": lambda: rows.extend(imports.imports(3 if asked.quick else 15)),
        "published": lambda: rows.extend(scale.published(rounds)),
        "peers": lambda: measure_peers(rows, beside, asked.quick, rounds),
        "scale": lambda: measure_scale(rows, growth, asked, rounds),
        "files": lambda: rows.extend(files.files(asked.quick, rounds)),
    }
    for name, step in steps.items():
        if not asked.only or name in asked.only:
            started = time.perf_counter()
            step()
            print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)
    text = page(rows, beside, growth)
    print(text)
    if not asked.quick and not asked.only:
        PAGE.write_text(text, encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "--install", action="store_true", help="make an environment for each peer, and stop"
    )
    parser.add_argument("--quick", action="store_true", help="tiny sizes; print, write nothing")
    parser.add_argument(
        "--full", action="store_true", help="also 10^8 rows (about 2 GB of disk for a while)"
    )
    parser.add_argument(
        "--only", action="append", choices=PARTS, help="one part; print, write nothing; repeatable"
    )
    return parser.parse_args()


def measure_peers(rows: list[Row], beside: list[list[str]], quick: bool, rounds: int) -> None:
    """Bootstraps and the judge's correction."""
    sizes = (100, 300) if quick else (1_000, 100_000)
    found = peers.measured(dict.fromkeys(("one", "two", "judge"), sizes), rounds)
    rows += peers.goals(found)
    beside += peers.lines(found)


def measure_scale(
    rows: list[Row], growth: list[list[str]], asked: argparse.Namespace, rounds: int
) -> None:
    """Ten million rows, the way there, and a hundred million."""
    sizes = (10_000, 100_000, 1_000_000) if asked.quick else (100_000, 1_000_000, 10_000_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [(size, scale.write(folder, size)) for size in sizes]
        rows += scale.large(paths[-1][1], sizes[-1], rounds)
        table, fitted = scale.growth(paths, rounds)
        growth += table
        rows += fitted
        if asked.full:
            rows.append(scale.huge(scale.write(folder, 10 * sizes[-1]), 10 * sizes[-1]))


def page(rows: list[Row], beside: list[list[str]], growth: list[list[str]]) -> str:
    """The page of the documentation."""
    parts = [
        "# Benchmarks: how long it takes, beside what people would use instead\n",
        (
            "Written by `make bench`, in one run. Each program runs in a process of its own, the"
            " sides in turn; a time is the median [least, most], on the wall and of the processor"
            " (CPU, all threads). Imports and the making of data are not counted. A goal held “by"
            " CPU time” only was missed on the wall, where other work on the machine counts. Memory"
            " is the peak of the whole process. What DuckDB does itself is compared by the best"
            " times, both warm.\n"
        ),
        machine() + "\n",
        "## Goals\n",
        markdown([astuple(row) for row in rows], GOALS) + "\n",
    ]
    if beside:
        parts += [
            "## Beside other packages\n",
            (
                "From arrays to 95 % bounds, 10,000 resamples, CPU time after a warm call. “Times"
                " ours” is their median by ours on the same task; memory is what the call added."
                " Ours are binomial and multinomial draws (or their quantiles) in place of"
                " resampled rows, so the bounds agree to the noise of resampling (evalsig takes the"
                " difference the other way round). For the judge the methods differ: ours and"
                " truescore correct by sensitivity and specificity, evalstats by prediction-powered"
                " inference, garak takes both as known; see [Coverage](coverage.md) for how often"
                " each holds the truth.\n"
            ),
            markdown(beside, ("task", "program", "CPU time", "times ours", "MB added", "bounds"))
            + "\n",
        ]
    if growth:
        said = (
            "Below a million rows a Parquet file is read into memory and checked in full; above, it"
            " stays on DuckDB.\n"
        )
        parts += ["## Growth\n", said, markdown(growth, ("what", "rows", "time", "peak MB")) + "\n"]
    return "\n".join(parts)


def machine() -> str:
    """Machine, versions and date."""
    names = ("ferrite-nb", "duckdb", "narwhals", "numpy", "pandas", "scipy", "orjson")
    said = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    busy = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return (
        f"{datetime.date.today():%d %B %Y}; {processor()}, {os.cpu_count()} cores, {memory:.0f} GB,"
        f" {platform.system()} ({platform.machine()}), load at the end {busy}; Python"
        f" {platform.python_version()}, {said}."
    )


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "a processor"
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        "a processor",
    )


if __name__ == "__main__":
    main()
