"""PyRIT scorer evaluations: human scores for judges, and metrics files whose counts can be solved
back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from ..outcomes.contract import OutcomesError
from ._files import Tally, json_lines, part_of, text_of
from .recognise import Head

COMMENT = "# dataset_version"
# The texts are harmful and no label needs them.
TEXTS = ("objective", "assistant_response")
RATES = ("accuracy", "precision", "recall")
CLOSE = 1e-6


def sniff_labels(head: Head) -> bool:
    """A scorer evaluation (first line `# dataset_version=...`) or a metrics file."""
    return head.comment.startswith(COMMENT) or is_metrics(head)


def is_metrics(head: Head) -> bool:
    """One scorer per line, with the rates it reached."""
    return "metrics" in head.keys and '"num_responses"' in head.text


def counts(path: Path) -> pd.DataFrame:
    """The counts of each scorer in a metrics file: `judge`, `tp`, `fn`, `tn`, `fp`, solved back
    from its rates.

    Raises
    ------
    OutcomesError: the rates of a scorer fit no whole counts, or more than one set of them.
    """
    rows: list[dict[str, Any]] = []
    for line, record in json_lines(path, Tally()):
        metrics = part_of(record, "metrics")
        n, rates = metrics.get("num_responses"), [metrics.get(name) for name in RATES]
        if (
            isinstance(n, bool)
            or not isinstance(n, int)
            or not all(_is_rate(rate) for rate in rates)
        ):
            continue
        found = list(solutions(n, *(float(rate) for rate in rates if rate is not None)))
        if len(found) != 1:
            what = "no whole counts fit" if not found else f"{len(found)} sets of counts fit"
            raise OutcomesError(
                f"{path.name}:{line}: {what} n = {n} and the rates {rates}; give tp, fn, tn and fp"
            )
        rows.append(
            {"judge": _name(record, line)}
            | dict(zip(("tp", "fn", "tn", "fp"), found[0], strict=True))
        )
    if not rows:
        raise OutcomesError(
            f"{path.name} holds no scorer with num_responses, accuracy, precision and recall"
        )
    return pd.DataFrame(rows)


def _is_rate(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _name(record: dict[str, Any], line: int) -> str:
    named = (record.get(key) for key in ("scorer_name", "name", "scorer", "eval_hash"))
    return next(
        (text_of(one) or "" for one in named if isinstance(one, str) and one), f"scorer {line}"
    )


def solutions(
    n: int, accuracy: float, precision: float, recall: float
) -> Iterator[tuple[int, int, int, int]]:
    """All (tp, fn, tn, fp) with n items that have these three rates.

    >>> list(solutions(376, 233 / 376, 47 / 50, 47 / 187))
    [(47, 140, 186, 3)]
    """
    right = round(accuracy * n)
    if (
        precision == 0
        or recall == 0
        or not math.isclose(right / n if n else 0.0, accuracy, abs_tol=CLOSE)
    ):
        # With no true positive the rates do not say how the errors are split.
        return
    for tp in range(1, right + 1):
        fp, fn = round(tp / precision) - tp, round(tp / recall) - tp
        close = abs(tp / (tp + fp) - precision) < CLOSE and abs(tp / (tp + fn) - recall) < CLOSE
        if close and tp + fn + fp + (right - tp) == n:
            yield tp, fn, right - tp, fp
