"""The command line, `ferrite-nb lab`, `report`, `check`, `gate`: it reads arguments; others do the work."""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from .outcomes import Outcomes

DECLARATIONS = """\
columns of a plain table:
  --column attack_success=jailbroken          the column `jailbroken` holds the attack's success
  --column case_id=task --column case_id=run  two columns together name the case
  --const kind=attack                         every row is an attack
  --words 'kind=type; attack=inj,xss; benign=user'   the file's own words
"""
DESCRIPTIONS = {
    "lab": "Open JupyterLab at the start notebook, with your results file if you name one.",
    "report": "Write one self-contained report.html, its tables (CSV, LaTeX) and its figures (PDF, SVG).",
    "check": "Say what a results file supports, and what it does not, with the reason.",
    "gate": "Decide requirements: exit code 0 all pass, 1 some fail, 3 some cannot be told, 2 wrong use.",
}
EXAMPLES = {
    "lab": "ferrite-nb lab target/eval-report",
    "report": "ferrite-nb report eval_report.csv -o report --by tier,scope --cluster template",
    "check": "ferrite-nb check results.csv --column attack_success=jailbroken --column mode=defence",
    "gate": "ferrite-nb gate eval_report.csv requirements.toml --json",
}


def parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of the command line, and that of each command."""
    from . import __version__

    top = argparse.ArgumentParser(
        prog="ferrite-nb",
        description="Honest numbers from the raw outcomes of AI-security evaluations.",
        epilog=f"example:\n  {EXAMPLES['check']}\n\n`ferrite-nb COMMAND --help` says more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"ferrite_nb {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _lab(_command(commands, "lab", run_lab))
    _report(_command(commands, "report", run_report))
    _results(_command(commands, "check", run_check))
    _gate(_command(commands, "gate", run_gate))
    return top, commands.choices


def _command(commands: Any, name: str, run: Any) -> argparse.ArgumentParser:
    reads = "" if name == "lab" else f"\n{DECLARATIONS}"
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=DESCRIPTIONS[name],
        description=DESCRIPTIONS[name],
        epilog=f"example:\n  {EXAMPLES[name]}\n{reads}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.set_defaults(run=run)
    return made


def _lab(command: argparse.ArgumentParser) -> None:
    command.add_argument("results", nargs="?", type=Path, metavar="RESULTS", help="your file or folder")
    command.add_argument("--folder", type=Path, help="work on a copy of the notebooks in this folder")
    command.add_argument("--port", type=int, default=8888, help="the first port to try (default: 8888)")
    command.add_argument("--no-browser", action="store_true", help="only print the address")


def _results(command: argparse.ArgumentParser) -> None:
    command.add_argument("results", nargs="*", metavar="RESULTS", help="one or more files or folders")
    command.add_argument("--column", action="append", default=[], type=_pair, metavar="NAME=COLUMN",
                         help="which column of the file is NAME (repeatable)")  # fmt: skip
    command.add_argument("--const", action="append", default=[], type=_pair, metavar="NAME=VALUE",
                         help="NAME has this value in every row (repeatable)")  # fmt: skip
    command.add_argument("--words", action="append", default=[], type=_words,
                         metavar="'NAME=COLUMN; VALUE=WORD,…'",
                         help="the words that COLUMN uses (repeatable)")  # fmt: skip
    command.add_argument("--name", action="append", default=[], type=_pair, metavar="MODE=FILE",
                         help="FILE holds the results of MODE (repeatable, instead of RESULTS)")  # fmt: skip
    command.add_argument("--keep", choices=["last", "first"], help="which of two rows with one key to keep")
    command.add_argument("--pool-versions", action="store_true", help="accept a mix of suite versions")


def _report(command: argparse.ArgumentParser) -> None:
    _results(command)
    command.add_argument("-o", "--output", type=Path, default=Path("report"), metavar="DIR",
                         help="folder of the report (default: report)")  # fmt: skip
    command.add_argument("--by", type=_list, default=[], metavar="A,B", help="strata of the rates")
    command.add_argument("--cluster", type=_list, default=[], metavar="A[,B]",
                         help="the column whose cases are alike; two columns cross")  # fmt: skip
    command.add_argument(
        "--judge", type=Path, metavar="LABELS.csv", help="human labels, to correct the judge"
    )
    command.add_argument("--level", type=_level, default=0.95, help="confidence (default: 0.95)")


def _gate(command: argparse.ArgumentParser) -> None:
    _results(command)
    command.add_argument("requirements", type=Path, metavar="REQUIREMENTS.toml", help="the requirements")
    command.add_argument("--json", action="store_true", help="print the verdicts as JSON")


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name.strip() and sign and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name.strip(), value


def _words(text: str) -> tuple[str, str, dict[str, list[str]]]:
    first, *rest = text.split(";")
    name, column = _pair(first)
    return name, column.strip(), {value: _list(listed) for value, listed in map(_pair, rest)}


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _level(text: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = 0.0
    if not 0.5 <= level < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a confidence level such as 0.95")
    return level


def declarations(args: argparse.Namespace) -> dict[str, Any]:
    """The declarations of `fnb.read` that the command line carries."""
    from . import const, words

    declared: dict[str, Any] = {}
    for name, column in args.column:
        same = [other for again, other in args.column if again == name]
        declared[name] = column if len(same) == 1 else same
    for name, value in args.const:
        declared[name] = const(value)
    for name, column, spelled in args.words:
        declared[name] = words(column, **spelled)
    return declared


def read_results(args: argparse.Namespace) -> Outcomes:
    """The outcomes that the command line names, with their keys checked in full."""
    from . import read

    if bool(args.results) == bool(args.name):
        raise ValueError("name the results: one or more files or folders, or --name MODE=FILE for each mode")
    paths: Any = dict(args.name) or (args.results[0] if len(args.results) == 1 else args.results)
    runs = read(paths, check="full", keep=args.keep, **declarations(args))
    return runs.pool_versions() if args.pool_versions else runs


def run_lab(args: argparse.Namespace) -> int:
    """`ferrite-nb lab`: JupyterLab until Ctrl-C."""
    from .launch import launch

    launch(args.results, target=args.folder, port=args.port, browser=not args.no_browser)
    return 0


def run_report(args: argparse.Namespace) -> int:
    """`ferrite-nb report`: the report and where it is."""
    from .report import write

    written = write(
        read_results(args),
        args.output,
        by=args.by,
        cluster=_one(args.cluster),
        judge=args.judge,
        level=args.level,
    )
    print(f"report  {written}")
    return 0


def run_check(args: argparse.Namespace) -> int:
    """`ferrite-nb check`: what was read, what it supports, what to look out for, what to do next."""
    from . import __version__, limits

    runs = read_results(args)
    print(runs)
    found = limits(runs)
    for row in found[found["severity"] == "severe"].itertuples():
        print(f"look out       {row.limit}: {row.evidence}; {row.consequence}")
    named = " ".join(args.results) or " ".join(f"--name {mode}={file}" for mode, file in args.name)
    print(f"next           ferrite-nb report {named}")
    print(f"with           ferrite_nb {__version__}, Python {sys.version.split()[0]} at {sys.executable}")
    return 0


def run_gate(args: argparse.Namespace) -> int:
    """`ferrite-nb gate`: one verdict per requirement; the exit code sums them up."""
    from . import gate

    table = gate(read_results(args), requirements(args.requirements))
    print(table.to_json(orient="records", indent=2, force_ascii=False) if args.json else gate_text(table))
    verdicts = set(table["verdict"])
    return 1 if "fail" in verdicts else 3 if "cannot tell" in verdicts else 0


def requirements(path: Path) -> list[dict[str, Any]]:
    """The `[[requirement]]` tables of a TOML file."""
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8")).get("requirement")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise ValueError(f"{path}: cannot be read as TOML: {problem}") from problem
    if not isinstance(listed, list) or not listed:
        raise ValueError(f"{path}: holds no [[requirement]]; each needs a metric and at_most or at_least")
    return listed


def gate_text(table: pd.DataFrame) -> str:
    """The verdicts as lines: verdict, requirement, the estimate, and the note where there is one."""
    from .show.text import estimate_text

    lines = []
    for _, row in table.iterrows():
        note = f"  ({row['note']})" if row["note"] else ""
        lines.append(f"{row['verdict']:<12} {row['requirement']}: {estimate_text(row)}{note}")
    return "\n".join(lines)


def _one(names: list[str]) -> str | list[str] | None:
    return None if not names else names[0] if len(names) == 1 else names


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    top, commands = parsers()
    if given and given[0] in commands:
        # Options may stand between files: `gate a.csv --keep last requirements.toml`.
        args = commands[given[0]].parse_intermixed_args(given[1:])
    else:
        args = top.parse_args(given)
    try:
        return int(args.run(args))
    except (ValueError, OSError) as problem:
        print(f"ferrite-nb: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
