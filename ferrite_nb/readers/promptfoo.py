"""promptfoo results, JSON, JSON lines and CSV: a failed test is an attack that succeeded, or a
false refusal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..outcomes.contract import Const, Words
from ..outcomes.table import Outcomes, OutcomesError, outcomes
from ._files import Tally
from ._harness import columns_named, loose_columns, text, together, without_constants
from ._promptfoo_rows import BLOCK, Row, rows_of
from .recognise import Head, head_of

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


def read(paths: Sequence[Path], *, named: str | None = None, **declared: Any) -> Outcomes:
    """The outcomes of promptfoo results: one row per test, provider and repeat.

    Parameters
    ----------
    declared: `case_id` is a variable of the tests, or "description"; a variable called `case_id`
        needs no declaration. `kind` is a variable or a key of the metadata with the words attack
        and benign (others: `fnb.words`); one called `kind` needs no declaration, and without it
        every row is an attack. `mode` is the label of the provider (with the label of the prompt,
        if a provider has several); "provider", "prompt", "description", and every short variable
        and metadata key are columns to choose from.

    Returns
    -------
    Outcomes with `case_id`, `mode`, `repeat` (order within case and mode), `attack_success` (attack
    rows: a failed assertion), `gated` (benign rows: a failed assertion), `error`, `latency_ms`,
        `tokens`, `category` (plugin) and
    `attack` (strategy). A CSV has no latency, tokens, plugin and strategy.

    Not computable when
    -------------------
    A row with an error, or whose grader failed, is a missing outcome: promptfoo counts such a
        grader's row as failed.

    Raises
    ------
    OutcomesError: no result in the file; no case id (the message lists the columns and the line to
        type).

    Notes
    -----
    `testIdx` is no case, because a repeat gets a new one. A failed benign test is a false refusal
    only if the test asks for an answer. A pass rate is passes of passes and failures; errors stand
    apart.
    """
    parts = []
    for path in paths:
        tally = Tally()
        rows, stated = rows_of(head_of(path), tally)
        if not rows:
            raise OutcomesError(
                f"{path.name} is a promptfoo file without a result: there is nothing to count"
            )
        frame, notes = frame_of(rows, columns_named(declared))
        frame = with_repeats(frame, path.name, declared)
        notes = [*summary(rows, stated), *notes, *copies(frame, rows, declared), *tally.notes()]
        part = outcomes(
            without_constants(frame, declared), read_from=path.name, notes=notes, **declared
        )
        parts.append(by_kind(part, declared))
    return together(parts, paths, named, declared)


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
    if "vars.case_id" in fields and "case_id" not in wanted:
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
            f"variables and metadata left out (long texts, lists or tables; name one to have it): {names}"
        )
    return frame, notes


def key_of(frame: pd.DataFrame, name: str, declared: Mapping[str, Any]) -> pd.Series | None:
    """A key as the declarations will make it; None where there is no such column."""
    what = declared.get(name, name)
    if isinstance(what, Const):
        return pd.Series(str(what.value), index=frame.index)
    parts = (
        [what.column]
        if isinstance(what, Words)
        else [what]
        if isinstance(what, str)
        else list(what)
    )
    if any(part not in frame for part in parts):
        return None
    made: pd.Series = frame[parts[0]]
    for part in parts[1:]:
        made = made + "/" + frame[part]
    return made


def with_repeats(frame: pd.DataFrame, name: str, declared: Mapping[str, Any]) -> pd.DataFrame:
    """The frame with the order of each row within its case and mode as the repeat."""
    case, mode = key_of(frame, "case_id", declared), key_of(frame, "mode", declared)
    if case is None and "case_id" not in declared:
        columns = ", ".join(
            str(column) for column in frame if column not in ("attack_success", "gated", *NUMBERS)
        )
        raise OutcomesError(
            f"{name}: which column tells the case? testIdx does not, because a repeat gets a new one. The columns are "
            f'{columns[:600]}. Say it: fnb.read("{name}", case_id="description")'
        )
    if case is None or mode is None or "repeat" in declared:
        return frame
    order = frame.groupby([case, mode], sort=False, dropna=False).cumcount() + 1
    return frame.assign(repeat=order.astype(str))


def by_kind(part: Outcomes, declared: Mapping[str, Any]) -> Outcomes:
    """A failed test is an attack's success in attack rows only, and a false refusal in benign rows
    only.
    """
    frame = part.frame.copy()
    for flag, kind in (("attack_success", "attack"), ("gated", "benign")):
        if flag in frame and flag not in declared:
            frame[flag] = frame[flag].mask(frame["kind"] != kind)
    if "gated" in frame and "gated" not in declared and not (frame["kind"] == "benign").any():
        frame = frame.drop(columns="gated")
    return replace(part, frame=frame)


def summary(rows: Sequence[Row], stated: Mapping[str, Any]) -> list[str]:
    """The counts of the file, and whether they are those that it states."""
    found = Counter(row.verdict for row in rows)
    graders = sum(row.error == "the grader failed" for row in rows)
    providers = len({row.provider for row in rows})
    notes = [
        f"promptfoo: {len(rows):,} results of {providers} providers: {found['pass']:,} passed, {found['fail']:,} failed"
        f" (attack success in attack rows, false refusal in benign rows), {found['error']:,} errors"
    ]
    said = [stated.get(key) for key in ("successes", "failures", "errors")]
    if all(isinstance(one, int) for one in said):
        ours = [found["pass"], found["fail"] + graders, found["error"] - graders]
        if said == ours:
            notes.append("recount equals the totals of the file")
        else:
            notes.append(
                f"the file states other totals: {said[0]} passed, {said[1]} failed, {said[2]} errors"
            )
    return notes


def copies(frame: pd.DataFrame, rows: Sequence[Row], declared: Mapping[str, Any]) -> list[str]:
    """Say when all repeats have the output of the first one: cached copies hold no information."""
    if "repeat" not in frame or not (frame["repeat"] != "1").any():
        return []
    keys = [
        key
        for key in (key_of(frame, name, declared) for name in ("case_id", "mode"))
        if key is not None
    ]
    output = pd.Series([f"{row.verdict} {row.output}" for row in rows], index=frame.index)
    different = output.groupby(keys, sort=False, dropna=False).nunique()
    if (different == 1).all():
        return [
            "repeats are identical in all cases (cached copies?): they hold no more than one run does"
        ]
    return []
