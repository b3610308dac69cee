"""The command line: help with examples, declarations of columns, and exit codes."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest

import ferrite_nb as fnb
from ferrite_nb import cli
from ferrite_nb.arguments import declarations, hint, parsers


@pytest.mark.parametrize("command", list(cli.COMMANDS))
def test_help_has_an_example_that_parses(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([command, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    example = shown.split("example:\n")[1].splitlines()[0].split()
    assert example[:2] == ["ferrite-nb", command]
    parsed = parsers(cli.COMMANDS)[1][command].parse_intermixed_args(example[2:])
    assert parsed.run is cli.COMMANDS[command]


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"ferrite_nb {fnb.__version__}\n"


@pytest.mark.parametrize("wrong", [[], ["shine"], ["report", "--level", "95", "a.csv"], ["gate"]])
def test_wrong_use_ends_with_two(wrong: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(wrong)
    assert ended.value.code == 2


def test_no_results_says_what_to_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check"]) == 2
    assert "name the results" in capsys.readouterr().err


def test_options_may_stand_between_the_files() -> None:
    args = parsers(cli.COMMANDS)[1]["gate"].parse_intermixed_args(["a.csv", "b.csv", "--keep", "last", "rules.toml"])
    assert args.results == ["a.csv", "b.csv"]
    assert args.requirements == Path("rules.toml")
    assert args.keep == "last"


def parse(*given: str) -> argparse.Namespace:
    return parsers(cli.COMMANDS)[1]["check"].parse_intermixed_args(list(given))


def test_declarations_become_those_of_read() -> None:
    declared = declarations(parse(
        "--column", "attack_success=jail=broken", "--column", "case_id=task", "--column", "case_id=run",
        "--const", "kind=attack", "--words", "blocked=gate; true=stop, halt; false=go", "file.csv",
    ))  # fmt: skip
    assert declared == {
        "attack_success": "jail=broken",
        "case_id": ["task", "run"],
        "kind": fnb.const("attack"),
        "blocked": fnb.words("gate", true=["stop", "halt"], false=["go"]),
    }


@pytest.mark.parametrize("option", [("--column", "jailbroken"), ("--const", "=x"), ("--words", "kind; attack=a")])
def test_a_declaration_without_a_value_is_wrong_use(option: tuple[str, str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["check", *option, "file.csv"])
    assert ended.value.code == 2


@pytest.mark.parametrize(
    ("data", "code", "first"),
    [
        ("gate_pass", 0, "pass"),
        ("gate_fail", 1, "fail"),
        ("gate_cannot_tell", 3, "cannot tell"),
        ("gate_refuser", 1, "pass"),
    ],
)
def test_gate_sums_its_verdicts_up_in_the_exit_code(
    data: str, code: int, first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["gate", str(fnb.data(f"{data}.csv")), str(fnb.data("requirements.toml"))]
    assert cli.main(given) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(first)
    assert all(re.search(r"\d/\d", line) for line in lines)
    assert cli.main([*given, "--json"]) == code
    verdicts = json.loads(capsys.readouterr().out)
    assert verdicts[0]["verdict"] == first
    assert {"requirement", "k", "n", "rate", "low", "high", "threshold", "rule", "note"} <= set(verdicts[0])


def test_gate_without_a_requirement_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("")
    assert cli.main(["gate", str(fnb.data("gate_pass.csv")), str(path)]) == 2
    assert "[[requirement]]" in capsys.readouterr().err


def test_report_writes_one_page_that_says_how_to_make_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("human,judge\n" + "true,true\n" * 20 + "false,false\n" * 20 + "true,false\n" * 3 + "false,true\n")
    target = tmp_path / "report"
    given = ["report", str(fnb.data("ferrite_run_a.csv")), "-o", str(target), "--by", "tier", "--judge", str(labels)]
    assert cli.main(given) == 0
    assert capsys.readouterr().out == f"report  {target / 'report.html'}\n"
    page = (target / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"https?://", page)
    assert "ferrite-nb report" in page
    assert "SHA-256 of ferrite_run_a.csv" in page
    assert "observed, corrected" in page


def test_check_says_what_is_supported_what_not_and_what_to_look_out_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", str(fnb.data("ferrite_run_b.csv"))]) == 0
    shown = capsys.readouterr().out
    version = f"ferrite_nb {fnb.__version__}"
    for part in ("3,392 rows", "supports", "not computable", "look out", "--cluster template", version):
        assert part in shown


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ([], "--column case_id=COLUMN"),
        (["--column", "case_id=nope"], "--column case_id=COLUMN"),
        (["--column", "case_id=id"], "--column mode=COLUMN"),
        (
            ["--column", "case_id=id", "--column", "mode=defence", "--column", "attack_success=out"],
            "--words 'attack_success=COLUMN; true=WORD; false=WORD'",
        ),
        (["--column", "case_id=id", "--const", "mode=On"], "--column repeat=COLUMN"),
    ],
)
def test_an_error_about_columns_shows_the_line_to_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: list[str], option: str
) -> None:
    path = tmp_path / "own.csv"
    path.write_text("id,defence,out\n1,off,maybe\n1,on,no\n")
    assert cli.main(["check", str(path), *given]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"type: ferrite-nb check {path} ")
    assert last.endswith(option)
    assert "nope" not in last


def test_another_error_suggests_nothing() -> None:
    assert hint("there is no file 'a.csv'", ["check", "a.csv"]) == []
