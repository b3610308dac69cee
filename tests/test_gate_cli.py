"""`ferrite-nb gate` as a release script uses it: in a shell, through its exit code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb import cli

COMMAND = Path(sys.executable).parent / "ferrite-nb"
RULES = str(fnb.data("requirements.toml"))

# What a team writes into its pipeline: stop unless every requirement passed, and say which end it
# was.
SCRIPT = """\
set +e
"$1" gate "$2" "$3" --json > "$4/verdicts.json"
code=$?
case $code in
  0) echo release; echo released > "$4/released.txt" ;;
  1) echo block ;;
  3) echo "run more" ;;
  *) echo "fix the call" ;;
esac
exit $code
"""
SIDES = ["security", "security", "cost", "cost"]


def script(
    results: Path, requirements: Path | str, folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run the release script with the command, the results, the requirements and a folder as $1 to
    $4.
    """
    given = ["sh", "-c", SCRIPT, "release", *map(str, (COMMAND, results, requirements, folder))]
    return subprocess.run(given, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("file", "code", "said", "verdicts"),
    [
        ("pass", 0, "release", ["pass"] * 4),
        ("fail", 1, "block", ["fail", "fail", "pass", "pass"]),
        ("cannot_tell", 3, "run more", ["cannot tell", "pass", "cannot tell", "cannot tell"]),
        (
            "refuser",
            1,
            "block",
            ["pass", "pass", "fail", "fail"],
        ),  # stopped by its cost requirements alone
    ],
)
def test_a_release_script_goes_on_only_after_a_pass(
    file: str, code: int, said: str, verdicts: list[str], tmp_path: Path
) -> None:
    done = script(fnb.data(f"gate_{file}.csv"), RULES, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (code, f"{said}\n", "")
    assert (tmp_path / "released.txt").exists() is (code == 0)
    rows = json.loads((tmp_path / "verdicts.json").read_text("utf-8"))
    assert [(row["side"], row["verdict"]) for row in rows] == list(
        zip(SIDES, verdicts, strict=True)
    )


def test_wrong_use_is_neither_a_pass_nor_a_fail(tmp_path: Path) -> None:
    broken = tmp_path / "rules.toml"
    broken.write_text('[[requirement]]\nmetric = "ASR"\n', encoding="utf-8")
    done = script(fnb.data("gate_pass.csv"), broken, tmp_path)
    assert (done.returncode, done.stdout) == (2, "fix the call\n")
    assert "at_most or at_least" in done.stderr and "Traceback" not in done.stderr


def lines(capsys: pytest.CaptureFixture[str], *given: object) -> tuple[int, list[str]]:
    """Exit code and printed lines of the command, in this process."""
    code = cli.main(["gate", *map(str, given)])
    return code, capsys.readouterr().out.splitlines()


def test_json_holds_what_the_table_holds(capsys: pytest.CaptureFixture[str]) -> None:
    code, printed = lines(capsys, fnb.data("gate_refuser.csv"), RULES, "--json")
    table = fnb.gate(fnb.read(fnb.data("gate_refuser.csv")), RULES)
    rows = json.loads("\n".join(printed))
    assert code == 1
    assert list(rows[0]) == list(table)
    assert [(row["k"], row["n"]) for row in rows] == [(0, 600), (0, 600), (600, 600), (0, 300)]
    assert [row["high"] for row in rows] == pytest.approx(table["high"].tolist())


def test_a_line_shows_verdict_threshold_bounds_and_how_many_cases_would_decide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, units = tmp_path / "summary.md", tmp_path / "units.xml"
    wanted = ("--markdown", page, "--junit", units)
    code, printed = lines(capsys, fnb.data("gate_cannot_tell.csv"), RULES, *wanted)
    assert (code, len(printed)) == (3, 4)
    assert printed[0].startswith("cannot tell  ")
    assert "tried at most 2.0%" in printed[0] and max(map(len, printed)) < 130
    assert "0/60, upper limit 6.0% [0.0, 6.0]" in printed[0]
    (needed,) = re.findall(r"about (\d+) more would decide", printed[0])
    assert 189 <= 60 + int(needed) <= 189 * 1.03  # without an event 189 cases pass
    text = page.read_text("utf-8")
    assert "no result of 60 cases can pass this rule" in text
    assert "run more attacks before the release" in text
    assert ElementTree.parse(units).getroot().attrib["errors"] == "3"


def test_another_suite_version_stops_the_release(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "results.csv"
    pd.read_csv(fnb.data("gate_pass.csv")).assign(suite_version="2026.2").to_csv(other, index=False)
    code, printed = lines(capsys, other, RULES)
    assert code == 3
    assert all("for suite version 2026.1, the results are of 2026.2" in line for line in printed)


def test_security_without_cost_is_noted_and_the_exit_code_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = tmp_path / "rules.toml"
    rule = '[[requirement]]\nmetric = "tried"\nat_most = 0.02\nwhere = { mode = "guard" }\n'
    alone.write_text(rule, encoding="utf-8")
    code, printed = lines(capsys, fnb.data("gate_pass.csv"), alone, "--json")
    assert code == 0
    (row,) = json.loads("\n".join(printed))
    assert "incomplete: no cost requirement" in row["note"] and row["verdict"] == "pass"
