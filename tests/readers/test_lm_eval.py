"""lm-evaluation-harness samples: one filter, declared polarity. The lines are invented after its
source code.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ferrite_nb as fnb


def row(number: int, acc: Any, *, filter: str = "none", **more: Any) -> dict[str, Any]:
    return {
        "doc_id": number,
        "doc": {"kind": "attack", "question": "x" * 300},
        "target": "A",
        "arguments": {},
        "resps": [["A"]],
        "filtered_resps": ["A"],
        "filter": filter,
        "metrics": ["acc"],
        "doc_hash": f"h{number}",
        "acc": acc,
        **more,
    }


def lines(folder: Path, *rows: Any, name: str = "samples_demo_2025-01-01T00-00-00.jsonl") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def test_outcomes_follow_the_declared_polarity(tmp_path: Path) -> None:
    path = lines(tmp_path, row(7, 1.0), row(8, 0.0), row(9, float("nan")))
    hit = fnb.read(path, attack_success="acc")
    assert hit.frame["attack_success"].isna().tolist() == [False, False, True]
    assert hit.frame["attack_success"].tolist()[:2] == [True, False]
    assert fnb.read(path, attack_resisted="acc").frame["attack_success"].tolist()[:2] == [
        False,
        True,
    ]
    assert hit.frame["case_id"].tolist() == ["h7", "h8", "h9"]
    assert set(hit.frame["suite"]) == {"demo"} and "question" not in hit.columns


def test_polarity_is_never_guessed(tmp_path: Path) -> None:
    with pytest.raises(fnb.OutcomesError, match=r'acc \(0\.0, 1\.0\).*attack_success="acc"'):
        fnb.read(lines(tmp_path, row(7, 1.0), row(8, 0.0)))


def test_several_filters_need_a_choice(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        *[
            row(doc, acc, filter=name)
            for name, acc in (("strict", 0.0), ("flexible", 1.0))
            for doc in (1, 2)
        ],
    )
    with pytest.raises(
        fnb.OutcomesError, match=r'one row per filter \(flexible, strict\).*filter="flexible"'
    ):
        fnb.read(path, attack_success="acc")
    runs = fnb.read(path, attack_success="acc", filter="strict")
    assert runs.frame["attack_success"].tolist() == [False, False]
    assert any("rows of other filters left out: 2" in note for note in runs.notes)
    with pytest.raises(fnb.OutcomesError, match="no filter 'other'"):
        fnb.read(path, attack_success="acc", filter="other")


def test_equal_documents_fall_back_to_their_number(tmp_path: Path) -> None:
    runs = fnb.read(
        lines(tmp_path, row(1, 1.0, doc_hash="same"), row(2, 0.0, doc_hash="same")),
        attack_success="acc",
    )
    assert runs.frame["case_id"].tolist() == ["1", "2"]
    assert any("the case is doc_id" in note for note in runs.notes)


def test_mode_is_the_model_when_the_folder_names_it(tmp_path: Path) -> None:
    first, second = (lines(tmp_path / f"org__{name}", row(1, 1.0)) for name in ("a", "b"))
    assert set(fnb.read([first, second], attack_success="acc").modes) == {"org__a", "org__b"}
    assert fnb.read(lines(tmp_path, row(1, 1.0)), attack_success="acc").modes == (
        "samples_demo_2025-01-01T00-00-00",
    )


def test_a_metric_between_0_and_1_needs_a_threshold(tmp_path: Path) -> None:
    path = lines(tmp_path, row(1, 0.4), row(2, 0.6))
    with pytest.raises(fnb.OutcomesError, match=r"0\.4"):
        fnb.read(path, attack_success="acc")
    assert fnb.read(path, attack_success="acc", threshold=0.5).frame["attack_success"].tolist() == [
        False,
        True,
    ]


def test_fields_of_the_document_are_strata_when_named(tmp_path: Path) -> None:
    path = lines(
        tmp_path, row(1, 1.0, doc={"subject": "law", "attack_success": True, "topic": {"a": 1}})
    )
    runs = fnb.read(path, attack_success="acc", category="subject")
    assert runs.frame["category"].tolist() == ["law"]
    assert runs.frame["doc.attack_success"].tolist() == ["true"]


def test_named_runs_of_different_tasks_form_no_pair(tmp_path: Path) -> None:
    plain = {"doc_hash": None}
    first, second, again = (
        lines(
            tmp_path / folder,
            row(1, 1.0, **plain),
            row(2, 0.0, **plain),
            name=f"samples_{task}_2025-01-01T00.jsonl",
        )
        for folder, task in (("a", "law"), ("b", "physics"), ("c", "law"))
    )
    apart = fnb.read({"before": first, "after": second}, attack_success="acc")
    assert sorted(apart.frame["case_id"]) == ["law/1", "law/2", "physics/1", "physics/2"]
    assert any(note.startswith("different tasks (law, physics)") for note in apart.notes)
    paired = fnb.read({"before": first, "after": again}, attack_success="acc")
    assert paired.frame["case_id"].tolist() == ["1", "2", "1", "2"]


def test_rows_of_filters_without_a_name_are_refused(tmp_path: Path) -> None:
    rows = [
        {key: value for key, value in row(1, acc).items() if key != "filter"} for acc in (1.0, 0.0)
    ]
    with pytest.raises(fnb.OutcomesError, match="one row per filter"):
        fnb.read(lines(tmp_path, *rows), attack_success="acc", keep="last")
    runs = fnb.read(lines(tmp_path, rows[0], rows[0]), attack_success="acc")
    assert runs.frame["attack_success"].tolist() == [True]
