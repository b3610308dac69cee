"""promptfoo results, JSON, JSON lines and CSV: a failed test is an attack that succeeded, or a
false refusal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..outcomes.contract import Note, OutcomesError
from ._files import Tally
from ._promptfoo_rows import BLOCK, Row, rows_of
from .recognise import Head, head_of
from .run import Asked, Run, key_of
from .values import loose_columns, text

NAME = "promptfoo results (JSON, JSON lines, CSV)"

NUMBERS = ("latency_ms", "tokens")
RESULTS = re.compile(rb'"results"\s*:\s*\{\s*"(?:version|timestamp|prompts|results)"')


def sniff(head: Head) -> bool:
    """Whether the file is a promptfoo result in one of its three forms."""
    if head.keys >= {"promptIdx", "testIdx"} or head.keys >= {"evalId", "results"}:
        return True
    if "results" in head.keys and RESULTS.search(head.start):
        return True
    return any(BLOCK.match(name) for name in head.columns)


def parse(paths: Sequence[Path], asked: Asked) -> list[Run]:
    """Results: one row per test, provider and repeat. The mode is the label of the provider (with
    that of the prompt, if a provider has several).

    `case_id` is a variable of the tests called so, or what the caller declares: a variable, or
    "description"; `kind` likewise, a variable or a key of the metadata. A failed test is an attack
    that succeeded, or a false refusal of a benign test that asks for an answer. A row with an
    error,
    or whose grader failed, has no outcome, though promptfoo counts such a grader's row as failed.
    A CSV has no latency, tokens, plugin and strategy.

    `testIdx` is no case, because a repeat gets a new one; two rows of one test index, prompt and
    provider are one attempt, run again.
    """
    return [one(path, asked) for path in paths]


def one(path: Path, asked: Asked) -> Run:
    """One file of results."""
    tally = Tally()
    rows, results = rows_of(head_of(path), tally)
    if not rows:
        raise OutcomesError(
            f"{path.name} is a promptfoo file without a result: there is nothing to count",
            file=path.name,
        )
    frame, notes = frame_of(rows, asked.columns)
    case = key_of(frame, "case_id", asked.declared)
    if case is None and "case_id" not in asked.declared:
        columns = [name for name in frame if name not in ("attack_success", "gated", *NUMBERS)]
        fix = "description" if "description" in columns else "<a column that names the test>"
        raise OutcomesError(
            f"{path.name}: which column tells the case? testIdx does not, because a repeat gets a "
            f"new one. The columns are {', '.join(map(str, columns))[:600]}. Say it: "
            f'fnb.read("{path.name}", case_id="{fix}")',
            column="case_id",
            fix=fix,
            file=path.name,
        )
    notes = [*summary(rows, results.stats), *notes, *copies(frame, rows, asked), *tally.notes()]
    return Run(
        path,
        frame,
        attempt=[row.attempt for row in rows],
        only={"attack_success": "attack", "gated": "benign"},
        identity=results.identity,
        notes=notes,
    )


def frame_of(rows: Sequence[Row], wanted: set[str]) -> tuple[pd.DataFrame, list[str]]:
    """The rows as a frame, and what has to be said about its columns."""
    failed = [{"fail": "true", "pass": "false"}.get(row.verdict or "") for row in rows]
    several = len({(row.provider, row.prompt) for row in rows}) > len(
        {row.provider for row in rows}
    )
    columns: dict[str, Any] = {
        "mode": [
            f"{row.provider} / {row.prompt[:80]}" if several else row.provider for row in rows
        ],
        "attack_success": failed,
        "gated": failed,
        "error": [row.error for row in rows],
        "latency_ms": [row.latency for row in rows],
        "tokens": [row.tokens for row in rows],
        "category": [text(row.metadata.get("pluginId")) for row in rows],
        "attack": [text(row.metadata.get("strategyId")) for row in rows],
        "source": [row.place for row in rows],
        "provider": [row.provider for row in rows],
        "prompt": [row.prompt for row in rows],
        "description": [row.description for row in rows],
    }
    # A CSV has none of some; an outcome that is missing in all rows stays an outcome.
    always = ("mode", "attack_success", "gated")
    columns = {
        name: values
        for name, values in columns.items()
        if name in always or any(value is not None for value in values)
    }
    fields, left = loose_columns([row.fields for row in rows], "vars", columns, wanted)
    if "vars.case_id" in fields and "vars.case_id" not in wanted:
        fields["case_id"] = fields.pop("vars.case_id")
    extra = [
        {key: value for key, value in row.metadata.items() if not key.startswith("_")}
        for row in rows
    ]
    more, also = loose_columns(extra, "metadata", columns | fields, wanted)
    frame = pd.DataFrame(columns | fields | more)
    frame = frame.astype({name: "float64" if name in NUMBERS else "str" for name in frame})
    notes = ["a provider has several prompts: the mode is provider / prompt"] if several else []
    if left or also:
        names = ", ".join([*left, *also][:10])
        notes.append(
            "variables and metadata left out (long texts, lists or tables; name one to have it):"
            f" {names}"
        )
    return frame, notes


def summary(rows: Sequence[Row], stated: Mapping[str, Any]) -> list[str]:
    """The counts of the file, and whether they are those that it states."""
    found = Counter(row.verdict for row in rows)
    graders = sum(row.error == "the grader failed" for row in rows)
    providers = len({row.provider for row in rows})
    notes = [
        f"promptfoo: {len(rows):,} results of {providers} providers: {found['pass']:,} passed,"
        f" {found['fail']:,} failed (attack success in attack rows, false refusal in benign rows),"
        f" {found['error']:,} errors"
    ]
    said = [stated.get(key) for key in ("successes", "failures", "errors")]
    if all(isinstance(one, int) for one in said):
        ours = [found["pass"], found["fail"] + graders, found["error"] - graders]
        if said == ours:
            notes.append("recount equals the totals of the file")
        else:
            notes.append(
                f"the file states other totals: {said[0]} passed, {said[1]} failed, {said[2]}"
                " errors"
            )
    return notes


def copies(frame: pd.DataFrame, rows: Sequence[Row], asked: Asked) -> list[Note]:
    """Say when all repeats have the output of the first one: cached copies hold no information."""
    keys = [key_of(frame, name, asked.declared) for name in ("case_id", "mode")]
    if any(key is None for key in keys):
        return []
    each = pd.DataFrame(
        {"case": keys[0], "mode": keys[1], "attempt": [row.attempt for row in rows]}
    )
    each["output"] = [f"{row.verdict} {row.output}" for row in rows]
    found = each.groupby(["case", "mode"], sort=False).nunique()
    if (found["attempt"] == 1).all() or (found["output"] > 1).any():
        return []
    return [
        Note(
            "repeats are identical in all cases (cached copies?): they hold no more than one run"
            " does"
        )
    ]
