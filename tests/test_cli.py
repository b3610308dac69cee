"""The command line: help with examples, declarations of columns, and exit codes."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
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
    args = parsers(cli.COMMANDS)[1]["gate"].parse_intermixed_args(
        ["a.csv", "b.csv", "--keep", "last", "rules.toml"]
    )
    assert args.results == ["a.csv", "b.csv"]
    assert args.requirements == Path("rules.toml")
    assert args.keep == "last"


def parse(*given: str) -> argparse.Namespace:
    return parsers(cli.COMMANDS)[1]["check"].parse_intermixed_args(list(given))


def test_declarations_become_those_of_read() -> None:
    declared = declarations(
        parse(
            "--column",
            "attack_success=jail=broken",
            "--column",
            "case_id=task",
            "--column",
            "case_id=run",
            "--const",
            "kind=attack",
            "--words",
            "blocked=gate; true=stop, halt; false=go",
            "file.csv",
        )
    )
    assert declared == {
        "attack_success": "jail=broken",
        "case_id": ["task", "run"],
        "kind": fnb.const("attack"),
        "blocked": fnb.words("gate", true=["stop", "halt"], false=["go"]),
    }


@pytest.mark.parametrize(
    "option", [("--column", "jailbroken"), ("--const", "=x"), ("--words", "kind; attack=a")]
)
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
    assert {"requirement", "k", "n", "rate", "low", "high", "threshold", "rule", "note"} <= set(
        verdicts[0]
    )


def test_gate_without_a_requirement_is_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("")
    assert cli.main(["gate", str(fnb.data("gate_pass.csv")), str(path)]) == 2
    assert "[[requirement]]" in capsys.readouterr().err


def test_report_writes_one_page_that_says_how_to_make_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "human,judge\n"
        + "true,true\n" * 20
        + "false,false\n" * 20
        + "true,false\n" * 3
        + "false,true\n"
    )
    target = tmp_path / "report"
    given = [
        "report",
        str(fnb.data("ferrite_run_a.csv")),
        "-o",
        str(target),
        "--by",
        "tier",
        "--judge",
        str(labels),
    ]
    assert cli.main(given) == 0
    assert capsys.readouterr().out == f"report  {target / 'report.html'}\n"
    page = (target / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"https?://", page)
    assert "ferrite-nb report" in page
    assert "SHA-256 of ferrite_run_a.csv" in page
    assert "observed, corrected" in page


def test_check_says_what_is_supported_what_not_and_what_to_look_out_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["check", str(fnb.data("ferrite_run_b.csv"))]) == 0
    shown = capsys.readouterr().out
    version = f"ferrite_nb {fnb.__version__}"
    for part in (
        "3,392 rows",
        "supports",
        "not recorded",
        "look out",
        "--cluster template",
        version,
        "fnb.cases(runs, 'ASR', pair=('Off', 'On'), only='c')",
    ):
        assert part in shown


def test_check_has_at_most_twenty_lines_for_any_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every bundled file, and a wide one with errors, repeats, blanks and many modes."""
    rows = [
        f"c{case},mode {mode},{repeat},{['yes', 'no', '', 'yes'][(case * mode + repeat) % 4]},"
        f"t{case // 9},{'timeout' if case % 7 == mode else ''},{case % 3},{'' if case % 5 else 'no'}"
        for case in range(40)
        for mode in range(10)
        for repeat in range(3)
    ]
    wide = tmp_path / "wide.csv"
    head = "case_id,mode,repeat,attack_success,template,error,tier,gated"
    wide.write_text("\n".join([head, *rows]))
    calls = [[str(wide), "--const", "kind=attack"]]
    calls += [[str(fnb.data(f"ferrite_run_{name}.csv"))] for name in "ab"]
    for call in calls:
        assert cli.main(["check", *call]) == 0
        printed = capsys.readouterr().out.splitlines()
        assert len(printed) <= 20
        assert [line.split()[0] for line in printed[-3:]] == ["cases", "next", "with"]


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ([], "--column case_id=COLUMN"),
        (["--column", "case_id=nope"], "--column case_id=COLUMN"),
        (["--column", "case_id=id"], "--column mode=COLUMN"),
        (
            [
                "--column",
                "case_id=id",
                "--column",
                "mode=defence",
                "--column",
                "attack_success=out",
            ],
            "--words 'attack_success=COLUMN; true=WORD; false=WORD'",
        ),
        (["--column", "case_id=id", "--const", "mode=On"], "--keep last"),
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


