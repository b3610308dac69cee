"""JailbreakBench artifacts: one JSON file per attack and model. An attack that gave up has no
prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..outcomes.contract import OutcomesError
from ..outcomes.declare import some
from ..outcomes.table import Outcomes, outcomes
from ._files import Tally, frame_of, json_file, part_of, progress, text_of
from .recognise import Head, holds

NAME = "JailbreakBench artifact (JSON)"
KEPT = (
    "number_of_queries",
    "queries_to_jailbreak",
    "prompt_tokens",
    "jailbroken_llama_guard1",
    "behavior",
)
COUNTED = ("number_of_jailbreaks", "total_number_of_jailbreaks")


def sniff(head: Head) -> bool:
    """The two keys of an artifact."""
    return head.json_start and (holds(head, ("parameters", "jailbreaks")) or _early(head))


def _early(head: Head) -> bool:
    """An artifact whose list of jailbreaks starts behind the part that was looked at."""
    parameters = "parameters" in head.keys and '"number_of_jailbreaks"' in head.text
    return parameters and '"attack_success_rate"' in head.text


def read(paths: Sequence[Path], *, named: str | None = None, **options: Any) -> Outcomes:
    """Outcomes of artifacts; `delivered` says whether the attack produced a prompt. Prompts and
    replies are not kept.

    Notes
    -----
    The stored number of jailbreaks can follow an older judge: the labels are counted again, and a
        difference is noted.
    """
    tally = Tally()
    rows = [row for path in progress(paths, "reading") for row in _rows(path, tally)]
    if not rows:
        raise OutcomesError(f"{some([path.name for path in paths], 4)} holds no list of jailbreaks")
    if len({row["attack"] for row in rows}) > 1:
        rows = [row | {"case_id": f"{row['attack']}/{row['case_id']}"} for row in rows]
    if len({row["model"] for row in rows}) > 1:
        rows = [
            row | {"mode": f"{row['model']}/{row['defense']}" if row["defense"] else row["model"]}
            for row in rows
        ]
    return outcomes(
        frame_of(rows),
        read_from=some([path.name for path in paths], 4),
        notes=tally.notes(),
        **options,
    )


def _rows(path: Path, tally: Tally) -> list[dict[str, Any]]:
    """The behaviours of one artifact; the mode is the defence, or the model where there is none."""
    artifact = json_file(path, tally)
    parameters = part_of(artifact, "parameters")
    jailbreaks = artifact.get("jailbreaks") if isinstance(artifact, dict) else None
    found = (
        [one for one in jailbreaks if isinstance(one, dict)] if isinstance(jailbreaks, list) else []
    )
    model, method, defense = (
        text_of(parameters.get(name)) for name in ("model", "method", "defense")
    )
    rows = [
        {
            "case_id": one.get("index"),
            "mode": defense or model or path.name.split(".")[0],
            "kind": "attack",
            "attack_success": one.get("jailbroken"),
            "delivered": one.get("prompt") is not None,
            "attack": method,
            "category": one.get("category"),
            "model": model,
            "defense": defense,
            "tokens": one.get("response_tokens"),
            **{name: one.get(name) for name in KEPT},
            "source": f"{path.name}, entry {place}",
        }
        for place, one in enumerate(found, start=1)
    ]
    _recount(path, parameters, found, tally)
    return rows


def _recount(
    path: Path, parameters: Mapping[str, Any], found: Sequence[Mapping[str, Any]], tally: Tally
) -> None:
    stored = next(
        (parameters[name] for name in COUNTED if isinstance(parameters.get(name), int)), None
    )
    true = sum(one.get("jailbroken") is True for one in found)
    if stored is not None and stored != true:
        tally.add(
            f"{path.name}: it states {stored} jailbreaks, its labels are counted again: true"
            " labels",
            times=true,
        )
    silent = sum(one.get("prompt") is None for one in found)
    if silent:
        tally.add(
            "attacks that gave up without a prompt; see ASR over delivered", path.name, silent
        )
