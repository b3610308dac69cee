"""Reference values from other programs, and the one comparison that all tests against them use.

Each file in `reference/` is a list of cases: a routine of `ferrite_nb.stats`, its inputs, the
expected fields, the tolerance, and the source of the numbers (R packages, mpmath, exact arithmetic,
papers). NaN, Inf and -Inf are text in these files. The field "value" is the result itself or its
field `value`; "error" is the exception to raise.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, is_dataclass
from pathlib import Path

import numpy as np
import pytest

from ferrite_nb import stats

FOLDER = Path(__file__).with_name("reference")
WORDS = {"NaN": math.nan, "Inf": math.inf, "-Inf": -math.inf}
ERRORS = {"ValueError": ValueError, "TypeError": TypeError}


def load(name, *routines):
    """The cases of one file as pytest parameters; with routines named, only theirs."""
    cases = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    chosen = [case for case in cases if not routines or case["routine"] in routines]
    assert chosen, f"no case of {routines} in {name}.json"
    return [
        pytest.param(case, id=f"{case['routine']}-{place}") for place, case in enumerate(chosen)
    ]


def plain(value):
    """Turn the words NaN, Inf and -Inf into numbers, inside lists too."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return WORDS.get(value, value) if isinstance(value, str) else value


def agrees(case):
    """Call the routine of a case and compare every expected field within the tolerance."""
    routine = getattr(stats, case["routine"])
    inputs, expected = plain(case["inputs"]), plain(case["expected"])
    if "error" in expected:
        with pytest.raises(ERRORS[expected["error"]]):
            routine(**inputs)
        return
    result = routine(**inputs)
    fields = asdict(result) if is_dataclass(result) else {"value": result}
    assert expected, "a case without expected fields compares nothing"
    for field, value in expected.items():
        compare(fields[field], value, case["tolerance"], f"{case['routine']}({inputs}).{field}")


def compare(actual, expected, tolerance, what):
    """Numbers within the tolerance (NaN equals NaN), anything else equal."""
    if isinstance(expected, list):
        assert len(actual) == len(expected), what
        for place, (one, other) in enumerate(zip(actual, expected, strict=True)):
            compare(one, other, tolerance, f"{what}[{place}]")
    elif isinstance(expected, bool | str) or expected is None:
        assert actual is expected or actual == expected, f"{what}: {actual} is not {expected}"
        assert isinstance(actual, bool | np.bool_) == isinstance(expected, bool), (
            f"{what}: {actual!r}"
        )
    else:
        assert not isinstance(actual, str | bool | None), f"{what}: {actual!r} is no number"
        close = pytest.approx(
            expected, abs=tolerance.get("abs", 0), rel=tolerance.get("rel", 0), nan_ok=True
        )
        assert actual == close, f"{what}: {actual} is not {expected} ({case_tolerance(tolerance)})"


def case_tolerance(tolerance):
    """The tolerance as text for a message."""
    return ", ".join(f"{kind} {size:g}" for kind, size in tolerance.items())


def caught(monkeypatch, name, mutant):
    """Whether some case of the file fails when `mutant` stands in for its routine: the cases can
    tell the two apart.
    """
    monkeypatch.setattr(stats, mutant.__name__, mutant)
    for parameter in load(name, mutant.__name__):
        try:
            agrees(parameter.values[0])
        except AssertionError:
            return True
    return False
