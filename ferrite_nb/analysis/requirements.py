"""Requirements of a gate: what each one asks, checked before anything is counted."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..metrics import Metric, metric
from ..stats._check import fraction, level_of

LEAST_LEVEL = 0.5
RULES = {"bound": "bound", "upper": "bound", "lower": "bound", "point": "point"}


@dataclass(frozen=True)
class Requirement:
    """One requirement: a metric, a threshold and the rule that decides, for rows that meet `where`.

    `rule` is "bound" (the interval has to keep to the threshold) or "point" (k/n alone). `level`
    and `cluster` (the unit of independence) belong to the interval. `suite_version` is the version
    that the requirement was written for. `owner`, `schedule` and `on_cannot_tell` are carried into
    the verdict. `power_at` lists true rates for which the chance to pass is told.
    """

    metric: Metric
    threshold: float
    upper: bool
    where: Mapping[str, Any] = field(default_factory=dict)
    rule: str = "bound"
    level: float = 0.95
    cluster: str | list[str] | None = None
    suite_version: str = ""
    owner: str = ""
    schedule: str = ""
    on_cannot_tell: str = ""
    power_at: tuple[float, ...] = ()
    name: str = ""

    @property
    def rule_name(self) -> str:
        """The rule in words, as tables show it."""
        return "point" if self.rule == "point" else "upper bound" if self.upper else "lower bound"


ALLOWED = {one.name for one in fields(Requirement)} - {"threshold", "upper"} | {
    "at_most",
    "at_least",
}


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
    ends = [end for end in ("at_most", "at_least") if end in given]
    if len(ends) != 1:
        raise ValueError(f"{where}: give at_most or at_least, and only one of them")
    rule = RULES.get(str(given.get("rule", "bound")))
    if rule is None:
        raise ValueError(f'{where}: rule must be "bound" or "point", got {given["rule"]!r}')
    upper = ends[0] == "at_most"
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
            f"{where}: where {odd[0]} must be a value or a list of values, got {conditions[odd[0]]!r}"
        )
    one = metric(given["metric"])
    chosen = [name for name in conditions if name in one.event]
    if chosen:
        raise ValueError(
            f"{where}: where names {chosen[0]}, which {one.symbol} counts: the answer would be chosen"
        )
    level = level_of(given.get("level", 0.95))
    if level < LEAST_LEVEL:
        raise ValueError(
            f"{where}: level must be at least {LEAST_LEVEL}, got {level}: a bound below it bounds nothing"
        )
    if one.counted == "differences":
        raise ValueError(f"{where}: {one.symbol} is no proportion; a gate needs one")
    return Requirement(
        metric=one,
        threshold=fraction(given[ends[0]], f"{where}: {ends[0]}"),
        upper=upper,
        where=dict(conditions),
        rule=rule,
        level=level,
        cluster=given.get("cluster"),
        power_at=tuple(
            fraction(rate, f"{where}: power_at") for rate in _several(given.get("power_at", ()))
        ),
        **{
            name: str(given.get(name, ""))
            for name in ("suite_version", "owner", "schedule", "on_cannot_tell", "name")
        },
    )


def _several(rates: Any) -> list[Any]:
    """One rate or many."""
    return list(rates) if isinstance(rates, list | tuple) else [rates]
