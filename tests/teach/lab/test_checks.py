"""Every check accepts its reference, refuses named mistakes, never raises and never tells the
answer.
"""

from __future__ import annotations

import csv
import json
import math
import re
import socket
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

import ferrite_nb as fnb
from ferrite_nb.teach.lab.parts import Part, declared, exercises

EXERCISES = list(declared())

CALLS = {"ppv": 0.0826, "alerts": 199.8, "primary": "tpr_at_fpr", "cost": "false_reject"}
CELLS = [(18, 6), (40, 2), (44, 1), (25, 9), (30, 4), (7, 2)]
P = [
    min(1, 2 * sum(math.comb(b + c, i) for i in range(min(b, c) + 1)) / 2 ** (b + c))
    for b, c in CELLS
]
HOLM = [2 * P[0], 5 * P[1], 6 * P[2], 3 * P[3], 4 * P[4], P[5]]
CLAIMS = [True, True, False, True, False, False]

RIGHT = [
    ("EX085", CALLS),
    (
        "EX085",
        {"ppv": 0.0187, "alerts": 999, "primary": "precision_at_base_rate", "cost": "latency"},
    ),
    ("EX085", {"ppv": 0.4447, "alerts": 20, "primary": "TPR at FPR", "cost": "workload"}),
    ("EX086", (0.107, 0.206)),
    ("EX086", {"interval": [0.1071, 0.2061], "claims": CLAIMS}),
    ("EX087", {"positives": 3, "sensitivity": (0.44, 1), "constant": 0.98}),
    ("X01", 0.0868),
    (
        "X01",
        {
            "ppv": 0.0868,
            "all": [0.9896, 0.4897, 0.0868],
            "false_alerts": [50, 99, 99.9],
            "half": 0.00095,
        },
    ),
    ("X02", "fail, because it refuses normal tasks: false refusal 600/600"),
    ("X02", {"verdict": "fail", "reason": "task success 0/300", "bounds": (0, 0.0126)}),
    ("X02", {"verdict": "fail", "reason": "false gate rate"}),
    ("X02", {"verdict": "fail", "reason": "it stops every one of the normal tasks"}),
    ("X03", 0.843),
    ("X04", (0.3965, 0.1720)),
    ("X05", (0.24, 0.16)),
    ("X05", {"reductions": (0.24, 0.16), "bias": "overstates"}),
    ("X06", (0.01, 0.20, 0.005, 0.18)),
    ("X06", {"rates": (0.01, 0.20, 0.005, 0.18), "verdict": "new series"}),
    ("X07", (P, HOLM)),
    ("X08", (0.047, 0.201)),
    ("X08", (0.046, 0.205)),  # the clustered interval of the cases says the same
    ("X09", 0.143),
    ("X10", (0.219, 0.613)),
    ("X10", (0.219, 0.613, "seed SD")),
    ("X10", {"interval": (0.219, 0.613), "label": "SD", "spread": (0.0170, 0.0230)}),
    ("X11", (0.207, 0.260)),  # the rate of the three runs, on the cases of one
    ("X11", {"interval": (0.207, 0.260), "zero": 38}),
    ("EX085", CALLS | {"primary": "TPR at a fixed FPR", "cost": "false rejects"}),
    ("EX085", CALLS | {"primary": "precision at the base rate"}),
    ("EX086", {"interval": (0.107, 0.206), "claims": [1, 1, 0, 1, 0, 0]}),
    ("EX086", {"interval": (0.107, 0.206), "claims": ["T", "T", "F", "T", "F", "F"]}),
    ("LAB", {"off": 105, "on": 57}),
    ("LAB", (105, 57, 36, 61)),
    ("LAB", (105, 57, 35, 60)),  # a simulated bound may move by two counts
]

