"""Requirements of a gate: what each one asks, checked before anything is counted."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..estimate import digits
from ..metrics import Metric, metric
from ..stats._check import fraction, level_of

LEAST_LEVEL = 0.5
RULES = {name: name for name in ("bound", "point", "anytime")} | {
    "upper": "bound",
    "lower": "bound",
}
ENDS = ("at_most", "at_least", "drop_at_most", "rise_at_most")


@dataclass(frozen=True)
class Requirement:
    """One requirement: a metric, a threshold and the rule that decides, for rows that meet `where`.

    `rule` is "bound" (the interval has to keep to the threshold), "anytime" (the same with an
    interval that holds at all looks together) or "point" (k/n alone). With `against` the threshold
    is on the difference from that mode, on the same cases: `upper` says whether a rise or a drop is
    limited.
    `level`, `cluster` (the unit of independence) and `judge` belong to the interval.
    `suite_version` is the version that the requirement was written for. `owner`, `schedule` and
    `on_cannot_tell` are carried into the verdict.
    """

    metric: Metric
    threshold: float
    upper: bool
    where: Mapping[str, Any] = field(default_factory=dict)
    rule: str = "bound"
    level: float = 0.95
    cluster: str | list[str] | None = None
    against: str = ""
    judge: Any = None
    suite_version: str = ""
    owner: str = ""
    schedule: str = ""
    on_cannot_tell: str = ""
    name: str = ""

    @property
    def rule_name(self) -> str:
        """The rule in words, as tables show it."""
        side = "upper bound" if self.upper else "lower bound"
        return {"point": "point", "anytime": f"anytime {side}"}.get(self.rule, side)

    def __str__(self) -> str:
        """The requirement as a line, the threshold always in it: "ASR at most 2.0% (mode On)"."""
        where = ", ".join(f"{name} {value}" for name, value in self.where.items())
        limit = f"{digits(self.threshold)}%"
        if self.against:
            way = "rise" if self.upper else "drop"
            limit = f"{digits(self.threshold)} points"
            text = f'{self.metric.symbol} {way} at most {limit} against "{self.against}"'
        else:
            text = f"{self.metric.symbol} {'at most' if self.upper else 'at least'} {limit}"
        text += f" ({where})" if where else ""
        return f"{self.name}: {text}" if self.name else text

    def keeps(self, value: float) -> bool:
        """Whether a rate (or a difference, mode minus the other) keeps to the threshold."""
        if self.against and not self.upper:
            return value >= -self.threshold - SLACK
        limit = self.threshold
        return value <= limit + SLACK if self.upper else value >= limit - SLACK


SLACK = 1e-12
ALLOWED = {one.name for one in fields(Requirement)} - {"threshold", "upper"} | {*ENDS}


def requirements(given: Any) -> list[Requirement]:
    """Requirements from a TOML file, one mapping, or a list of mappings; a wrong field names
    itself.

    Raises
    ------
    ValueError, TypeError: no requirement, an unknown field, no or two thresholds, a threshold that
        is no proportion.
    """
    if isinstance(given, str | Path):
        try:
            given = tomllib.loads(Path(given).read_text("utf-8")).get("requirement", [])
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
            raise ValueError(f"{given} cannot be read as TOML requirements: {problem}") from None
    listed = (
        [given]
        if isinstance(given, Mapping)
        else list(given)
        if isinstance(given, Iterable)
        else None
    )
    if not listed:
        raise ValueError(
            "no requirement: give [[requirement]] tables with a metric and at_most or at_least"
        )
    made = [
        one if isinstance(one, Requirement) else _one(one, place)
        for place, one in enumerate(listed, 1)
    ]
    names = [one.name for one in made if one.name]
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise ValueError(
            f"two requirements are called {twice[:60]!r}; a verdict has to say whose it is"
        )
    return made


def _one(given: Any, place: int) -> Requirement:
    if not isinstance(given, Mapping):
        raise TypeError(
            f"requirement {place} must be a mapping of fields, got {type(given).__name__}"
        )
    where = f"requirement {place}"
    unknown = sorted(set(given) - ALLOWED)
    if unknown:
        raise ValueError(
            f"{where}: unknown field {', '.join(unknown)}; allowed are {', '.join(sorted(ALLOWED))}"
        )
    if "metric" not in given:
        raise ValueError(f"{where} names no metric")
    ends = [end for end in ENDS if end in given]
    if len(ends) != 1:
        raise ValueError(f"{where}: give at_most or at_least, and only one of them")
    change = ends[0] in ENDS[2:]
    if change != ("against" in given):
        raise ValueError(
            f"{where}: drop_at_most and rise_at_most need against, the mode to compare with, and "
            "against needs one of them"
        )
    rule = RULES.get(str(given.get("rule", "bound")))
    if rule is None:
        raise ValueError(
            f'{where}: rule must be "bound", "point" or "anytime", got {given["rule"]!r}'
        )
    upper = ends[0] in ("at_most", "rise_at_most")
    if rule == "anytime" and given.get("judge") is not None:
        raise ValueError(
            f"{where}: the bounds of rule anytime know nothing of a judge; leave it out"
        )
    if change and rule == "point":
        raise ValueError(f"{where}: a difference is decided by its bound, got rule {rule!r}")
    if str(given.get("rule")) in ("upper", "lower") and (given["rule"] == "upper") != upper:
        raise ValueError(
            f"{where}: {ends[0]} is decided by the {'upper' if upper else 'lower'} bound"
        )
    conditions = given.get("where", {})
    if not isinstance(conditions, Mapping):
        raise TypeError(f"{where}: where must be a table of columns and values, got {conditions!r}")
    odd = [name for name, value in conditions.items() if isinstance(value, Mapping)]
    if odd:
        raise TypeError(
            f"{where}: where {odd[0]} must be a value or a list of values, "
            f"got {conditions[odd[0]]!r}"
        )
    one = metric(given["metric"])
    chosen = [name for name in conditions if name in one.event]
    if chosen:
        raise ValueError(
            f"{where}: where names {chosen[0]}, which {one.symbol} counts: "
            "the answer would be chosen"
        )
    level = level_of(given.get("level", 0.95))
    if level < LEAST_LEVEL:
        raise ValueError(
            f"{where}: level must be at least {LEAST_LEVEL}, got {level}: "
            "a bound below it bounds nothing"
        )
    if one.counted == "differences":
        raise ValueError(f"{where}: {one.symbol} is no proportion; a gate needs one")
    threshold = fraction(given[ends[0]], f"{where}: {ends[0]}")
    worse = "rise" if one.better == "lower" else "drop"
    if (one.better == "lower") != upper:
        limits = f"{worse}_at_most" if change else "at_most" if worse == "rise" else "at_least"
        raise ValueError(
            f"{where}: of {one.symbol} the {one.better} is the better, so {ends[0]} would reward "
            f"what is worse; give {limits}"
        )
    if threshold == (1.0 if upper or change else 0.0):
        raise ValueError(f"{where}: {ends[0]} = {threshold:g} is met by any system")
    if change and "mode" not in conditions:
        raise ValueError(f"{where}: with against, where names the mode that is held to it")
    return Requirement(
        metric=one,
        threshold=threshold,
        upper=upper,
        where=dict(conditions),
        rule=rule,
        level=level,
        cluster=given.get("cluster"),
        judge=given.get("judge"),
        **{
            name: str(given.get(name, ""))
            for name in (
                *("suite_version", "owner", "schedule", "on_cannot_tell", "name", "against"),
            )
        },
    )
