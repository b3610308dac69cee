"""What the command line accepts: its commands and options, the declarations of columns, the line to
type next.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Run = Callable[[argparse.Namespace], int]

DECLARATIONS = """\
columns of a plain table:
  --column attack_success=jailbroken          the column `jailbroken` holds the attack's success
  --column case_id=task --column case_id=run  two columns together name the case
  --const kind=attack                         every row is an attack
  --words 'kind=type; attack=inj,xss; benign=user'   the file's own words
"""
DESCRIPTIONS = {
    "lab": "Open JupyterLab at the start notebook, with your results file if you name one.",
    "report": (
        "Write one self-contained report.html, its tables (CSV, LaTeX) and its figures (PDF, SVG)."
    ),
    "check": "Say what a results file supports, and what it does not, with the reason.",
    "gate": (
        "Decide requirements: exit code 0 all pass, 1 some fail, 3 some cannot be told, 2 wrong"
        " use."
    ),
}
EXAMPLES = {
    "lab": "ferrite-nb lab target/eval-report",
    "report": "ferrite-nb report eval_report.csv -o report --by tier,scope --cluster template",
    "check": (
        "ferrite-nb check results.csv --column attack_success=jailbroken --column mode=defence"
    ),
    "gate": "ferrite-nb gate eval_report.csv requirements.toml --json",
}

# Arguments of the functions that read, which the command line gives itself.
RESERVED = frozenset({"path", "frame", "check", "keep", "read_from", "notes"})

# What an error needs (its field `fix`), and the option that gives it here.
FIXES = {
    "keep": "--keep last",
    "repeat": "--column repeat=COLUMN",
    "cluster": "--cluster COLUMN",
    "baseline": "--baseline MODE",
    "versions": "--pool-versions",
}


def parsers(
    run: Mapping[str, Run],
) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of the command line, and that of each command; `run` says what each command
    does.
    """
    from . import __version__

    top = argparse.ArgumentParser(
        prog="ferrite-nb",
        description="Honest numbers from the raw outcomes of AI-security evaluations.",
        epilog=f"example:\n  {EXAMPLES['check']}\n\n`ferrite-nb COMMAND --help` says more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"ferrite_nb {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _lab(_command(commands, "lab", run["lab"]))
    _report(_command(commands, "report", run["report"]))
    _results(_command(commands, "check", run["check"]))
    _gate(_command(commands, "gate", run["gate"]))
    return top, commands.choices


def _command(commands: Any, name: str, run: Run) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=DESCRIPTIONS[name],
        description=DESCRIPTIONS[name],
        epilog=f"example:\n  {EXAMPLES[name]}\n\n{DECLARATIONS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.set_defaults(run=run)
    return made


def _lab(command: argparse.ArgumentParser) -> None:
    _results(command)
    command.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="where your copy of the notebooks is (default: ferrite_notebooks)",
    )
    command.add_argument(
        "--solutions", action="store_true", help="copy the solved notebooks of the teacher too"
    )
    command.add_argument(
        "--port", type=_port, default=8888, help="the first port to try (default: 8888)"
    )
    command.add_argument("--no-browser", action="store_true", help="only print the address")


def _results(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "results", nargs="*", metavar="RESULTS", help="one or more files or folders"
    )
    command.add_argument(
        "--column",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=COLUMN",
        help="which column of the file is NAME (repeatable)",
    )
    command.add_argument(
        "--const",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=VALUE",
        help="NAME has this value in every row (repeatable)",
    )
    command.add_argument(
        "--words",
        action="append",
        default=[],
        type=_words,
        metavar="'NAME=COLUMN; VALUE=WORD,…'",
        help="the words that COLUMN uses (repeatable)",
    )
    command.add_argument(
        "--name",
        action="append",
        default=[],
        type=_pair,
        metavar="MODE=FILE",
        help="FILE holds the results of MODE (repeatable, instead of RESULTS)",
    )
    command.add_argument(
        "--option",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=VALUE",
        help="an option of the file's format, such as threshold=0.7 (repeatable)",
    )
    command.add_argument(
        "--keep", choices=["last", "first", "known"], help="which of two rows with one key to keep"
    )
    command.add_argument("--baseline", metavar="MODE", help="the mode without defence")
    command.add_argument(
        "--pool-versions", action="store_true", help="accept a mix of suite versions"
    )


def _report(command: argparse.ArgumentParser) -> None:
    _results(command)
    command.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("report"),
        metavar="DIR",
        help="folder of the report (default: report)",
    )
    command.add_argument(
        "--requirements",
        type=Path,
        metavar="FILE.toml",
        help="report on releases instead: --name RELEASE=FILE for each, in order of time",
    )
    command.add_argument("--by", type=_list, default=[], metavar="A,B", help="strata of the rates")
    command.add_argument(
        "--cluster",
        type=_list,
        default=[],
        metavar="A[,B]",
        help="the column whose cases are alike; two columns cross",
    )
    command.add_argument(
        "--judge", type=Path, metavar="LABELS.csv", help="human labels, to correct the judge"
    )
    command.add_argument("--level", type=_level, help="confidence (default: 0.95)")


