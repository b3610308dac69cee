"""One pass over the lines of a garak report: attempts as columns, scores by probe and detector,
eval rows.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from ..outcomes.table import OutcomesError
from ._files import Tally, json_value, lines_of
from .values import inside as named
from .values import listed, number, text

SETUP = ("config", "start_run args config", "start_run setup")
QUIET = ("completion", "digest", "tree_data", "payload_init", "probe_summary")
# An attempt that was only sent. Its status stands before any free text, so its line need not be
# parsed.
SENT = re.compile(
    rb'\{"entry_type":\s?"attempt",\s?"uuid":\s?"[^"\\]*",\s?"seq":\s?(?:-?\d+|null),\s?"status":\s?1\s?[,}]'
)


def short_name(name: str) -> str:
    """A probe or detector without the word of its kind in front."""
    return re.sub(r"^(?:probes?|detectors?)\.", "", name)


def prompt_text(prompt: Any, system: str | None) -> str:
    """What identifies a prompt in every version: its text, or all its turns.

    The system prompt of the whole run is left out: it belongs to the target (and often is the
        defence), not to the
    case.
    """
    if isinstance(prompt, str):
        return prompt
    turns = prompt.get("turns") if isinstance(prompt, dict) else None
    if not isinstance(turns, list):
        return packed(prompt)
    said = []
    for turn in turns:
        role, content = named(turn, None).get("role"), named(turn, None).get("content")
        if isinstance(content, dict):
            content = (
                content.get("text") or content.get("data_checksum") or content.get("data_path")
            )
        if role != "system" or content != system:
            said.append([role, content])
    if len(said) == 1 and isinstance(said[0][1], str):
        return said[0][1]
    return packed(said)


def packed(value: Any) -> str:
    """A JSON value as one text."""
    try:
        return json.dumps(value, sort_keys=True)
    except RecursionError:
        return "(nested too deeply)"


@dataclass
class Scores:
    """The scores of one detector on one probe: which attempts, how many outputs each, all scores in
    a row.
    """

    attempts: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    padded: int = 0

    def add(self, attempt: int, scores: list[Any], outputs: int) -> None:
        """The scores of one attempt; an output without a score gets a missing one."""
        lacking = max(outputs - len(scores), 0)
        self.attempts.append(attempt)
        self.counts.append(len(scores) + lacking)
        self.values += scores
        self.values += [None] * lacking
        self.padded += lacking

    def numbers(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """All scores as numbers; null, NaN, infinity and what is no number are missing."""
        try:
            made = np.array(self.values, dtype=float)
        except (TypeError, ValueError, OverflowError):
            made = np.array(
                [np.nan if number(one) is None else float(one) for one in self.values], dtype=float
            )
        made[~np.isfinite(made)] = np.nan
        return made


class Report:
    """One pass over a report. Attempts are columns of equal length; scores stand by (probe,
    detector).
    """

    def __init__(self, name: str, tally: Tally) -> None:
        self.name, self.tally = name, tally
        self.version = self.target = self.run = ""
        self.system: str | None = None
        self.aggregated, self.completed = False, False
        self.stated: float | None = None
        self.waiting = 0
        self.lines: list[int] = []
        self.probes: list[str] = []
        self._codes: dict[str, int] = {}
        self.cases: list[str] = []
        self.prefixes: list[str] = []
        self.versions: list[str] = []
        self.targets: list[str] = []
        self.intents: list[str | None] = []
        self.sources: list[str | None] = []
        self.outputs: list[int] = []
        self.iterative = 0
        self.again = 0
        self.pairs: dict[tuple[str, str], Scores] = {}
        self.primary: dict[str, str] = {}
        self.evals: list[dict[str, Any]] = []
        self._seen: Counter[str] = Counter()
        self._sent: dict[str, set[tuple[Any, str]]] = {}
        self._runs: Counter[str] = Counter()
        self._closed: set[str] = set()

    def read(self, path: Path) -> None:
        """Read all lines; those that cannot be read are counted."""
        for number_, line, ended in lines_of(path, self.tally):
            if SENT.match(line) and line.endswith(b"}"):
                self.waiting += 1
                continue
            try:
                entry = orjson.loads(line)
            except orjson.JSONDecodeError:
                place = f"{self.name}:{number_}"
                try:
                    entry = json_value(line, place, self.tally)
                except OutcomesError:
                    self.tally.add(
                        "lines that cannot be read" if ended else "half-written last lines", place
                    )
                    continue
            if isinstance(entry, dict):
                self.entry(number_, entry)
            else:
                self.tally.add("lines that hold no JSON object", f"{self.name}:{number_}")

    def entry(self, line: int, entry: dict[str, Any]) -> None:
        """One row of the report, by its type."""
        kind = entry.get("entry_type")
        if kind == "attempt":
            self.attempt(line, entry)
        elif kind == "eval":
            self.evals.append(entry)
            self._closed.add(short_name(text(entry.get("probe")) or ""))
        elif kind in SETUP:
            self.setup(entry)
        elif kind == "init":
            self.version = text(entry.get("garak_version")) or self.version
            self.run = text(entry.get("run")) or self.run
        elif kind == "plugin_cache":
            for name, probe in named(named(entry, "plugin_cache"), "probes").items():
                main = named(probe, None).get("primary_detector")
                if isinstance(main, str) and main:
                    self.primary[short_name(name)] = short_name(main)
        elif kind == "completion":
            self.completed = True
        elif kind not in QUIET:
            self.unknown("rows of an unknown type", kind, line)

    def unknown(self, what: str, value: Any, line: int) -> None:
        """Count what is not understood; the first value is named with its line."""
        said = f", {(text(value) or 'nothing')[:60]!r}" if value != "" else ""
        self.tally.add(f"{what} left out", f"{self.name}:{line}{said}")

    def setup(self, entry: dict[str, Any]) -> None:
        """The settings of the run: target, threshold where it is written, whether reports were
        joined.
        """
        named_as = ("plugins.target_name", "plugins.model_name", "model_name")
        typed_as = ("plugins.target_type", "plugins.model_type", "model_type")
        names = [entry.get(key) for key in (*named_as, *typed_as)]
        self.target = next((text(name) or "" for name in names if name), "")
        self.version = text(entry.get("_config.version")) or self.version
        self.aggregated = self.aggregated or "aggregation" in entry
        self.stated = number(entry.get("run.eval_threshold", entry.get("eval_threshold")))
        self.system = text(entry.get("run.system_prompt"))

    def attempt(self, line: int, entry: dict[str, Any]) -> None:
        """One attempt; only status 2 is judged."""
        status, probe = entry.get("status"), entry.get("probe_classname")
        if status in (0, 1):
            self.waiting += 1
            return
        if status != 2 or not isinstance(probe, str):
            what = "attempts without a probe" if status == 2 else "attempts with an unknown status"
            self.unknown(what, "" if status == 2 else status, line)
            return
        probe = short_name(text(probe) or "")
        notes, outputs = named(entry, "notes"), listed(entry.get("outputs"))
        self.key(probe, entry, notes)
        self.lines.append(line)
        self.probes.append(probe)
        self.versions.append(self.version)
        self.targets.append(self.target)
        self.intents.append(text(entry.get("intent")))
        self.sources.append(text(notes.get("buff_source_attempt_uuid")))
        self.outputs.append(len(outputs))
        for detector, scores in named(entry, "detector_results").items():
            pair = self.pairs.setdefault((probe, short_name(text(detector) or "")), Scores())
            pair.add(len(self.lines) - 1, listed(scores), len(outputs))

    def key(self, probe: str, entry: dict[str, Any], notes: Mapping[str, Any]) -> None:
        """The case of an attempt, and what stands before the number of its output.

        A prompt that a run sends several times is one case with more repeats. Where reports were
        joined, the run comes first: a run of a probe ends with its eval row, or where a prompt
            comes again with its sequence number.
        """
        sequence = entry.get("seq")
        if isinstance(sequence, int) and sequence >= 0:
            prompt = prompt_text(entry.get("prompt"), self.system)
            case = f"{probe}/{hashlib.sha256(prompt.encode('utf-8', 'replace')).hexdigest()[:16]}"
            buff = notes.get("buff_creator")
            case += f"/{text(buff)}" if buff else ""
        else:
            self.iterative += 1
            case = f"{probe}/{self.run[:8] or self.name}-{self.iterative}"
        prefix = ""
        if self.aggregated:
            here = self._sent.setdefault(probe, set())
            if probe in self._closed or (sequence, case) in here:
                self._closed.discard(probe)
                self._runs[probe] += 1
                here.clear()
            here.add((sequence, case))
            prefix = f"{self._runs[probe] + 1}."
        self._seen[prefix + case] += 1
        before = self._seen[prefix + case]
        self.again += before > 1
        self.cases.append(case)
        self.prefixes.append(prefix + (f"{before}." if before > 1 else ""))

    def codes(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The probe of each attempt, as a number."""
        return np.fromiter(
            (self.code(probe) for probe in self.probes), dtype=np.int64, count=len(self.probes)
        )

    def code(self, probe: str) -> int:
        """The number of a probe."""
        return self._codes.setdefault(probe, len(self._codes))
