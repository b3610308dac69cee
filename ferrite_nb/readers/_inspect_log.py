"""One Inspect log as header and samples, without its messages, events, attachments and stores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from zipfile import ZipInfo

from ..outcomes.table import OutcomesError
from ._archives import member_bytes, members_of, open_zip
from ._files import BOM, DOCUMENT_LIMIT, Tally, json_value, open_file
from .values import inside as named
from .values import listed, number, text

CUT = "Key removed from summary"
# Inspect shortens texts in a summary to this width and ends them with dots.
SUMMARY_WIDTH = 1000
LARGE = (
    rb'"(?:messages|events|attachments|store|transcript|events_data|error_retries|input|timelines)":'
    rb" [\[{]$"
)


@dataclass(slots=True)
class Sample:
    """What a sample says about outcomes. `empty` is whether the model gave no answer; None is not
    known.
    """

    case: str
    epoch: str
    place: str
    scores: dict[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    limit: str | None = None
    seconds: float | None = None
    tokens: float | None = None
    empty: bool | None = None


@dataclass
class Log:
    """A log: its header, its samples, and how they were found."""

    path: Path
    header: Mapping[str, Any]
    samples: list[Sample]
    unfinished: bool = False
    reduced: bool = False

    @property
    def run(self) -> Mapping[str, Any]:
        """The description of the run."""
        return named(self.header, "eval")

    @property
    def results(self) -> Mapping[str, Any]:
        """The results that the log states."""
        return named(self.header, "results")

    @property
    def task(self) -> str:
        """The name of the task."""
        return text(self.run.get("task")) or self.path.name

    @property
    def epochs(self) -> int:
        """How often each sample was to be run."""
        epochs = named(self.run, "config").get("epochs")
        return epochs if isinstance(epochs, int) and epochs > 0 else 1


def read_log(path: Path, zipped: bool, wanted: set[str], tally: Tally) -> Log:
    """One log. `wanted` names the metadata that the caller needs whole."""
    log = read_eval(path, wanted, tally) if zipped else read_json(path, tally)
    if not log.samples:
        log.samples, log.reduced = from_reductions(log), True
    return log


def read_eval(path: Path, wanted: set[str], tally: Tally) -> Log:
    """An .eval archive: header and summaries; a sample's own member is opened only where its
    summary is not enough.
    """
    with open_zip(path) as archive:
        # The last member of a name is the valid one.
        members = {member.filename: member for member in members_of(archive)}

        def content(name: str) -> Any:
            return json_value(
                member_bytes(archive, members[name]), f"{path.name}, {name[:120]}", tally
            )

        unfinished = "header.json" not in members
        start = "_journal/start.json" if unfinished else "header.json"
        if start not in members:
            raise OutcomesError(
                f"{path.name} has neither header.json nor _journal/start.json: it is no Inspect log"
            )
        header = named(content(start), None)
        log = Log(path, header, [], unfinished)
        found: dict[tuple[str, str], Sample] = {}
        bodies = {
            name for name in members if name.startswith("samples/") and name.endswith(".json")
        }
        for name in summary_names(members):
            for entry in listed(content(name)):
                summary = named(entry, None)
                body = f"samples/{text(summary.get('id'))}_epoch_{text(summary.get('epoch'))}.json"
                sample = sample_of(summary, log, f"{path.name}, {body[:120]}")
                if enough(summary, sample, wanted) and not header.get("invalidated"):
                    bodies.discard(body)
                found[sample.case, sample.epoch] = sample
        for name in sorted(bodies, key=by_number):
            sample = sample_of(
                named(content(name), None), log, f"{path.name}, {name[:120]}", whole=True
            )
            found[sample.case, sample.epoch] = sample
        log.samples = list(found.values())
        if not log.samples and "reductions.json" in members:
            log.header = {**header, "reductions": content("reductions.json")}
        return log


def summary_names(members: Mapping[str, ZipInfo]) -> list[str]:
    """The members with summaries: the merged one, or the pieces of an unfinished log in their
    order.
    """
    if "summaries.json" in members:
        return ["summaries.json"]
    return sorted(
        (name for name in members if name.startswith("_journal/summaries/")), key=by_number
    )


def by_number(name: str) -> list[Any]:
    """Sort key: numbers in a name by their value."""
    return [
        (0, int(part[:18]), "") if part.isdigit() else (1, 0, part)
        for part in re.split(r"(\d+)", name)
    ]


def enough(summary: Mapping[str, Any], sample: Sample, wanted: set[str]) -> bool:
    """Whether a summary has all that is needed of its sample.

    Summaries of logs before spring 2025 lack metadata, usage and times. Later ones shorten long
    metadata. A scored sample without an answer and without usage is looked at, because a swallowed
    failure looks like that.
    """
    if "total_time" not in summary and "uuid" not in summary:
        return False
    for key, value in sample.metadata.items():
        short = isinstance(value, str) and (value.startswith(CUT) or len(value) >= SUMMARY_WIDTH)
        if short and (key in wanted or f"metadata.{key}" in wanted):
            return False
    return not (
        sample.scores
        and sample.error is None
        and sample.tokens is None
        and sample.empty is not False
    )


def sample_of(entry: Mapping[str, Any], log: Log, place: str, *, whole: bool = False) -> Sample:
    """A sample from its summary, or with `whole` from its own record."""
    scores = named(entry, "scores")
    if not scores and isinstance(entry.get("score"), dict):
        # The first log version had one score, without a name.
        names = [text(named(one, None).get("name")) for one in listed(log.results.get("scores"))]
        scores = {next(iter(names), None) or "score": entry["score"]}
    tokens = 0.0
    for used in named(entry, "model_usage").values():
        tokens += number(named(used, None).get("total_tokens")) or 0
    error = entry.get("error")
    if isinstance(error, dict):
        error = error.get("message")
    if error is None and entry.get("invalidation"):
        error = "invalidated"
    limit = entry.get("limit")
    values, said = {}, False
    for name, score in scores.items():
        score = score if isinstance(score, dict) else {}
        values[text(name) or ""] = score.get("value")
        said = said or bool(score.get("answer"))
    if whole:
        output = named(entry, "output")
        said = bool(output.get("completion") or listed(output.get("choices")))
    return Sample(
        case=text(entry.get("id")) or "",
        epoch=text(entry.get("epoch")) or "1",
        place=place,
        scores=values,
        metadata=named(entry, "metadata"),
        error=(text(error) or "error")[:500] if error is not None else None,
        limit=text(limit.get("type") if isinstance(limit, dict) else limit),
        seconds=number(entry.get("total_time")),
        tokens=tokens or None,
        # A shortened record without an answer says nothing yet.
        empty=not said if whole else (False if said else None),
    )


def read_json(path: Path, tally: Tally) -> Log:
    """A .json log (or one with another ending)."""
    with open_file(path) as stream:
        pieces = pieces_of(stream, path.name)
        samples = []
        rest = b""
        for number_, (piece, is_sample) in enumerate(pieces, start=1):
            if is_sample:
                samples.append(json_value(piece, f"{path.name}, sample {number_}", tally))
            else:
                rest = piece
    header = json_value(rest, path.name, tally)
    if not isinstance(header, dict):
        raise OutcomesError(f"{path.name} is no Inspect log: it holds no JSON object")
    log = Log(path, {key: value for key, value in header.items() if key != "samples"}, [])
    samples = samples or listed(header.get("samples"))
    log.samples = [
        sample_of(named(entry, None), log, f"{path.name}, sample {number_}", whole=True)
        for number_, entry in enumerate(samples, start=1)
    ]
    once = {(sample.case, sample.epoch): sample for sample in log.samples}
    if len(once) < len(log.samples):
        tally.add(
            "samples replaced by a later one of the same id and epoch",
            times=len(log.samples) - len(once),
        )
    log.samples = list(once.values())
    return log


def pieces_of(stream: IO[bytes], name: str) -> Iterator[tuple[bytes, bool]]:
    """The samples of an indented log one by one, without their transcripts; at the end all the
    rest.

    Inspect indents its logs, and JSON texts hold no line breaks, so the indentation alone shows
    where a sample, and inside of it a transcript, begins and ends. A log that is not indented comes
    as one piece.
    """
    rest: list[bytes] = []
    size, unit, inside = 0, b"", False
    sample: list[bytes] = []
    close = b""
    large = re.compile(rb"$^")
    while line := stream.readline(DOCUMENT_LIMIT):
        line = line.rstrip(b"\r\n")
        if close:
            if line.startswith(close):
                sample[-1] += b"null" + line[len(close) :]
                close = b""
            continue
        if not rest:
            line = line.removeprefix(BOM)
        elif not unit:
            unit = line[: len(line) - len(line.lstrip(b" "))] or b"\t"
            large = re.compile(re.escape(unit * 3) + LARGE)
        if not inside:
            inside = bool(unit) and line == unit + b'"samples": ['
            rest.append(line)
        elif line in (unit + b"]", unit + b"],"):
            inside = False
            rest.append(line)
        elif large.match(line):
            close = unit * 3 + (b"]" if line.endswith(b"[") else b"}")
            sample.append(line[:-1])
        else:
            sample.append(line)
            if line in (unit * 2 + b"}", unit * 2 + b"},"):
                yield b"\n".join(sample).removesuffix(b","), True
                sample = []
        size += len(line)
        if size > DOCUMENT_LIMIT:
            raise OutcomesError(
                f"{name} is too large for one document; convert it: inspect log convert --to eval"
            )
    yield b"\n".join(rest + sample), False


def from_reductions(log: Log) -> list[Sample]:
    """A log that was kept without samples may still have one value per sample, if it had one
    epoch.
    """
    samples: dict[str, Sample] = {}
    reductions = listed(log.header.get("reductions")) or listed(
        log.results.get("sample_reductions")
    )
    for reduction in reductions if log.epochs == 1 else []:
        scorer = text(named(reduction, None).get("scorer")) or "score"
        for entry in listed(named(reduction, None).get("samples")):
            case = text(named(entry, None).get("sample_id")) or ""
            place = f"{log.path.name}, reduction of {case[:60]}"
            sample = samples.setdefault(case, Sample(case, "1", place, empty=False))
            sample.scores[scorer] = named(entry, None).get("value")
    return list(samples.values())


def is_log_archive(names: tuple[str, ...]) -> bool:
    """Whether the members of a zip archive are those of an Inspect log."""
    return "header.json" in names or "_journal/start.json" in names
