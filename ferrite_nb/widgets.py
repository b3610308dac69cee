"""`explore`: choose metric, modes, strata, interval and cluster; a figure, a table and one sentence follow at once.

A thin shell: `draw` and `page` make everything from an open cube and a choice, and can be called without any widget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import ipywidgets

from .analysis.choice import Choice, OpenCube, answer, cost_of, open_cube
from .analysis.profile import FEW_VALUES
from .columns import OutcomesError
from .outcomes import Outcomes
from .show import figures, tables
from .show.chart import Chart
from .show.escape import html_text, plain
from .show.sentence import sentence

__all__ = ["Explorer", "draw", "explore", "page"]

METHODS = ("wilson", "clopper-pearson", "jeffreys", "agresti-coull")
LEVELS = (("90 %", 0.90), ("95 %", 0.95), ("99 %", 0.99))
NO_MATH = "tex2jax_ignore mathjax_ignore"  # dollar signs of payloads are no formulas
WIDE = {"description_width": "initial"}


def explore(runs: Outcomes) -> ipywidgets.VBox:
    """Controls for metric, modes, strata, interval, level and cluster, and beside them figure, table and one sentence.

    All strata are counted once when it opens; a choice only re-sums those counts. Everything can be reached by
    keyboard. "Save figure and table" writes the figure, its table and its alt text.

    Parameters
    ----------
    runs: the outcomes to look at.

    Returns
    -------
    A widget for a notebook. Without a kernel it shows nothing: `fnb.figures.forest(fnb.rates(runs, …))` draws the same
    picture, and the line under the sentence gives that call.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.outcomes(fnb.read(fnb.data("ferrite_run_a.csv")).frame)
    >>> box = fnb.explore(runs)
    """
    if not isinstance(runs, Outcomes):
        raise TypeError(f"explore takes outcomes, as fnb.read and fnb.outcomes give them, got {type(runs).__name__}")
    return Explorer(open_cube(runs)).box


def draw(cube: OpenCube, choice: Choice) -> Chart:
    """The figure of a choice: a gradient where one is asked for, else a forest."""
    table = answer(cube, choice)
    return figures.gradient(table) if choice.show.startswith("gradient:") else figures.forest(table)


def page(cube: OpenCube, choice: Choice, chart: Chart) -> dict[str, str]:
    """What stands around the figure, as HTML: "figure", "table", "sentence" and "notes"; all text is escaped."""
    cost = cost_of(cube, choice)
    table = tables.html(chart.table, caption="The numbers of this figure")
    if cost is not None:
        table += tables.html(cost, caption="What the same modes cost")
    elif chart.table["metric"].iloc[0] not in ("FGR", "false refusal", "task success"):
        table += "<p>No cost of these modes is in the record.</p>"
    notes = "".join(f"<li>{html_text(note)}</li>" for note in cube.notes)
    said = f'<p role="status" class="{NO_MATH}"><strong>{html_text(sentence(chart.table))}</strong></p>'
    return {
        "figure": chart._repr_mimebundle_(include=["text/html"])[0]["text/html"],
        "table": f'<div class="{NO_MATH}">{table}</div>',
        "sentence": f'{said}<p class="{NO_MATH}">The same in code: <code>{html_text(call_of(cube, choice))}</code></p>',
        "notes": f'<ul class="{NO_MATH}">{notes}</ul>' if notes else "",
    }


def call_of(cube: OpenCube, choice: Choice) -> str:
    """The call that gives the same table."""
    narrowed = {name: list(values) for name, values in choice.strata.items() if set(values) != set(cube.values(name))}
    if set(choice.modes) != set(cube.modes):
        narrowed["mode"] = list(choice.modes)
    plain_names = all(name.isidentifier() for name in narrowed)
    words = ", ".join(f"{name}={values!r}" for name, values in narrowed.items()) if plain_names else f"**{narrowed!r}"
    runs = f"runs.where({words})" if narrowed else "runs"
    options = "" if choice.level == 0.95 else f", level={choice.level}"
    options += f", cluster={choice.cluster!r}" if choice.cluster not in ("", "case_id") else ""
    gradient, _, column = choice.show.rpartition(":")
    if gradient:
        return f"fnb.gradient({runs}, {choice.metric!r}, {column!r}{options})"
    method = f", method={choice.method!r}" if choice.method != "wilson" and not choice.cluster else ""
    return f"fnb.rates({runs}, {choice.metric!r}, {column!r}{method}{options})"


def label(text: str) -> str:
    """A name from a file as the label of a control, where a formula would be set as one."""
    return plain(text, 40).replace("$", "\uff04").replace("\\", "\uff3c") or "(empty)"


class Chooser:
    """Several values of one column: a list with counts, and above twelve values a search that narrows it."""

    def __init__(self, column: str, values: Mapping[str, int], changed: Callable[[], None]) -> None:
        self.column, self.values, self.changed = column, dict(values), changed
        self.quiet = False
        long = len(self.values) > FEW_VALUES
        self.list = ipywidgets.SelectMultiple(
            options=self.shown(self.values), value=tuple(self.values), description=label(column), style=WIDE,
            rows=min(len(self.values), 6) if not long else 5, layout={"width": "auto", "max_width": "26rem"},
        )  # fmt: skip
        self.search = ipywidgets.Text(
            description=f"Search {label(column)}", style=WIDE, placeholder="part of a name", layout={"width": "auto"}
        )
        self.list.add_class(f"ferrite-stratum-{_slug(column)}")
        self.search.add_class(f"ferrite-search-{_slug(column)}")
        self.list.observe(self._picked, "value")
        self.search.observe(self._searched, "value")
        self.box = ipywidgets.VBox([self.search, self.list] if long else [self.list])

    @property
    def chosen(self) -> tuple[str, ...]:
        """The chosen values, in their order."""
        return tuple(self.list.value)

    @staticmethod
    def shown(values: Mapping[str, int]) -> list[tuple[str, str]]:
        """What the list shows of each value: its name and its rows."""
        return [(f"{plain(value, 60) or '(empty)'} ({rows:,})", value) for value, rows in values.items()]

    def _picked(self, _: Any) -> None:
        if not self.quiet:
            self.changed()

    def _searched(self, _: Any) -> None:
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


class Explorer:
    """The controls of `explore`, and the places that show what they choose."""

    def __init__(self, cube: OpenCube) -> None:
        self.cube = cube
        self.chart: Chart | None = None
        ordered = [name for name in cube.strata if 1 < len(cube.values(name)) <= FEW_VALUES]
        shows = [("by mode", "mode"), *((f"by {label(name)}", name) for name in ordered)]
        shows += [(f"gradient over {label(name)}", f"gradient:{name}") for name in ordered]
        clusters = [("(none)", "")] if cube.clusters[:1] != ("case_id",) else []
        clusters += [("case (repeats)" if name == "case_id" else label(name), name) for name in cube.clusters]
        self.metric = self._dropdown("Metric", [(one.symbol, one.symbol) for one in cube.metrics])
        self.show = self._dropdown("Show", shows)
        self.method = self._dropdown("Interval", [(name, name) for name in METHODS])
        self.level = self._dropdown("Level", LEVELS, value=0.95)
        self.cluster = self._dropdown("Cluster", clusters, value=next(iter(cube.clusters), ""))
        self.modes = Chooser("mode", {mode: cube.values("mode").get(mode, 0) for mode in cube.modes}, self.redraw)
        self.strata = {name: Chooser(name, cube.values(name), self.redraw) for name in cube.strata}
        self.places = {name: self._place(name) for name in ("figure", "table", "sentence", "notes")}
        self.path = ipywidgets.Text(value="explore.png", description="File", style=WIDE)
        self.button = ipywidgets.Button(description="Save figure and table", layout={"width": "auto"})
        self.saved = self._place("saved")
        self.path.add_class("ferrite-file")
        self.button.add_class("ferrite-save")
        self.button.on_click(self.save)
        self.box = self._box()
        self.redraw()

    def _dropdown(self, name: str, options: Iterable[Any], value: Any = None) -> ipywidgets.Dropdown:
        found = list(options)
        chosen = found[0][1] if value is None and found else value
        made = ipywidgets.Dropdown(options=found, value=chosen, description=name, style=WIDE, layout={"width": "auto"})
        made.add_class(f"ferrite-{name.lower()}")
        made.observe(lambda _: self.redraw(), "value")
        return made

    @staticmethod
    def _place(name: str) -> ipywidgets.HTML:
        made = ipywidgets.HTML()
        made.add_class(f"ferrite-{name}")
        return made

    def _box(self) -> ipywidgets.VBox:
        wrap = {"flex_flow": "row wrap", "align_items": "flex-start", "grid_gap": "0.4rem 1rem"}
        first = ipywidgets.Box([self.metric, self.show, self.method, self.level, self.cluster], layout=wrap)
        second = ipywidgets.Box([self.modes.box, *(one.box for one in self.strata.values())], layout=wrap)
        self.places["figure"].layout = {"min_height": "24rem", "min_width": "345px"}  # nothing jumps at a choice
        self.places["table"].layout = {"min_width": "20rem", "flex": "1 1 24rem", "overflow": "auto"}
        shown = ipywidgets.Box([self.places["figure"], self.places["table"]], layout=wrap)
        save = ipywidgets.Box([self.path, self.button, self.saved], layout=wrap)
        whole = ipywidgets.VBox([first, second, shown, self.places["sentence"], save, self.places["notes"]])
        whole.add_class("ferrite-explore")
        return whole

    @property
    def choice(self) -> Choice:
        """What the controls say now."""
        return Choice(
            self.metric.value, self.modes.chosen, {name: one.chosen for name, one in self.strata.items()},
            self.show.value, self.method.value, self.level.value, self.cluster.value,
        )  # fmt: skip

    def redraw(self) -> None:
        """Show what the controls say, or in one line why that cannot be shown."""
        self.method.disabled = bool(self.cluster.value) or self.show.value.startswith("gradient:")
        try:
            self.chart = draw(self.cube, self.choice)
            found = page(self.cube, self.choice, self.chart)
        except (ValueError, OutcomesError) as problem:
            self.chart = None
            why = f'<p role="status" class="{NO_MATH}"><strong>{html_text(problem, 400)}</strong></p>'
            found = {"figure": "", "table": "", "sentence": why}
        for name, text in found.items():
            self.places[name].value = text

    def save(self, _: Any = None) -> None:
        """Write the figure, its table and its alt text where the file name says."""
        try:
            if self.chart is None:
                raise ValueError("there is no figure to save: choose something first")
            said = "saved: " + ", ".join(str(path) for path in self.chart.save(Path(self.path.value.strip())))
        except (ValueError, OSError) as problem:
            said = f"not saved: {problem}"
        self.saved.value = f'<p role="status" class="{NO_MATH}">{html_text(said, 400)}</p>'
