"""Ferrite, live runs: the append-only results JSONL (the last line of a run counts), or the counts
of report.csv.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..outcomes.contract import OutcomesError
from ..outcomes.declare import some
from ._files import Tally, frame_of, json_lines, part_of, progress, text_of
from .recognise import Head, head_of, holds
from .run import Asked, Run
from .table import text_frame

NAME = "Ferrite live run (results JSONL, report.csv)"
SCHEMA = 1
REPORT = ("group", "section", "mode", "key", "metric", "k", "n", "ci_low", "ci_high", "note")
SETTINGS = ("provider", "main_model", "small_model", "agent", "predictor", "config_hash")
TRUTHS = ("deviation", "origin_shift", "residual", "none")
GUARDED = {"guard", "full"}
Record = tuple[str, dict[str, Any]]


def sniff(head: Head) -> bool:
    """Lines with a run_key, an outcome and a schema number; or the long table of the report."""
    return holds(head, ("run_key", "schema", "case_id")) or set(REPORT) <= set(head.columns)


def parse(paths: Sequence[Path], asked: Asked) -> list[Run]:
    """Live results files; several files are one store, in which the later run of a key
    counts.

    Notes
    -----
    `task_completed` only says that a final answer was given: it is `final_answer`, and
        `task_success` stays missing.
    Runs of different models or settings never mix: each such group has its own suite version.
    """
    tally = Tally()
    results = [path for path in sorted(paths) if head_of(path).json_start]
    if not results:
        return [_report(paths)]
    for path in sorted(set(paths) - set(results)):
        tally.add("files of counts beside the results, not read", path.name)
    records = _latest(results, tally)
    if not records:
        raise OutcomesError(
            f"{some([path.name for path in results], 4)} holds no run of schema {SCHEMA};"
            f" {'; '.join(tally.notes())}"
        )
    groups = list(dict.fromkeys(_group(record) for _, record in records))
    frame = frame_of([_row(place, record) for place, record in records])
    frame = pd.concat([frame, _predictions(records)], axis=1)
    _measurable(frame, tally)
    if len(groups) > 1:
        labels = [_group(record) for _, record in records]
        frame["group"] = frame["suite_version"] = labels
        frame["case_id"] = frame["group"] + " / " + frame["case_id"]
        tally.add(
            'groups of models and settings, which never mix; choose with where(group="...")',
            times=len(groups),
        )
    for place, record in records:
        if record.get("provider") == "mock":
            tally.add("runs of the provider mock, which measure no model", place)
        if record.get("ground_truth") not in TRUTHS:
            tally.add(
                f"runs with the unknown ground truth {str(record.get('ground_truth'))[:40]!r}",
                place,
            )
    frame = _uncached(frame, records, tally)
    name = some([path.name for path in results], 4)
    return [Run(results[0], frame, name=name, notes=tally.notes())]


def _latest(paths: Sequence[Path], tally: Tally) -> list[Record]:
    """One record per run_key: the last line in a file, across files the one that started later."""
    kept: dict[str, Record] = {}
    for path in progress(paths, "reading"):
        here: dict[str, Record] = {}
        for number, record in json_lines(path, tally):
            place = f"{path.name}:{number}"
            if record.get("schema") != SCHEMA:
                tally.add(f"lines of another schema than {SCHEMA}, left out", place)
            elif not all(
                isinstance(record.get(name), str) for name in ("run_key", "case_id", "mode")
            ):
                tally.add("lines without run_key, case_id or mode, left out", place)
            else:
                _replaced(here, record["run_key"], (place, record), tally)
        for key, new in here.items():
            if key not in kept or _started(kept[key]) <= _started(new):
                _replaced(kept, key, new, tally)
            else:
                tally.add("runs replaced by a later run of the same run_key", new[0])
    return list(kept.values())


def _replaced(kept: dict[str, Record], key: str, new: Record, tally: Tally) -> None:
    if key in kept:
        tally.add("runs replaced by a later run of the same run_key", kept[key][0])
    kept[key] = new


def _started(record: Record) -> str:
    return text_of(record[1].get("started_at")) or ""


def _group(record: Mapping[str, Any]) -> str:
    """The models and settings of a run, as Ferrite's own report names them."""
    provider, main, small, agent, predictor, config = (
        text_of(record.get(name)) or "" for name in SETTINGS
    )
    return (
        f"{provider} / main {main} / small {small} / agent {agent} / predictor {predictor} / config"
        f" {config}"
    )


def _mode(record: Mapping[str, Any]) -> str:
    mode = str(record["mode"])
    return "dryrun" if mode == "dry_run" else mode


