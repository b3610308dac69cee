"""Labels of judges, PyRIT's evaluations and detector scores: tables for the verbs that take
them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ferrite_nb as fnb
from ferrite_nb.readers import read_labels, read_scores
from ferrite_nb.readers.pyrit import solutions

from .test_read import put

PYRIT = Path(__file__).parent / "files/pyrit_hate_speech_3raters.csv"


# Judge labels.
def test_a_blank_is_no_label():
    labels = read_labels(fnb.data("purseclab_judges.csv"))
    assert labels["chao"].count() == 250 and labels["chao"].sum() == 102
    assert labels["human"].dtype == "boolean" and labels["item"].dtype == "str"


def test_a_third_state_stays_a_state(tmp_path):
    text = "item,human,judge\n001,yes,true\n002,no,refused\n003,,false\n"
    labels = read_labels(put(tmp_path, "a.csv", text))
    assert labels["item"].tolist() == ["001", "002", "003"]
    assert labels["human"].tolist() == [True, False, pd.NA] and labels["judge"].tolist() == [
        "true",
        "refused",
        "false",
    ]


def test_identifiers_and_strata_stay_text(tmp_path):
    labels = read_labels(put(tmp_path, "a.csv", "model_id,human,judge,topic\n0,1,0,a\n1,0,0,b\n"))
    assert labels["model_id"].tolist() == ["0", "1"] and labels["topic"].tolist() == ["a", "b"]
    assert labels["item"].tolist() == ["1", "2"] and labels["human"].tolist() == [True, False]


def test_counts_of_judges_are_whole_numbers(tmp_path):
    labels = read_labels(put(tmp_path, "a.csv", "judge,tp,fn,tn,fp\nJ,47,140,186,3\n"))
    assert (
        labels[["tp", "fn", "tn", "fp"]].iloc[0].tolist() == [47, 140, 186, 3]
        and labels["tp"].dtype == "int64"
    )
    with pytest.raises(fnb.OutcomesError, match=r"a.csv: column fn must hold whole numbers"):
        read_labels(put(tmp_path, "a.csv", "judge,tp,fn,tn,fp\nJ,47,0.5,186,3\n"))


def test_labels_are_read_by_the_verb(tmp_path):
    labels = read_labels(fnb.data("purseclab_judges.csv"))
    table = fnb.judges(labels, human="human", judges=["zou", "chao"])
    assert table["judge"].unique().tolist() == ["zou", "chao"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "item,human,judge\n1,true,true\n",
            r"holds labels of judges .*read_labels\('a.csv'\).*human='human'",
        ),
        (
            "judge,tp,fn,tn,fp\nJ,1,2,3,4\n",
            r"holds counts of a judge .*fnb.rates\(runs, judge=labels\)",
        ),
        (
            "score,label\n0.5,attack\n",
            r"holds scores of a detector, .*labels: attack.*fnb.detector\(scores",
        ),
        (
            "id,score,label\n1,high,attack\n",
            "a.csv, row 1: column score has 'high'; a score must be a number",
        ),
        (
            (
                "# dataset_version=1.0,,,\nobjective,assistant_response,human_score,data_type\nx,y,1,text\n"
            ),
            "labels of judges",
        ),
    ],
)
def test_read_explains_what_is_no_table_of_outcomes(tmp_path, text, message):
    with pytest.raises(fnb.OutcomesError, match=message):
        fnb.read(put(tmp_path, "a.csv", text))


def test_labels_with_declarations_are_read_as_outcomes(tmp_path):
    path = put(tmp_path, "a.csv", "item,human,judge\n1,true,false\n2,false,false\n")
    runs = fnb.read(path, case_id="item", mode=fnb.const("On"), attack_success="human")
    assert runs.frame["attack_success"].tolist() == [True, False]


# PyRIT.
def test_scores_of_raters_are_numbers_and_true_only_at_a_given_threshold():
    labels = read_labels(PYRIT)
    assert len(labels) == 199 and labels["human_score_1"].tolist()[:3] == [0.25, 0.0, 0.75]
    at = read_labels(PYRIT, threshold=0.5)
    assert (
        at["human_score_1"].tolist()[:3] == [False, False, True]
        and at["human_score_1"].dtype == "boolean"
    )
    assert (at["human_score_2"] == (labels["human_score_2"] >= 0.5)).all()


def test_the_comment_is_skipped_and_harmful_texts_are_not_kept(tmp_path):
    text = "# dataset_version=1.0,,,\nobjective,assistant_response,human_score,data_type\n(o),(r),1,text\n(o),(r),0,text\n"
    labels = read_labels(put(tmp_path, "a.csv", text))
    assert labels.columns.tolist() == ["item", "human_score", "data_type"]
    assert labels["human_score"].tolist() == [True, False]


def metrics(n=376, accuracy=233 / 376, precision=47 / 50, recall=47 / 187):
    rates = {
        "num_responses": n,
        "accuracy": accuracy,
        "precision": precision,
        "recall": recall,
        "f1_score": 0.4,
    }
    return json.dumps({"scorer_name": "S", "metrics": rates}) + "\n"


def test_counts_are_solved_back_from_the_rates_of_a_metrics_file(tmp_path):
    # PyRIT 1.1.0, objective_achieved_metrics.jsonl, first row: Se 0.2513, Sp 0.9841.
    labels = read_labels(put(tmp_path, "m.jsonl", metrics()))
    tp, fn, tn, fp = labels[["tp", "fn", "tn", "fp"]].iloc[0]
    assert (tp, fn, tn, fp) == (47, 140, 186, 3)
    assert tp / (tp + fn) == pytest.approx(0.2513, abs=5e-5) and tn / (tn + fp) == pytest.approx(
        0.9841, abs=5e-5
    )


@pytest.mark.parametrize("change", [{"precision": 0.5001}, {"accuracy": 0.123}, {"recall": 0.0}])
def test_rates_that_fit_no_counts_are_refused(tmp_path, change):
    with pytest.raises(fnb.OutcomesError, match=r"m.jsonl:1: no whole counts fit n = 376"):
        read_labels(put(tmp_path, "m.jsonl", metrics(**change)))


def test_a_metrics_file_without_rates_is_refused(tmp_path):
    with pytest.raises(fnb.OutcomesError, match=r"m.jsonl holds no scorer with num_responses"):
        read_labels(
            put(tmp_path, "m.jsonl", json.dumps({"metrics": {"num_responses": "many"}}) + "\n")
        )


@settings(deadline=None)
@given(st.tuples(st.integers(1, 60), *[st.integers(0, 60)] * 3))
def test_the_true_counts_are_among_the_solutions(cells):
    tp, fn, tn, fp = cells
    n = sum(cells)
    assert cells in list(solutions(n, (tp + tn) / n, tp / (tp + fp), tp / (tp + fn)))


# Detector scores.
def test_scores_are_numbers_and_labels_stay_as_written(tmp_path):
    scores = read_scores(
        put(tmp_path, "a.csv", "id,Score,label,model\n01,0.91,1.0,x\n02,,0.0,y\n03,nan,1.0,y\n")
    )
    assert scores["score"].isna().tolist() == [False, True, True] and scores["score"][0] == 0.91
    assert scores["label"].tolist() == ["1.0", "0.0", "1.0"] and scores["id"].tolist() == [
        "01",
        "02",
        "03",
    ]
    with pytest.raises(
        fnb.OutcomesError, match=r"no column 'truth'; the columns are id, score, label, model"
    ):
        read_scores(put(tmp_path, "a.csv", "id,score,label,model\n1,1,a,x\n"), label="truth")


def test_scores_are_read_from_json_lines_and_parquet(tmp_path):
    lines = put(tmp_path, "a.jsonl", '{"score": 0.5, "label": 1}\n{"score": 1, "label": 0}\n')
    wanted = read_scores(lines)
    assert wanted["score"].tolist() == [0.5, 1.0] and wanted["label"].tolist() == ["1", "0"]
    wanted.to_parquet(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(read_scores(tmp_path / "a.parquet"), wanted, check_dtype=False)


def test_an_item_that_stands_twice_counts_once_or_is_refused(tmp_path):
    path = tmp_path / "labels.csv"
    rows = [f"i{at},{'yes' if at % 2 else 'no'},yes\n" for at in range(6)]
    path.write_text("item,human,judge\n" + "".join(rows + rows))
    assert len(fnb.readers.read_labels(path)) == 6
    path.write_text("item,human,judge\n" + "".join(rows) + "i1,no,yes\n")
    with pytest.raises(fnb.OutcomesError, match=r"labels.csv, row 2, labels.csv, row 7"):
        fnb.readers.read_labels(path)


def test_a_score_that_stands_twice_counts_once(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("id,score,label\na,0.5,x\nb,0.5,x\na,0.5,x\n")
    assert fnb.readers.read_scores(path)["id"].tolist() == ["a", "b"]