WRONG = [
    ("EX085", 0.95, "TPR"),
    ("EX085", 0.99, "genuine calls left alone"),
    ("EX085", 0.999, "never alerts"),
    ("EX085", "accuracy", "almost perfect accuracy"),
    ("EX085", "AUC", "nobody can staff"),
    ("EX085", CALLS | {"alerts": 999}, "different thresholds"),
    ("EX085", CALLS | {"cost": "none"}, "challenges every caller"),
    ("EX086", (0.1005, 0.1995), "that is the Wald interval"),
    ("EX086", (0.1035, 0.2072), "Clopper-Pearson"),
    ("EX086", (0.1057, 0.2044), "Jeffreys"),
    ("EX086", (0.10, 0.20), "not symmetric|Wald"),
    ("EX086", (0.206, 0.107), "other order"),
    ("EX086", (10.7, 20.6), "percent"),
    ("EX086", {"claims": [True] * 6}, "accepted every claim"),
    ("EX086", {"claims": [False] * 6}, "refused every claim"),
    ("EX086", {"claims": [*CLAIMS[:5], True]}, "5 of 6"),
    ("EX087", {"positives": 147}, "negatives"),
    ("EX087", {"sensitivity": (1, 1)}, "Wald"),
    ("EX087", {"sensitivity": (0.292, 1)}, "Clopper-Pearson"),
    ("EX087", {"constant": 0.93}, "judge of the example"),
    ("X01", 0.95, "that is the TPR"),
    ("X01", 0.99, "that is the accuracy"),
    ("X01", 0.9896, "that is at 50 %"),
    ("X01", 8.68, "percent"),
    ("X02", "0 % is best", "security side only"),
    ("X02", "fail", "cost metric"),
    ("X02", {"verdict": "pass", "reason": "ASR 0/600"}, "two more"),
    ("X02", {"verdict": "fail", "reason": "ASR 0/600"}, "security metric"),
    ("X03", 0.088, "that is one variant"),
    ("X03", 0.642, "another question"),
    ("X03", 1.76, "add up"),
    ("X04", (0.50, 0.172), "25 times 2 %"),
    ("X04", 0.50, "25 times 2 %"),
    ("X04", 0.02, "one attempt"),
    ("X05", (0.933, 0.933), "agreement"),
    ("X05", 0.933, "agreement"),
    ("X05", "no bias", "agreement"),
    ("X05", 0.08, "without its sign"),
    ("X05", (0.16, 0.24), "other order"),
    ("X06", 117 / 1200, "two suite versions"),
    ("X06", (0.0733, 0.1217), "easy and hard"),
    ("X06", "it got worse", "each stratum got better"),
    ("X06", {"verdict": "join"}, "never joined"),
    ("X07", ([p / 2 for p in P], HOLM), "one-sided"),
    ("X07", ([1.98, *P[1:]], HOLM), "larger tail"),
    ("X07", (P, [6 * P[0], *HOLM[1:]]), "Bonferroni"),
    ("X07", (P, P), "not corrected"),
    ("X07", ([round(p, 5) for p in P], HOLM), "rounding"),
    ("X08", (0.078, 0.127), "naive interval"),
    ("X08", 60, "effective n without an interval"),
    ("X08", (0.033, 0.183), "cluster bootstrap"),
    ("X09", 0.05, "nominal"),
    ("X09", 0.0352, "one look"),
    ("X09", 0.401, "not independent"),
    ("X10", (0.40, 0.40), "taken as an interval|takes ± 0"),
    ("X10", (0.286, 0.526), "pools three runs"),
    ("X10", (0.185, 0.615), "Wald"),
    ("X10", {"label": "CI"}, "has a width"),
    ("X11", {"label": "Wald"}, "Wald half-width"),
    ("X11", {"label": "CI"}, "has a width"),
    ("X11", 0.342, "macro"),
    ("X11", {"zero": 59}, "0 or 100"),
    ("X11", {"zero": 336}, "all cells"),
    ("X11", {"counts": list(range(336))}, "at least one count"),
    ("X11", (0.217, 0.248), "three runs of a case as three cases"),
    ("X11", (0.322, 0.363), "mean of the suites"),
    ("EX085", CALLS | {"alerts": 217.8}, "all alerts"),
    ("EX085", CALLS | {"ppv": 0.90}, "that is the TPR"),
    ("EX085", CALLS | {"ppv": 0.989}, "50 %"),
    ("EX085", CALLS | {"ppv": 0.9174}, "alerts that are wrong"),
    ("EX085", CALLS | {"primary": "F1"}, "hides which error"),
    ("EX085", CALLS | {"primary": "recall"}, "always alerts"),
    ("EX085", CALLS | {"primary": "something else"}, "one of"),
    ("EX086", (0.113, 0.196), "at 90 %"),
    ("EX086", (0.0963, 0.2262), "at 99 %"),
    ("EX086", (0.052, 0.360), "look at n"),
    ("EX086", (0.135, 0.166), "look at n"),
    ("EX086", (0.11, 0.21), "three decimals"),
    ("EX086", {"claims": [True, True, True, True, False, False]}, "held against the brackets"),
    ("X02", {"verdict": "fail", "reason": "attack success is 0, not task success"}, "security"),
    ("X08", (0.024, 0.176), "Wald"),
    ("X08", (0.0376, 0.2051), "Clopper-Pearson"),
    ("X10", (0.191, 0.639), "Clopper-Pearson"),
    ("X10", (0.2106, 0.6161), "Jeffreys"),
    ("LAB", {"on": 61}, "second number for all"),
    ("LAB", {"on": 48}, "that the defence turned"),
    ("LAB", {"off": 105, "on": 57, "ends": (27, 69)}, "resampled the two runs apart"),
    ("LAB", {"ends": (0.12, 0.2033)}, "give counts"),
]


