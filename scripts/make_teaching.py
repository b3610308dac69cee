"""The synthetic tables of data/: exercises, a detector, attempts, releases and gates, by rule or by
seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import NormalDist

from scipy.stats import beta

Row = dict[str, object]
Table = tuple[Sequence[str], list[Row]]


def with_errors() -> Table:
    """Ten attacks (2 successes, 5 failures, 3 errors) and five normal tasks: a denominator must be
    chosen.
    """
    verdicts: list[tuple[object, object]] = [*[(True, None)] * 2, *[(False, None)] * 5]
    verdicts += [
        (False, "timeout"),
        (None, "connection lost"),
        (True, "rate limit"),
    ]  # an error beats an outcome
    rows: list[Row] = [
        {"case_id": f"{number:03d}", "kind": "attack", "attack_success": hit, "error": error}
        for number, (hit, error) in enumerate(verdicts, 1)
    ]
    rows += [
        {"case_id": f"{number:03d}", "kind": "benign", "gated": number == 11}
        for number in range(11, 16)
    ]
    columns = ("case_id", "mode", "kind", "attack_success", "gated", "error")
    return columns, [{**row, "mode": "On"} for row in rows]


def judge_bias() -> Table:
    """A judge that agrees in 70 of 75 items under both conditions, yet misses more when
    defended.
    """
    cells = {
        "base": (24, 3, 2, 46),
        "defended": (9, 0, 5, 61),
    }  # TP, FP, FN, TN; the human label is the reference
    rows: list[Row] = []
    for condition, (tp, fp, fn, tn) in cells.items():
        pairs = (
            [(True, True)] * tp
            + [(False, True)] * fp
            + [(True, False)] * fn
            + [(False, False)] * tn
        )
        rows += [
            {
                "item": f"{condition}_{number:02d}",
                "condition": condition,
                "human": human,
                "judge": judge,
            }
            for number, (human, judge) in enumerate(pairs, 1)
        ]
    return ("item", "condition", "human", "judge"), rows


def pairs_x07() -> Table:
    """Discordant counts of six pairs of modes: the input of an exercise on many tests."""
    cells = (
        ("Off", "SanitizerOnly", 18, 6),
        ("Off", "LoopOnly", 40, 2),
        ("Off", "On", 44, 1),
        ("SanitizerOnly", "LoopOnly", 25, 9),
        ("SanitizerOnly", "On", 30, 4),
        ("LoopOnly", "On", 7, 2),
    )
    columns = ("mode_a", "mode_b", "b", "c")
    return columns, [dict(zip(columns, cell, strict=True)) for cell in cells]


def clusters_x08() -> Table:
    """600 attacks made from 60 templates of 10; six templates are wholly broken, the others
    hold.
    """
    rows: list[Row] = [
        {
            "case_id": f"t{template:02d}_{variant}",
            "mode": "On",
            "kind": "attack",
            "template": f"template_{template:02d}",
            "attack_success": template % 10 == 3,
        }
        for template in range(60)
        for variant in range(10)
    ]
    return ("case_id", "mode", "kind", "template", "attack_success"), rows


def detector_scores(
    *, genuine: int = 5000, fake: int = 400, shift: float = 3.6, seed: int = 29
) -> Table:
    """Scores of a simulated detector of cloned voices, with a known truth.

    Before rounding the score is logistic(x - shift/2), with x normal (mean 0 for genuine, `shift`
    for fake calls, sd 1). The true AUC is Phi(shift / sqrt 2); the true rate of detection at a
    false-alarm rate f is Phi(shift - z(1 - f)).
    """
    stream = random.Random(seed)
    labels = ["genuine"] * genuine + ["fake"] * fake
    rows: list[Row] = []
    for number, label in enumerate(labels, 1):
        x = NormalDist(shift if label == "fake" else 0.0).inv_cdf(stream.random())
        rows.append(
            {
                "id": f"call_{number:04d}",
                "score": f"{1 / (1 + math.exp(shift / 2 - x)):.3f}",
                "label": label,
            }
        )
    return ("id", "score", "label"), rows


# The first seeds whose draws have exactly the expected counts: 5 successes in 250 first attempts,
# 125 in all 6,250, and 99 (alike) or 43 (varied) cases that fall within 25 attempts.
ATTEMPT_SEEDS = {"alike": 1052, "varied": 816}


def attempt_draws(
    mode: str, seed: int, *, cases: int = 250, attempts: int = 25
) -> list[list[bool]]:
    """Attempts of one attacker: rate .02 for every case (alike) or a Beta(.1, 4.9) rate per case
    (varied).
    """
    stream = random.Random(seed)
    places = [(case + 0.5) / cases for case in range(cases)]
    rates = (
        [0.02] * cases
        if mode == "alike"
        else [float(beta.ppf(place, 0.1, 4.9)) for place in places]
    )
    return [[stream.random() < rate for _ in range(attempts)] for rate in rates]


def attempts() -> Table:
    """250 cases, 25 attempts each, with the same mean rate and two ways to spread it over the
    cases.
    """
    rows: list[Row] = []
    for mode, seed in ATTEMPT_SEEDS.items():
        for case, hits in enumerate(attempt_draws(mode, seed), 1):
            rows += [
                {
                    "case_id": f"{mode}/{case:03d}",
                    "mode": mode,
                    "repeat": repeat,
                    "kind": "attack",
                    "attack_success": hit,
                }
                for repeat, hit in enumerate(hits, 1)
            ]
    return ("case_id", "mode", "repeat", "kind", "attack_success"), rows


# release, suite, judge, successes of the easy and the hard attacks, normal tasks done and stopped
# (of 300). Suite v1 has 400 easy and 200 hard attacks, v2 200 and 400. "1.5 bridge" is release 1.5
# on suite v2.
RELEASES = (
    ("1.0", "v1", "judge 1", 14, 62, 279, 15),
    ("1.1", "v1", "judge 1", 12, 58, 281, 14),
    ("1.2", "v1", "judge 1", 9, 51, 282, 14),
    ("1.3", "v1", "judge 1", 9, 49, 280, 15),
    ("1.4", "v1", "judge 2", 6, 44, 284, 11),
    ("1.5", "v1", "judge 2", 4, 40, 286, 10),
    ("1.5 bridge", "v2", "judge 2", 2, 80, 285, 10),
    ("1.6", "v2", "judge 2", 1, 72, 287, 9),
    ("1.7", "v2", "judge 2", 1, 66, 288, 9),
    ("1.8", "v2", "judge 2", 4, 104, 289, 7),
    ("1.9", "v2", "judge 2", 1, 63, 287, 9),
)
SUITES = {"v1": {"easy": 400, "hard": 200}, "v2": {"easy": 200, "hard": 400}}


def releases() -> Table:
    """A made release history as counts (column `rows`): a new suite, a new judge, one setback."""
    rows: list[Row] = []
    for release, suite, judge, easy, hard, done, stopped in RELEASES:
        shared: Row = {
            "release": release,
            "suite_version": suite,
            "judge_version": judge,
            "mode": "On",
        }
        for difficulty, k in (("easy", easy), ("hard", hard)):
            for hit, times in ((True, k), (False, SUITES[suite][difficulty] - k)):
                rows.append(
                    {
                        **shared,
                        "kind": "attack",
                        "difficulty": difficulty,
                        "attack_success": hit,
                        "rows": times,
                    }
                )
        cells = ((True, False, done), (False, True, stopped), (False, False, 300 - done - stopped))
        rows += [
            {**shared, "kind": "benign", "task_success": ok, "gated": no, "rows": times}
            for ok, no, times in cells
        ]
    columns = (
        "release",
        "suite_version",
        "judge_version",
        "mode",
        "kind",
        "difficulty",
        "attack_success",
        "task_success",
        "gated",
        "rows",
    )
    return columns, rows


# attacks, proposed, executed; everyday tasks, stopped; work tasks, done.
GATES = {
    "pass": (600, 3, 0, 600, 12, 300, 288),
    "fail": (600, 21, 2, 600, 18, 300, 285),
    "cannot_tell": (60, 0, 0, 60, 1, 30, 29),
    "borderline": (600, 12, 0, 600, 21, 300, 279),
    "refuser": (600, 0, 0, 600, 600, 300, 0),
}


def gate(name: str) -> Table:
    """Outcomes of one release for requirements.toml, as counts: attacks, everyday tasks and work
    tasks.
    """
    attacks, proposed, executed, everyday, stopped, work, done = GATES[name]
    cells: list[Row] = [
        {
            "kind": "attack",
            "suite": "attacks",
            "attempted": True,
            "attack_success": True,
            "blocked": False,
            "rows": executed,
        },
        {
            "kind": "attack",
            "suite": "attacks",
            "attempted": True,
            "attack_success": False,
            "blocked": True,
            "rows": proposed - executed,
        },
        {
            "kind": "attack",
            "suite": "attacks",
            "attempted": False,
            "attack_success": False,
            "blocked": False,
            "rows": attacks - proposed,
        },
        {"kind": "benign", "suite": "everyday tasks", "gated": True, "rows": stopped},
        {"kind": "benign", "suite": "everyday tasks", "gated": False, "rows": everyday - stopped},
        {"kind": "benign", "suite": "work tasks", "task_success": True, "rows": done},
        {"kind": "benign", "suite": "work tasks", "task_success": False, "rows": work - done},
    ]
    shared: Row = {"mode": "guard", "suite_version": "2026.1"}
    rows = [
        {**shared, **cell, "measurable": cell["kind"] == "attack" or None}
        for cell in cells
        if cell["rows"]
    ]
    columns = (
        "mode",
        "kind",
        "suite",
        "measurable",
        "attempted",
        "attack_success",
        "blocked",
        "gated",
        "task_success",
        "suite_version",
        "rows",
    )
    return columns, rows


def teaching_tables() -> dict[str, Table]:
    """Every table of this module by its file name."""
    return {
        "outcomes_with_errors.csv": with_errors(),
        "judge_bias.csv": judge_bias(),
        "pairs_x07.csv": pairs_x07(),
        "clusters_x08.csv": clusters_x08(),
        "detector_scores.csv": detector_scores(),
        "attempts.csv": attempts(),
        "releases.csv": releases(),
        **{f"gate_{name}.csv": gate(name) for name in GATES},
    }
