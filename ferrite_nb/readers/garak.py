"""garak `report.jsonl`, versions 0.9 to 0.17: attempts recounted at the threshold, eval rows as a
check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..outcomes.table import Outcomes, OutcomesError, outcomes
from ._files import Tally, json_file
from ._garak_check import check_intervals, check_recount, evals_of
from ._garak_report import Report, short_name
from ._garak_rows import choose, doubts, frame_of, summary, version_key
from ._harness import together, without_constants
from .recognise import Head, head_of
from .values import inside

NAME = "garak report"

HITLOG = frozenset({"probe", "detector", "attempt_id", "attempt_idx"})


def sniff(head: Head) -> bool:
    """Whether the file is a garak report, a garak hitlog or garak's detector metrics."""
    return "entry_type" in head.keys or head.keys >= HITLOG or is_metrics(head)


def read(
    paths: Sequence[Path],
    *,
    named: str | None = None,
    threshold: float = 0.5,
    detector: str | Mapping[str, str] | None = None,
    detector_metrics: str | Path | None = None,
    **declared: Any,
) -> Outcomes:
    """The outcomes of garak reports: one row per output of each judged attempt.

    Parameters
    ----------
    threshold: a detector score at or above it is a success of the attack (0 to 1; garak's own
        default is 0.5).
    detector: the detector that decides. `None` takes the primary detector of each probe, as the
        report names it (from 0.15.0), or the only one; a name takes that detector in all probes
        that have it; a table `{"dan.Dan_11_0": "dan.DAN"}` chooses by probe; "all" reads every
        detector as cases of its own.
    detector_metrics: garak's file of detector sensitivities and specificities, to check intervals
        stored by garak 0.17 and later, which may be corrected with them.
    declared: as in `fnb.outcomes`, such as `mode=fnb.const("before")`; the mode is the name of the
        target otherwise.

    Returns
    -------
    Outcomes with `case_id` (probe, hash of the prompt text, buff), `mode`, `repeat` (number of the
    output), `attack_success`, and the strata `attack` (probe), `category` (its module), `detector`,
    `score`, `model`, `suite_version` (garak's version), from 0.16.0 `intent`, and with buffs
    `source_prompt`, the prompt a buff has changed: name it as cluster.

    Not computable when
    -------------------
    A null or NaN score is a missing outcome. garak itself counts NaN as a hit.

    Raises
    ------
    OutcomesError: a hitlog (it holds the hits only, so no rate can be made), a metrics file, a
        report without judged attempts, a probe with several detectors of which none is known to be
        the primary one.

    Notes
    -----
    Runs pair by prompt text: `seq` differs between runs, because garak samples prompts at random,
        and `uuid` is new
    in each run. Attempts of iterative probes have no sequence number and pair with nothing.
    """
    if (
        not isinstance(threshold, int | float)
        or isinstance(threshold, bool)
        or not 0 <= threshold <= 1
    ):
        raise ValueError(f"threshold must be a number from 0 to 1, got {threshold!r}")
    known = metrics_of(Path(detector_metrics)) if detector_metrics is not None else {}
    parts = [read_one(path, threshold, detector, known, declared) for path in paths]
    return together(parts, paths, named, declared)


def read_one(
    path: Path,
    threshold: float,
    detector: str | Mapping[str, str] | None,
    known: Mapping[str, tuple[float, float]],
    declared: Mapping[str, Any],
) -> Outcomes:
    """The outcomes of one report."""
    refuse_others(head_of(path))
    tally = Tally()
    report = Report(path.name, tally)
    report.read(path)
    if not report.lines:
        raise OutcomesError(
            f"{path.name} has no judged attempt (status 2; {report.waiting:,} were only sent):"
            " nothing can be counted" + "".join(f"; {note}" for note in tally.notes())
        )
    chosen = choose(report, detector)
    frame = frame_of(report, chosen, threshold, apart=detector == "all")
    evals = evals_of(report, tally)
    notes = [
        *summary(report, chosen, threshold, frame),
        *check_recount(report, evals, threshold),
        *check_intervals(evals, known, correcting=version_key(report.version) >= (0, 17)),
        *doubts(report),
        *tally.notes(),
    ]
    return outcomes(
        without_constants(frame, declared), read_from=path.name, notes=notes, **declared
    )


def is_metrics(head: Head) -> bool:
    """Whether this is garak's file of detector sensitivities."""
    return "results" in head.keys and b'"hit_sensitivity"' in head.start


def refuse_others(head: Head) -> None:
    """Refuse garak's other files, each with the reason."""
    name = head.path.name
    if is_metrics(head):
        raise OutcomesError(
            f"{name} holds garak's detector metrics, no outcomes: give it as detector_metrics= when"
            " a report is read. It has no counts, so ask its makers for tp, fn, tn and fp before"
            " you correct a rate with it"
        )
    if "entry_type" not in head.keys and head.keys >= HITLOG:
        raise OutcomesError(
            f"{name} is a garak hitlog: it holds the hits only, numerators without denominators, so"
            " no rate can be made from it; read the report of the same run"
            f" ({name.replace('hitlog', 'report')})"
        )


def metrics_of(path: Path) -> dict[str, tuple[float, float]]:
    """Sensitivity and specificity by detector from garak's metrics file; entries without positives
    are left out.
    """
    content = json_file(path, Tally())
    results = content.get("results") if isinstance(content, dict) else None
    if not isinstance(results, dict):
        raise OutcomesError(
            f'{path.name} is not a detector metrics file of garak: it has no "results"'
        )
    found: dict[str, tuple[float, float]] = {}
    for name, entry in results.items():
        values = inside(entry, "metrics")
        se, sp = values.get("hit_sensitivity"), values.get("hit_specificity")
        if not all(isinstance(one, int | float) and 0 <= one <= 1 for one in (se, sp)):
            continue
        # garak writes 0 when there was no positive (or no negative) to find: that is unknown, not
        # zero.
        if se and sp:
            found[short_name(name)] = (float(se), float(sp))
    return found