def _row(place: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """One run in canonical columns; what a case of the other kind cannot have stays missing."""
    outcome, calls = part_of(record, "outcome"), part_of(record, "calls")
    attack, benign = record.get("kind") == "attack", record.get("kind") == "benign"
    mode, truth = _mode(record), record.get("ground_truth")
    tokens = [calls.get("prompt_tokens"), calls.get("eval_tokens")]
    error = record.get("error")
    known = truth in TRUTHS
    return {
        "case_id": record["case_id"],
        "mode": mode,
        "kind": record.get("kind"),
        "attack_success": outcome.get("attack_executed") if attack else None,
        "attempted": outcome.get("attack_attempted") if attack else None,
        "blocked": outcome.get("attack_blocked") if attack else None,
        "measurable": outcome.get("measurable") if attack and error is None else None,
        "gated": outcome.get("benign_blocked") if benign and mode in GUARDED else None,
        "final_answer": outcome.get("task_completed"),
        "within_fingerprint": truth == "residual" if known else None,
        "is_deviation": truth == "deviation" if known else None,
        "ground_truth": truth,
        "suite": record.get("suite"),
        "category": record.get("attack_category"),
        "carrier": record.get("carrier"),
        "model": record.get("main_model"),
        "dataset": record.get("source"),
        **{
            name: record.get(name) for name in SETTINGS if name not in ("main_model", "config_hash")
        },
        "suite_version": record.get("config_hash"),
        "latency_ms": record.get("latency_ms"),
        "tokens": sum(tokens) if all(isinstance(one, int) for one in tokens) else None,
        "error": _error(error),
        "source": place,
    }


def _error(error: Any) -> str | None:
    """The class of an error; an error without a class is still an error."""
    if error is None:
        return None
    return text_of(part_of({"error": error}, "error").get("class")) or "error"


def _measurable(frame: pd.DataFrame, tally: Tally) -> None:
    """Whether an attack can be measured is a fact of the case: a failed run takes it from another
    run of the case.
    """
    fact = (
        frame.dropna(subset=["measurable"])
        .drop_duplicates("case_id")
        .set_index("case_id")["measurable"]
    )
    failed = frame["error"].notna() & (frame["kind"] == "attack")
    if failed.any():
        frame["measurable"] = frame["measurable"].where(
            ~failed, frame["case_id"].map(fact).astype("str")
        )
        tally.add(
            "failed runs of attacks: measurable is taken from another run of the case",
            times=int(failed.sum()),
        )


def _uncached(frame: pd.DataFrame, records: Sequence[Record], tally: Tally) -> pd.DataFrame:
    """Cached answers cost no time and no tokens: with any of them, latencies and tokens say
    nothing.
    """
    cached = [place for place, record in records if part_of(record, "calls").get("cache_hits")]
    if cached:
        tally.add(
            "runs with cached answers, so that latency and tokens are not used",
            cached[0],
            len(cached),
        )
        return frame.drop(columns=["latency_ms", "tokens"])
    return frame


def _capabilities(value: Any) -> set[str] | None:
    return {str(one) for one in value} if isinstance(value, list) else None


def _predictions(records: Sequence[Record]) -> pd.DataFrame:
    """The prediction of each case, the first one stored by run_key, set against what task and
    attack need.
    """
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for _, record in sorted(records, key=lambda one: one[1]["run_key"]):
        if isinstance(record.get("prediction"), dict) and record.get("error") is None:
            first.setdefault((_group(record), record["case_id"]), _prediction(record))
    found = [first.get((_group(record), record["case_id"]), {}) for _, record in records]
    return frame_of(found) if first else pd.DataFrame(index=range(len(records)))


def _prediction(record: Mapping[str, Any]) -> dict[str, Any]:
    """Flags and amounts of one prediction. Amounts are kept only where the case says what its task
    needs.
    """
    prediction = part_of(record, "prediction")
    predicted = (_capabilities(prediction.get("must_use")) or set()) | (
        _capabilities(prediction.get("may_use")) or set()
    )
    ideal, attack = (
        _capabilities(record.get(f"{name}_capabilities")) for name in ("ideal", "attack")
    )
    row: dict[str, Any] = {
        "prediction_degraded": prediction.get("degraded"),
        "prediction_empty": not predicted,
        "predicted_capabilities": " ".join(sorted(predicted)),
    }
    if ideal is not None:
        row |= {
            "prediction_covers": ideal <= predicted,
            "predicted": len(predicted),
            "predicted_ideal": len(predicted & ideal),
            "ideal": len(ideal),
            "ideal_capabilities": " ".join(sorted(ideal)),
        }
    if attack:
        row |= {
            "prediction_over_admits": bool(attack & predicted) if ideal is not None else None,
            "attack_capabilities": " ".join(sorted(attack)),
        }
    return row


def _report(paths: Sequence[Path]) -> Run:
    """The counts of report.csv as weighted rows: executed attacks, and stopped benign tasks. How
    its other counts overlap is not told.
    """
    tally = Tally()
    name = some([path.name for path in paths], 4)
    table = pd.concat([text_frame(head_of(path), tally) for path in paths], ignore_index=True)
    kinds = {("attack", "executed"): "attack_success", ("benign", "false_positive"): "gated"}
    rows: list[dict[str, Any]] = []
    for line in table[table["key"] == "all"].to_dict("records"):
        flag = kinds.get((line["section"], line["metric"]))
        if flag is None:
            continue
        k, n = (pd.to_numeric(line[column], errors="coerce") for column in ("k", "n"))
        if not (0 <= k <= n and k % 1 == 0 and n % 1 == 0):
            raise OutcomesError(
                f"{line['source']}: k = {line['k']} and n = {line['n']} must be whole with 0 <= k"
                " <= n"
            )
        facts = {
            "mode": "dryrun" if line["mode"] == "dry_run" else line["mode"],
            "kind": line["section"],
            "suite_version": line["group"],
            "group": line["group"],
        }
        rows += [
            facts | {flag: hit, "rows": int(count)}
            for hit, count in ((True, k), (False, n - k))
            if count
        ]
    if not rows:
        raise OutcomesError(f"{name} holds no counts of attacks or benign tasks", file=name)
    pairs = table[table["section"] == "paired"]
    said = [
        f"paired in the file: {key} {note}"
        for key, note in zip(pairs["key"], pairs["note"], strict=True)
    ]
    said.append("counts only (report.csv): no pairs and no clusters can be made from this table")
    return Run(paths[0], frame_of(rows), name=name, notes=[*tally.notes(), *said])
