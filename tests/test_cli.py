"""The command line: help with examples, declarations of columns, and exit codes."""

from __future__ import annotations

import argparse
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


@pytest.mark.parametrize("content", ["", "requirement = 3", "[[requirement", "[other]\na = 1"])
def test_a_file_without_requirements_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"rules\.toml"):
        cli.requirements(path)


def test_requirements_are_the_tables_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text('[[requirement]]\nmetric = "ASR"\nat_most = 0.1\nwhere = {mode = "On"}\n')
    assert cli.requirements(path) == [{"metric": "ASR", "at_most": 0.1, "where": {"mode": "On"}}]


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
