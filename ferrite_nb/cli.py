"""The command line `ferrite-nb lab`, `report`, `check`, `gate`: each command calls one function and prints."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .arguments import declarations, hint, parsers

if TYPE_CHECKING:
    from .outcomes import Outcomes


def read_results(args: argparse.Namespace) -> Outcomes:
    """The outcomes that the command line names, with their keys checked in full."""
    from . import read

    if bool(args.results) == bool(args.name):
        raise ValueError("name the results: one or more files or folders, or --name MODE=FILE for each mode")
    paths: Any = dict(args.name) or (args.results[0] if len(args.results) == 1 else args.results)
    runs = read(paths, check="full", keep=args.keep, **declarations(args))
    return runs.pool_versions() if args.pool_versions else runs


def read_releases(args: argparse.Namespace) -> dict[str, Outcomes]:
    """Each named file as a release of its own, in the order given."""
    from . import read

    if args.results or not args.name:
        raise ValueError("a report on releases needs --name RELEASE=FILE for each release, and no other results")
    options = {"check": "full", "keep": args.keep, **declarations(args)}
    return {release: read(file, **options) for release, file in args.name}


def run_lab(args: argparse.Namespace) -> int:
    """`ferrite-nb lab`: JupyterLab until Ctrl-C."""
    from .launch import launch

    launch(args.results, target=args.folder, port=args.port, browser=not args.no_browser)
    return 0


def run_report(args: argparse.Namespace) -> int:
    """`ferrite-nb report`: the report and where it is."""
    from .analysis.labels import table_of
    from .report import write, write_periodic

    if args.requirements is not None:
        print(f"report  {write_periodic(read_releases(args), args.requirements, args.output)}")
        return 0
    written = write(
        read_results(args),
        args.output,
        by=args.by,
        cluster=_one(args.cluster),
        judge=None if args.judge is None else table_of(args.judge),
        level=args.level,
        made_from=args.results or [file for _, file in args.name],
        command=f"ferrite-nb report {shlex.join(args.given)}",
    )
    print(f"report  {written}")
    return 0


def run_check(args: argparse.Namespace) -> int:
    """`ferrite-nb check`: what was read, what it supports, what to look out for, what to do next."""
    runs = read_results(args)
    print(runs)

    from . import __version__, limits

    found = limits(runs)
    severe = found[found["severity"] == "severe"]
    for row in severe.itertuples():
        print(_line("look out", f"{row.limit}: {row.evidence}; {row.consequence}"))
    cluster = re.search(r"cluster='([^']+)'", " ".join(severe["consequence"]))
    named = f" --cluster {shlex.quote(cluster.group(1))}" if cluster else ""
    print(_line("next", f"ferrite-nb report {shlex.join(args.given)}{named}"))
    print(_line("with", f"ferrite_nb {__version__}, Python {sys.version.split()[0]} at {sys.executable}"))
    return 0


def _line(name: str, text: str) -> str:
    """One line under those of `print(runs)`, folded where a person reads it and whole where a program does."""
    line = f"{name:<16}{text}"
    if not sys.stdout.isatty():
        return line
    return textwrap.fill(line, shutil.get_terminal_size().columns, subsequent_indent=" " * 16)


def run_gate(args: argparse.Namespace) -> int:
    """`ferrite-nb gate`: one verdict per requirement; the exit code sums them up."""
    from .analysis.gate import gate, verdict_lines

    table = gate(read_results(args), args.requirements)
    lines = [table.to_json(orient="records", indent=2, force_ascii=False)] if args.json else verdict_lines(table)
    print(*lines, sep="\n")
    verdicts = set(table["verdict"])
    return 1 if "fail" in verdicts else 3 if "cannot tell" in verdicts else 0


def _one(names: list[str]) -> str | list[str] | None:
    return None if not names else names[0] if len(names) == 1 else names


COMMANDS = {"lab": run_lab, "report": run_report, "check": run_check, "gate": run_gate}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    top, commands = parsers(COMMANDS)
    if given and given[0] in commands:
        # Options may stand between files: `gate a.csv --keep last requirements.toml`.
        args = commands[given[0]].parse_intermixed_args(given[1:])
    else:
        args = top.parse_args(given)
    args.given = given[1:]
    try:
        return int(args.run(args))
    except (ValueError, TypeError, OSError) as problem:
        print(f"ferrite-nb: {problem}", file=sys.stderr)
        print(*hint(str(problem), given), sep="\n", end="", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
