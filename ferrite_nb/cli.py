"""The command line `ferrite-nb lab`, `report`, `check`, `gate`: each command calls one function and
prints.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import declarations, files, hint, once, parsers
from .escape import plain

if TYPE_CHECKING:
    from .outcomes.table import Outcomes


def read_results(args: argparse.Namespace) -> Outcomes:
    """The outcomes that the command line names, with their keys checked in full."""
    from . import read

    if bool(args.results) == bool(args.name):
        raise ValueError(
            "name the results: one or more files or folders, or --name MODE=FILE for each mode"
        )
    if "" in args.results:
        raise ValueError(
            "one of the results has an empty name; name a file or a folder (. is this one)"
        )
    paths: Any = once(args.name, "is named") or (
        args.results[0] if len(args.results) == 1 else args.results
    )
    options = declarations(args)
    options |= {"baseline": args.baseline} if args.baseline else {}
    runs = read(paths, check="full", keep=args.keep, **options)
    return runs.pool_versions() if args.pool_versions else runs


def read_releases(args: argparse.Namespace) -> dict[str, Outcomes]:
    """Each named file as a release of its own, in the order given."""
    from . import read

    if args.results or not args.name:
        raise ValueError(
            "a report on releases needs --name RELEASE=FILE for each release, and no other results"
        )
    unused = [f"--{name}" for name in ("by", "cluster", "judge", "level") if getattr(args, name)]
    if unused:
        raise ValueError(
            f"a report on releases follows its requirements and takes no {', '.join(unused)}"
        )
    options = {"check": "full", "keep": args.keep, **declarations(args)}
    return {release: read(file, **options) for release, file in once(args.name, "is named").items()}


def run_lab(args: argparse.Namespace) -> int:
    """`ferrite-nb lab`: JupyterLab until Ctrl-C; results that are named are read once before it
    starts.
    """
    from .launch import launch

    named = bool(args.results or args.name)
    if named:
        read_results(args)
    first = [*args.results, *(file for _, file in args.name)][:1]
    launch(
        Path(first[0]) if first else None,
        args.given if named else (),
        target=args.folder,
        port=args.port,
        browser=not args.no_browser,
        solutions=args.solutions,
    )
    return 0


def run_report(args: argparse.Namespace) -> int:
    """`ferrite-nb report`: the report and where it is."""
    from .analysis.labels import table_of
    from .report import write, write_periodic

    if args.requirements is not None:
        made_from = [file for _, file in args.name]
        written = write_periodic(
            read_releases(args), args.requirements, args.output, made_from=made_from
        )
        tell(f"report  {written}")
        return 0
    made_from = args.results or [file for _, file in args.name]
    before = _stamps(made_from)
    written = write(
        read_results(args),
        args.output,
        by=args.by,
        cluster=_one(args.cluster),
        judge=None if args.judge is None else table_of(args.judge),
        level=args.level or 0.95,
        made_from=made_from,
        command=f"ferrite-nb report {shlex.join(args.given)}",
    )
    changed = [file for file, stamp in _stamps(made_from).items() if stamp != before.get(file)]
    if changed:
        raise ValueError(f"{changed[0]} was changed while it was read; make the report again")
    tell(f"report  {written}")
    return 0


def _stamps(made_from: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Size and time of change of each file: the hashes in a report are those of the files that were
    read.
    """
    found = {name: os.stat(name) for name in made_from if os.path.isfile(name)}
    return {name: (state.st_size, state.st_mtime_ns) for name, state in found.items()}


def run_check(args: argparse.Namespace) -> int:
    """`ferrite-nb check`: what was read, what it supports, what to look out for, what to do
    next.
    """
    from . import __version__, limits

    runs = read_results(args)
    found = limits(runs)
    severe = found[found["severity"] == "severe"]
    warnings = [
        ("look out", f"{row.limit}: {row.evidence}; {row.consequence}")
        for row in severe.itertuples()
    ]
    columns = runs.cluster or next((names for names in severe["columns"] if names), ())
    named = ["--cluster", ",".join(columns)] if columns else []
    python = f"Python {sys.version.split()[0]} at {sys.executable}"
    lines = [
        *shortened(runs.describe(), MOST_SAID, "fnb.read(…).describe() has all"),
        *shortened(warnings, MOST_SEVERE, "fnb.limits(runs) has all"),
        ("cases", cases_call(runs)),
        ("next", f"ferrite-nb report {shlex.join([*args.given, *named])}"),
        ("with", f"ferrite_nb {__version__}, {python}"),
    ]
    tell(*(_line(name, text) for name, text in lines if text))
    return 0


