"""What one metric is: its event, its population, which way is better, and the reason for a gap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

ATTACK: Mapping[str, str | bool] = {"kind": "attack"}
BENIGN: Mapping[str, str | bool] = {"kind": "benign"}


@dataclass(frozen=True)
class Metric:
    """One metric: an event, counted in a population.

    `event` and `population` map column names to the value they must have; a row is *known* when
    every column of `event` is known. `counted` says what one unit is: rows, distinct cases, amounts
        (one column summed over another),
    traces compared with the baseline mode, or differences between two modes (no proportion: see
    `fnb.overhead`). `inactive` names modes in which the event cannot occur, each with the reason to
    print where nothing is known; `elsewhere` modes whose records mean another metric. `gap` is the
    reason to print when the data lack what the metric needs.
    """

    symbol: str
    name: str
    meaning: str
    event: Mapping[str, bool]
    population: Mapping[str, str | bool]
    better: Literal["lower", "higher"]
    side: Literal["security", "cost"]
    gap: str
    counted: Literal["rows", "cases", "amounts", "traces", "differences"] = "rows"
    amounts: tuple[str, ...] = ()
    inactive: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    live: bool | None = None
    measured: bool = True

    @property
    def measures(self) -> tuple[str, ...]:
        """The columns of amounts, traces or numbers that are counted in place of an event."""
        return ("trace",) if self.counted == "traces" else tuple(dict.fromkeys(self.amounts))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the metric reads beside `case_id` and `mode`, without `measurable`."""
        return tuple(dict.fromkeys((*self.population, *self.event, *self.measures)))

    @property
    def own(self) -> set[str]:
        """The columns that only a record which tries to give this metric has."""
        return (
            set(self.columns) - {"kind"} - ({"attack_success"} if len(self.columns) > 2 else set())
        )

    @property
    def leaves_out_unmeasurable(self) -> bool:
        """Whether attacks that were not measurable are left out, where the record says so."""
        return self.measured and self.population.get("kind") == "attack"

    @property
    def numerator(self) -> str:
        """The numerator in words."""
        first = "".join(self.amounts[:1])
        events = [f"{column} {str(value).lower()}" for column, value in self.event.items()]
        special = {
            "traces": "benign cases whose trace equals that of the same case in the baseline mode",
            "differences": f"{first} in the mode minus in the baseline mode, case by case",
        }
        return special.get(self.counted) or (f"sum of {first}" if first else " and ".join(events))

    @property
    def denominator(self) -> str:
        """The denominator in words."""
        facts = {name: value for name, value in self.population.items() if name != "kind"}
        limits = [f"{name} {str(value).lower()}" for name, value in facts.items()]
        limits += ["measurable"] if self.leaves_out_unmeasurable else []
        unit = f"{self.population.get('kind', '')} {'cases' if self.counted == 'cases' else 'rows'}"
        where = " with ".join(filter(None, [unit.strip(), " and ".join(limits)]))
        if self.counted in {"traces", "differences"}:
            return "cases with the record in both modes"
        return f"sum of {self.amounts[1]} over {where}" if self.amounts else f"{where}, event known"