@pytest.mark.parametrize(("exercise", "answer"), RIGHT)
def test_the_reference_is_accepted(exercise: str, answer: object) -> None:
    found = fnb.lab.check(exercise, answer)
    assert found.right and bool(found), str(found)


@pytest.mark.parametrize(("exercise", "answer", "named"), WRONG)
def test_a_named_mistake_is_refused_by_its_name(exercise: str, answer: object, named: str) -> None:
    found = fnb.lab.check(exercise, answer)
    assert found.state in ("wrong", "shape") and re.search(named, str(found)), str(found)


def test_every_exercise_is_tested_with_a_reference_and_two_mistakes() -> None:
    assert list(EXERCISES) == [
        "EX085",
        "EX086",
        "EX087",
        "LAB",
        *(f"X{number:02d}" for number in range(1, 12)),
    ]
    for exercise in EXERCISES:
        assert any(name == exercise for name, _ in RIGHT)
        assert sum(name == exercise for name, *_ in WRONG) >= 2


def test_the_336_counts_are_accepted_in_the_order_of_the_file() -> None:
    with fnb.data("agentdojo_tables_2510.05244.csv").open(encoding="utf-8") as lines:
        counts = [int(row["k_pooled"]) for row in csv.DictReader(lines)]
    answer = {"interval": (0.207, 0.260), "zero": 38, "counts": counts, "label": "seed SD"}
    assert str(fnb.lab.check("X11", answer)) == "✔ X11: right."
    assert fnb.lab.check("X11", answer | {"counts": [counts[0] + 1, *counts[1:]]}).state == "wrong"


@pytest.mark.parametrize("exercise", list(EXERCISES))
def test_nothing_filled_in_is_open(exercise: str) -> None:
    for nothing in (None, "", " ", [None, None], {"a": None}, ..., ()):
        assert str(fnb.lab.check(exercise, nothing)) == f"○ {exercise}: not answered yet."


