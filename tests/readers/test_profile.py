"""An unknown table: its profile, and a line that reads it once one blank is filled in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import ferrite_nb as fnb
from ferrite_nb.readers.profile import BLANK
from ferrite_nb.readers.table import propose

WORDS = ("jailbroken", "safe", "undetermined", "error")


def rows() -> list[dict[str, str]]:
    """2,000 rows: 250 prompts of 25 templates, two defences, benign and attack, four runs."""
    made = []
    for case in range(250):
        for defence in ("none", "filter"):
            for run in range(4):
                at = case * 8 + (defence == "filter") * 4 + run
                made.append(
                    {
                        "Prompt ID": f"00{case}",
                        "Schutz": defence,
                        "run": str(run),
                        "Typ": "normal task" if case % 5 == 0 else "prompt injection",
                        "verdict": WORDS[0 if at % 3 == 0 else 1]
                        if at % 50
                        else WORDS[2 + at % 100 // 50],
                        "error_message": "timeout" if at % 97 == 0 else "",
                        "Antwortzeit_ms": f"{at % 7},5",
                        "template": f"t{case // 10}",
                        "response": "" if at % 11 == 0 else f"text {at}",
                    }
                )
    return made


def wanted() -> tuple[int, int]:
    """Successes and known outcomes of the attacks without defence."""
    mine = [row for row in rows() if row["Schutz"] == "none" and row["Typ"] != "normal task"]
    known = [
        row["verdict"] for row in mine if row["verdict"] in WORDS[:2] and not row["error_message"]
    ]
    return known.count("jailbroken"), len(known)


def written(folder: Path, form: str) -> Path:
    frame = pd.DataFrame(rows())
    path = folder / f"my results.{'json' if form == 'nested' else 'csv'}"
    if form == "german":
        frame.to_csv(path, sep=";", index=False, encoding="utf-8-sig")
    elif form == "nested":
        frame["Antwortzeit_ms"] = frame["Antwortzeit_ms"].str.replace(",", ".")
        records = [{"meta": {"Typ": row.pop("Typ")}, **row} for row in frame.to_dict("records")]
        path.write_text(json.dumps({"made": {"by": "x"}, "results": records}, indent=1))
    else:
        frame.drop(columns="Antwortzeit_ms").to_csv(path, index=False)
    return path


@pytest.mark.parametrize("form", ["german", "nested", "plain"])
def test_the_line_with_its_blank_filled_in_reads_the_table(tmp_path: Path, form: str) -> None:
    path = written(tmp_path, form)
    found = propose(path)
    assert set(found.declared) >= {"case_id", "mode", "repeat", "kind", BLANK, "error"}
    line = found.python(str(path)).replace(BLANK, "attack_success")
    runs = eval(line, {"fnb": fnb})
    rates = fnb.rates(runs, "ASR").set_index("mode").loc["none"]
    assert (rates["k"], rates["n"]) == wanted() and runs.cluster == ("template",)
    turned = eval(line.replace("attack_success", "attack_resisted"), {"fnb": fnb})
    other = fnb.rates(turned, "ASR").set_index("mode").loc["none"]
    assert (other["k"], other["n"]) == (wanted()[1] - wanted()[0], wanted()[1])


def test_the_error_of_an_unknown_table_holds_the_line(tmp_path: Path) -> None:
    path = written(tmp_path, "german")
    with pytest.raises(fnb.OutcomesError) as told:
        fnb.read(path)
    assert propose(path).python(str(path)) in str(told.value) and told.value.fix == "case_id"


def test_the_line_for_a_terminal_works_when_typed(tmp_path: Path) -> None:
    path = written(tmp_path, "plain")
    line = propose(path).shell(path.name, "check").replace(BLANK, "attack_success")
    line = line.replace("ferrite-nb", f"{sys.executable} -m ferrite_nb.cli", 1)
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_profile_tells_kinds_and_escapes_examples(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,hit,text,score,none\n1,yes,\x1b[31mred,0.5,\n2,no,b,1.5,\n")
    columns = propose(path).columns.set_index("column")
    assert columns["kind"].tolist() == ["number", "flag", "text", "number", "empty"]
    assert (
        columns["filled"].tolist() == [2, 2, 2, 2, 0]
        and "\x1b" not in columns.loc["text", "examples"]
    )