def shortened(lines: Sequence[tuple[str, str]], most: int, rest: str) -> list[tuple[str, str]]:
    """At most so many lines; the last one then says how many more there are, and where."""
    left = len(lines) - most + 1
    return list(lines) if left <= 1 else [*lines[: most - 1], ("", f"{left} more: {rest}")]


def cases_call(runs: Outcomes) -> str:
    """The call that lists the cases behind the numbers; empty where there are no cases or events.

    With several modes it is the pair of the baseline and the last other mode: the cases that got
    worse there.
    """
    events = [metric for metric in runs.supports if metric.counted == "rows"]
    if "case_id" not in runs.columns or not events:
        return ""
    others = [mode for mode in runs.modes if mode != runs.base[0]]
    worse = "c" if events[0].better == "lower" else "b"
    pair = f"pair={(runs.base[0], others[-1])!r}, only={worse!r}" if others else "only='event'"
    return f"fnb.cases(runs, {events[0].symbol!r}, {pair})"


def _line(name: str, text: str) -> str:
    """One line of what was found, folded where a person reads it and whole where a program does."""
    line = f"{name:<16}{plain(text, None)}"
    if sys.stdout is None or not sys.stdout.isatty():
        return line
    return textwrap.fill(line, shutil.get_terminal_size().columns, subsequent_indent=" " * 16)


def run_gate(args: argparse.Namespace) -> int:
    """`ferrite-nb gate`: one verdict per requirement; the exit code sums them up."""
    from .analysis.gate import gate, junit, markdown_summary, verdict_lines

    if not args.results and not args.name:
        raise ValueError(
            "gate needs results and the file of the requirements: ferrite-nb gate RESULTS FILE.toml"
        )
    table = gate(read_results(args), args.requirements)
    if args.json:
        tell(table.to_json(orient="records", indent=2, force_ascii=False))
    else:
        tell(*(plain(line, None) for line in verdict_lines(table)))
    if args.markdown is not None:
        args.markdown.write_text(markdown_summary(table), "utf-8")
    if args.junit is not None:
        args.junit.write_text(junit(table), "utf-8")
    verdicts = set(table["verdict"])
    return 1 if "fail" in verdicts else 3 if "cannot tell" in verdicts else 0


def tell(*lines: str) -> None:
    """Print lines. Where the reader has gone (`| head -1`), the rest goes nowhere and the exit code
    stays.
    """
    try:
        print(*lines, sep="\n", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _said(problem: BaseException) -> str:
    """A failure as one sentence, harmless in a terminal."""
    text = str(problem)
    if isinstance(problem, OSError) and problem.strerror:
        text = f"{problem.strerror}: {problem.filename}" if problem.filename else problem.strerror
    if isinstance(problem, MemoryError):
        text = "the memory does not suffice; read fewer files at once"
    return plain(" ".join(text.split("\n")), None) or type(problem).__name__


def _one(names: list[str]) -> str | list[str] | None:
    return None if not names else names[0] if len(names) == 1 else names


MOST_SAID, MOST_SEVERE = 11, 6  # lines of `check`: with the last three at most 20
COMMANDS = {"lab": run_lab, "report": run_report, "check": run_check, "gate": run_gate}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a terminal that cannot show a letter shows its number
    top, commands = parsers(COMMANDS)
    if given and given[0] in commands:
        # Options may stand between files: `gate a.csv --keep last requirements.toml`.
        args = commands[given[0]].parse_intermixed_args(files(given[1:]))
    else:
        args = top.parse_args(given)
    args.given = given[1:]
    try:
        return int(args.run(args))
    except (ValueError, TypeError, OSError, RuntimeError, MemoryError) as problem:
        print(f"ferrite-nb: {_said(problem)}", file=sys.stderr)
        print(*hint(problem, given), sep="\n", end="", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