class Hostile:
    """An answer that fails at whatever is asked of it."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    def __len__(self) -> int:
        raise RuntimeError("measured")

    __hash__ = None  # type: ignore[assignment]


ODD = [
    Hostile(),
    float("nan"),
    float("inf"),
    -1,
    10**400,
    "30/200",
    "<script>alert(1)</script>",
    b"bytes",
    {1, 2},
    {"nonsense": 1},
    {1: 2},
    [[1, 2], [3]],
    [True],
    [1, "a", None],
    range(3),
    np.array([[0.1, 0.2]]),
    np.float64(0.5),
    pd.Series([0.1, 0.2]),
    pd.NA,
    lambda: 0,
    True,
    1j,
    [[]],
    {"ppv": "text"},
    {"interval": {}},
    object,
    "x" * 10_000,
]


@pytest.mark.parametrize("exercise", [*EXERCISES, "X99", "", None, 7])
def test_no_answer_raises(exercise: object) -> None:
    for answer in ODD:
        found = fnb.lab.check(exercise, answer)  # type: ignore[arg-type]
        assert not found.right and found.state in ("wrong", "shape", "open", "partly")
        assert isinstance(str(found), str) and "\n" not in str(found)
        assert "<script" not in found._repr_html_()


@pytest.mark.parametrize(("exercise", "answer", "named"), WRONG)
def test_an_ordinary_wrong_answer_is_read(exercise: str, answer: object, named: str) -> None:
    """The net under the checks ("cannot be read") must not hide a fault of the check itself."""
    assert "cannot be read" not in str(fnb.lab.check(exercise, answer))


SECRET = {
    "EX085": r"0?\.0187|0?\.0826|0?\.4447|\b999\b|199\.8|19\.98|1,?018",
    "EX086": r"0?\.107|0?\.206|10\.7|20\.6",
    "EX087": r"0?\.438|0?\.44\b|0?\.98\b",
    "X01": r"0?\.0868|0?\.4897",
    "X03": r"0?\.843|0?\.84\b",
    "X04": r"0?\.396|0?\.172",
    "X05": r"0?\.24\b|0?\.16\b",
    "X06": r"0?\.01\b|0?\.005|0?\.18\b",
    "X07": r"0?\.0226|0?\.0453",
    "X08": r"0?\.047|0?\.201|0?\.046",
    "X09": r"0?\.14\d",
    "X10": r"0?\.219|0?\.613|0?\.017",
    "X11": r"0?\.207|0?\.260|\b38\b",
}


@pytest.mark.parametrize("exercise", list(SECRET))
def test_no_sentence_tells_the_answer(exercise: str) -> None:
    answers = (
        [answer for name, answer, _ in WRONG if name == exercise] + ODD + [None, 0.123, (0.1, 0.9)]
    )
    said = [str(fnb.lab.check(exercise, answer)) for answer in answers] + [
        str(fnb.lab.expected(exercise))
    ]
    assert [text for text in said if re.search(SECRET[exercise], text)] == []


def test_the_source_holds_no_answer_in_clear_text() -> None:
    import ferrite_nb.teach.lab as lab

    folder = Path(lab.__path__[0])
    declared = "".join(
        (folder / name).read_text("utf-8") for name in ("exercises.toml", "references.py")
    )
    secrets = (
        "0.107",
        "0.0868",
        "0.843",
        "0.396",
        "0.172",
        "0.143",
        "0.219",
        "0.217",
        "0.047",
        "0.24",
        "0.018",
        "38",
    )
    assert [
        secret for secret in secrets if re.search(rf"(?<![\w.]){re.escape(secret)}(?!\w)", declared)
    ] == []
    for sealed in ("overstates", "new_series", "seed_sd", "false_refusal", "task_success"):
        assert f'"{sealed}"' not in declared


def test_checks_need_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a check opened a socket")

    monkeypatch.setattr(socket, "socket", refused)
    for exercise, answer in RIGHT:
        fnb.lab.check(exercise, answer)


def test_shapes_that_learners_use() -> None:
    check = fnb.lab.check
    assert check("ex086", np.array([0.107, 0.206])).right
    assert check("EX086", pd.Series([0.107, 0.206])).right
    assert check("X01", np.float64(0.0868)).right
    assert check("X01", [0.0868]).right
    assert check("X07", np.array([P, HOLM])).right
    assert check("X07", [*P, *HOLM]).right
    assert check(
        "EX085",
        {"PPV": 0.0826, "alerts_per_day": 199.8, "Primary": "tpr_at_fpr", "cost": "latency"},
    ).right
    assert (
        str(check("EX085", 0.0826))
        == "◐ EX085: right so far: ppv; still open: alerts, primary, cost."
    )
    assert str(check("EX086", [(0.107, 0.206), CLAIMS])) == "✔ EX086: right."
    assert "there is no part 'pvp'" in str(check("EX085", {"pvp": 1}))
    assert "not 3 numbers" in str(check("EX086", (0.1, 0.2, 0.3)))


def test_feedback_shows_one_sentence_and_no_meaning_by_colour() -> None:
    found = fnb.lab.check("EX086", (0.107, 0.206))
    assert repr(found) == str(found) == "✔ EX086: right: interval; may be added: claims."
    assert (
        found._repr_html_()
        == '<p class="ferrite-lab">✔ EX086: right: interval; may be added: claims.</p>'
    )


def test_progress_says_what_is_right_and_what_is_open() -> None:
    fnb.lab.check("X01", 0.0868)
    fnb.lab.check("X03", 0.088)
    fnb.lab.check("X04", None)
    assert (
        str(fnb.lab.progress("X01", "X03", "X04"))
        == "1 of 3 right; still open: X03 (not right yet), X04 (not answered)."
    )
    assert str(fnb.lab.progress("X01")) == "1 of 1 right."


def test_expected_names_the_parts() -> None:
    assert str(fnb.lab.expected("EX086")).startswith(
        "Expected is interval: two proportions, low and high, with three decimals; claims: six"
    )
    assert "EX085" in str(fnb.lab.expected("nothing"))


NUMBERS = [
    part
    for name in EXERCISES
    if (one := exercises(name))
    for part in one.parts
    if part.kind == "numbers"
]
TOLERANCES = {
    "EX085 ppv": 0.0005,
    "EX085 alerts": 1,
    "EX086 interval": 0.0005,
    "X01 ppv": 0.0005,
    "X03 chance": 0.01,
    "X04 within": 0.005,
    "X05 reductions": 0.001,
    "X06 rates": 0.0005,
    "X07 p": 1e-6,
    "X07 holm": 1e-6,
    "X08 interval": 0.002,
    "X09 chance": 0.005,
    "X10 interval": 0.0005,
    "X10 spread": 0.0005,
}
every_number = pytest.mark.parametrize(
    "part", NUMBERS, ids=[f"{part.exercise} {part.name}" for part in NUMBERS]
)


@every_number
def test_each_number_is_held_to_its_tolerance(part: Part) -> None:
    tolerance = TOLERANCES.get(f"{part.exercise} {part.name}", part.tolerance)
    rights = part.alternatives(part.value)
    for right in rights:
        for place in range(len(right)):
            for step, accepted in ((0.9, True), (-0.9, True), (1.5, False), (-1.5, False)):
                moved = [*right]
                moved[place] += step * tolerance
                others = [one for one in rights if one != right]
                if any(abs(moved[place] - one[place]) <= tolerance for one in others):
                    continue  # near another right answer
                assert (part.judge(moved).state == "right") is accepted, (right, moved)


@every_number
def test_every_named_mistake_is_refused_by_its_name(part: Part) -> None:
    for written, why in part.mistakes:
        for wrong in part.alternatives(written):
            verdict = part.judge(wrong)
            assert verdict.state != "right"
            if len(wrong) == part.length():
                same = [said for one, said in part.mistakes if wrong in part.alternatives(one)]
                assert verdict.state == "wrong" and why in same and verdict.why in same


@every_number
def test_every_mistake_that_is_named_exists(part: Part) -> None:
    rules = ("above one", "rounded")
    assert [
        one for one, _ in part.mistakes if one not in rules and not part.alternatives(one)
    ] == []


NAMES = ["Ada", "Grace", "Wei", "Zoë", "李", "a b", "x" * 50]


@pytest.mark.parametrize("name", NAMES)
def test_each_learner_has_their_own_counts(name: str) -> None:
    own = [fnb.lab.counts(exercise, name) for exercise in EXERCISES]
    assert own != [fnb.lab.counts(exercise) for exercise in EXERCISES]
    assert own == [fnb.lab.counts(exercise, f" {name.upper()} ") for exercise in EXERCISES]


@pytest.mark.parametrize("name", NAMES[:4])
def test_the_reference_of_ones_own_counts_is_accepted_and_no_mistake_is(name: str) -> None:
    for exercise in EXERCISES:
        one = exercises(exercise, name)
        assert one is not None
        for part in one.parts:
            if part.kind != "numbers":
                continue
            for right in part.alternatives(part.value):
                assert part.judge(right).state == "right"


def test_ones_own_interval_is_that_of_another_program() -> None:
    own = fnb.lab.counts("EX086", "Ada")
    answer = proportion_confint(own["k"], own["n"], method="wilson")
    assert fnb.lab.check("EX086", answer, name="Ada").right
    assert not fnb.lab.check("EX086", (0.107, 0.206), name="Ada").right


def test_answers_are_collected_in_a_file(tmp_path: Path) -> None:
    fnb.lab.check("X01", 0.0868)
    fnb.lab.check("X03", 0.088)
    fnb.lab.predict("07", 0.5, 0.1)
    said = fnb.lab.collect(tmp_path / "answers.json", name="Ada", EX087="People label blind.")
    record = json.loads((tmp_path / "answers.json").read_text("utf-8"))
    assert record["answers"]["X01"]["state"] == "right"
    assert record["answers"]["X03"]["state"] == "wrong"
    assert record["texts"] == {"EX087": "People label blind."}
    assert "07" in {one["question"] for one in record["guesses"]}
    assert "answers.json" in str(said)