A = str(fnb.data("ferrite_run_a.csv"))
RULES = str(fnb.data("requirements.toml"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--name", f"On={A}", "--name", f"On={RULES}"], "On is named twice: "),
        ([A, "--const", "tier=a", "--const", "tier=b"], "tier is declared twice: a and b"),
        ([A, "--column", "tier=kind", "--const", "tier=b"], "tier is declared twice: kind and b"),
        (
            [A, "--words", "kind=kind; attack=a", "--words", "kind=tier; benign=b"],
            "kind is declared twice: kind and ",
        ),
        (
            [A, "--option", "threshold=1", "--option", "threshold=2"],
            "threshold is declared twice: 1 and 2",
        ),
        *(
            ([A, "--column", f"{name}=mode"], f"{name} is no column and no option")
            for name in ("path", "frame", "check", "keep", "read_from", "notes")
        ),
        ([A, "--option", "keep=last"], "keep is no column and no option"),
        ([A, ""], "has an empty name"),
    ],
)
def test_what_is_said_twice_or_cannot_be_said_is_refused_and_nothing_is_lost(given, said, capsys):
    """Of two files named alike the first would have gone without a word."""
    assert cli.main(["check", *given]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and said in shown.err and len(shown.err.splitlines()) == 1


def test_words_may_be_told_one_at_a_time() -> None:
    declared = declarations(
        parse("--words", "kind=type; attack=inj; attack=xss; benign=user", "a.csv")
    )
    assert declared == {"kind": fnb.words("type", attack=["inj", "xss"], benign=["user"])}


def test_a_report_on_releases_takes_no_option_that_it_would_not_follow(capsys):
    given = ["report", "--name", f"1={A}", "--requirements", RULES]
    for option, value in (
        ("--level", "0.99"),
        ("--by", "tier"),
        ("--cluster", "tier"),
        ("--judge", A),
    ):
        assert cli.main([*given, option, value]) == 2
        assert f"takes no {option}" in capsys.readouterr().err


def test_gate_asks_for_what_is_missing(capsys):
    assert cli.main(["gate", A]) == 2
    assert "ferrite-nb gate RESULTS FILE.toml" in capsys.readouterr().err


ODD = [
    "-o.csv",
    "sp ace.csv",
    "new\nline.csv",
    "100%s#x.csv",
    "a=b.csv",
    "=cmd.csv",
    "\u202eдата.csv",
    "[1].csv",
    "\x1b[2J.csv",
    "'\"`$(x).csv",
]


@pytest.mark.parametrize("name", ODD)
def test_a_file_may_have_any_name_and_no_name_reaches_a_terminal_as_a_command(
    name, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(Path(A).read_bytes())
    assert cli.main(["check", "--", name]) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert "96 rows of 29 cases" in lines[0] and not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown
    )
    assert cli.main(["check", f"./{name}x"]) == 2
    shown = capsys.readouterr().err
    assert len(shown.splitlines()) == 1 and not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown
    )


def test_text_of_a_file_is_no_command_of_the_terminal(tmp_path, capsys):
    path = tmp_path / "own.csv"
    path.write_text(
        "case_id,mode,attack_success\n1,\x1b]0;pwned\x07,yes\n2,\x1b[2J,no\n3,On\u202e,no\n"
    )
    (tmp_path / "r.toml").write_text(
        '[[requirement]]\nmetric = "ASR"\nat_most = 0.1\nwhere = {mode = "\\u001b[2J"}\n'
    )
    assert cli.main(["check", str(path)]) == 0
    assert cli.main(["gate", str(path), str(tmp_path / "r.toml")]) == 3
    assert cli.main(["gate", str(path), str(tmp_path / "r.toml"), "--json"]) == 3
    shown = capsys.readouterr()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown.out + shown.err)


def ferrite_nb(
    *given: str, out: int | None = subprocess.PIPE, **more: str
) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own, with an environment of its own."""
    return subprocess.run(
        [sys.executable, "-m", "ferrite_nb.cli", *given],
        stdout=out,
        stderr=subprocess.PIPE,
        check=False,
        env={**os.environ, **more},
    )


@pytest.mark.parametrize("code", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_cannot_show_a_letter_loses_no_line(code, tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(
        "case_id,mode,attack_success\n1,д\N{EURO SIGN},yes\n2,д\N{EURO SIGN},no\n", "utf-8"
    )
    for given, rc in ((["check", str(path)], 0), (["check", "--help"], 0), (["check", "дata"], 2)):
        done = ferrite_nb(*given, PYTHONIOENCODING=code)
        assert done.returncode == rc and b"Traceback" not in done.stderr
    assert len(ferrite_nb("check", str(path), PYTHONIOENCODING=code).stdout.splitlines()) > 8


def test_a_reader_that_has_gone_changes_no_verdict():
    """`gate … | head -1` ends with the verdict, not with an error of the pipe."""
    given = ["gate", str(fnb.data("gate_fail.csv")), RULES]
    assert ferrite_nb(*given).returncode == 1
    end, start = os.pipe()
    os.close(end)
    try:
        done = ferrite_nb(*given, out=start)
    finally:
        os.close(start)
    assert (done.returncode, done.stderr) == (1, b"")
    code = "import os, sys; os.close(1); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    closed = [sys.executable, "-c", code, "-m", "ferrite_nb.cli", *given]
    done = subprocess.run(closed, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_file_that_changes_while_it_is_read_makes_no_report(tmp_path, monkeypatch, capsys):
    """The hash on the page would be that of other data."""
    path = tmp_path / "own.csv"
    path.write_bytes(Path(A).read_bytes())
    read = fnb.read

    def changing(*given, **more):
        runs = read(*given, **more)
        path.write_text(path.read_text() + "\n")
        return runs

    monkeypatch.setattr("ferrite_nb.read", changing)
    assert cli.main(["report", str(path), "-o", str(tmp_path / "out")]) == 2
    assert "own.csv was changed while it was read" in capsys.readouterr().err


def test_an_error_stands_alone_on_its_line(tmp_path):
    done = ferrite_nb("report", A, "--cluster", "nope", "-o", str(tmp_path / "out"))
    assert done.returncode == 2 and done.stderr.startswith(
        b"ferrite-nb: cluster: there is no column 'nope'"
    )
    for port in ("0", "65536", "-1", "x"):
        assert ferrite_nb("lab", "--port", port).returncode == 2
