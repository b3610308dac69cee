"""The list of values of one column in `explore`, with a search above twelve values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets

from .analysis.profile import FEW_VALUES
from .escape import plain

WIDE = {"description_width": "initial"}


def label(text: str) -> str:
    """A name from a file as the label of a control, where a formula would be set as one."""
    return plain(text, 40).replace("$", "\uff04").replace("\\", "\uff3c") or "(empty)"


class Chooser:
    """Several values of one column: a list with counts, and above twelve values a search that
    narrows it.
    """

    def __init__(self, column: str, values: Mapping[str, int], changed: Callable[[], None]) -> None:
        self.column, self.values, self.changed = column, dict(values), changed
        self.quiet = False
        long = len(self.values) > FEW_VALUES
        self.list = ipywidgets.SelectMultiple(
            options=self.shown(self.values),
            value=tuple(self.values),
            description=label(column),
            style=WIDE,
            rows=min(len(self.values), 6) if not long else 5,
            layout={"width": "auto", "max_width": "26rem"},
        )
        self.search = ipywidgets.Text(
            description=f"Search {label(column)}",
            style=WIDE,
            placeholder="part of a name",
            layout={"width": "auto"},
        )
        self.list.add_class(f"ferrite-stratum-{_slug(column)}")
        self.search.add_class(f"ferrite-search-{_slug(column)}")
        self.list.observe(self._picked, "value")
        self.search.observe(self._searched, "value")
        self.box = ipywidgets.VBox([self.search, self.list] if long else [self.list])

    @property
    def narrowed(self) -> bool:
        """Whether some value is left out."""
        return len(self.chosen) < len(self.values)

    def reset(self) -> None:
        """Choose every value again, without a redraw."""
        self.quiet = True
        self.search.value = ""
        self.list.options = self.shown(self.values)
        self.list.value = tuple(self.values)
        self.quiet = False

    @property
    def chosen(self) -> tuple[str, ...]:
        """The chosen values, in their order."""
        return tuple(self.list.value)

    @staticmethod
    def shown(values: Mapping[str, int]) -> list[tuple[str, str]]:
        """What the list shows of each value: its name and its rows."""
        return [
            (f"{plain(value, 60) or '(empty)'} ({rows:,})", value) for value, rows in values.items()
        ]

    def _picked(self, _: Any) -> None:
        if not self.quiet:
            self.changed()

    def _searched(self, _: Any) -> None:
        if self.quiet:
            return
        wanted = self.search.value.strip().lower()
        found = {value: rows for value, rows in self.values.items() if wanted in value.lower()}
        self.quiet = True  # the list changes its options, then its value: that is one choice
        self.list.value = ()
        self.list.options = self.shown(found)
        self.list.value = tuple(found)
        self.quiet = False
        self.changed()


def _slug(text: str) -> str:
    return "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in text)[:40]