def _gate(command: argparse.ArgumentParser) -> None:
    _results(command)
    command.add_argument(
        "requirements", type=Path, metavar="REQUIREMENTS.toml", help="the requirements"
    )
    command.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    command.add_argument("--markdown", type=Path, metavar="FILE", help="write a summary page")
    command.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name.strip() and sign and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name.strip(), value


def _words(text: str) -> tuple[str, str, dict[str, list[str]]]:
    first, *rest = text.split(";")
    name, column = _pair(first)
    meaning: dict[str, list[str]] = {}
    for value, listed in map(_pair, rest):
        meaning.setdefault(value, []).extend(_list(listed))
    return name, column.strip(), meaning


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a whole number from 1 to 65535")
    return int(text)


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

    columns: dict[str, list[str]] = {}
    for name, column in args.column:
        columns.setdefault(name, []).append(column)
    told: list[tuple[str, Any]] = [
        (name, found[0] if len(found) == 1 else found) for name, found in columns.items()
    ]
    told += [(name, const(value)) for name, value in args.const]
    told += [(name, words(column, **spelled)) for name, column, spelled in args.words]
    told += [(name, _value(text)) for name, text in args.option]
    reserved = sorted({name for name, _ in told} & RESERVED)
    if reserved:
        raise ValueError(
            f"{reserved[0]} is no column and no option of a format; see ferrite-nb COMMAND --help"
        )
    return once(told, "is declared")


def once(pairs: Sequence[tuple[str, Any]], said: str) -> dict[str, Any]:
    """The pairs as a mapping; a name that stands twice raises, for one of the two would be lost
    without a word.
    """
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(
                f"{name} {said} twice: {_told(found[name])} and {_told(value)}; leave one of"
                " them out"
            )
        found[name] = value
    return found


def _told(value: Any) -> str:
    """A file, a column or a declaration, in words."""
    return str(getattr(value, "value", getattr(value, "column", value)))


def files(given: Sequence[str]) -> list[str]:
    """The arguments, with what follows `--` as paths: argparse takes a name such as -o.csv for an
    option even there.
    """
    if "--" not in given:
        return list(given)
    place = list(given).index("--")
    return [
        *given[:place],
        *(f"./{name}" if name.startswith("-") else name for name in given[place + 1 :]),
    ]


def _value(text: str) -> Any:
    """A number, true or false as such; any other text as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def hint(problem: BaseException, given: Sequence[str]) -> list[str]:
    """The line to type after an error that knows what would mend it; nothing after another one."""
    fix, column = (getattr(problem, name, None) for name in ("fix", "column"))
    if not fix:
        return []
    if fix == "words":
        meanings = "attack=WORD; benign=WORD" if column == "kind" else "true=WORD; false=WORD"
        option = f"--words '{column}=COLUMN; {meanings}'"
    else:
        option = FIXES.get(fix, f"--column {fix}=COLUMN")
    name = option.split()[1].strip("'").partition("=")[0] if "=" in option else ""
    kept = _without(list(given), name)
    return [f"type: ferrite-nb {shlex.join(kept)} {option}", ""]


def _without(given: list[str], name: str) -> list[str]:
    """The arguments without the declaration of `name` that did not fit."""
    places = [at for at, part in enumerate(given) if name and part.startswith(f"{name}=")]
    return [part for at, part in enumerate(given) if at not in places and at + 1 not in places]
