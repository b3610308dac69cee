"""`explore`: choose metric, modes, strata, interval and cluster; a figure, a table and one sentence
follow at once.

A thin shell: `draw` and `page` make everything from an open cube and a choice, and can be called
    without any widget.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import ipywidgets
import pandas as pd

from .analysis.choice import Choice, OpenCube, answer, cost_of, open_cube
from .analysis.disagree import MIXED
from .analysis.profile import FEW_VALUES
from .chooser import WIDE, Chooser, label
from .escape import html_text
from .metrics import METRICS
from .outcomes.contract import OutcomesError
from .outcomes.table import Outcomes
from .show import figures, tables
from .show.chart import Chart
from .show.sentence import sentence

__all__ = ["Explorer", "draw", "explore", "page"]

METHODS = ("wilson", "clopper-pearson", "jeffreys", "agresti-coull")
LEVELS = (("90 %", 0.90), ("95 %", 0.95), ("99 %", 0.99))
NO_MATH = "tex2jax_ignore mathjax_ignore"  # dollar signs of payloads are no formulas
LOOK = (
    "<style>.ferrite-numbers table, .ferrite-numbers p { line-height: 1.3; font-size: 0.85em } "
    ".ferrite-numbers .widget-html-content { width: 100%; overflow-x: auto } "
    ".ferrite-explore ul { line-height: 1.3; margin: 0.3em 0 }</style>"
)
MOST_SHOWN = 4  # columns whose values are all on the page; the others are chosen one at a time
# JupyterLab takes the keys of a closed list as commands of the notebook: "x" would cut the cell
# (ipywidgets #3912). Its own way to leave keys alone is an attribute of the focused element.
# ipywidgets can set none, so this does it.
KEYS = """<style onload="this.closest('.ferrite-explore')?.addEventListener('focusin', event =&gt; {
  if (event.target.tagName === 'SELECT')
    event.target.setAttribute('data-lm-suppress-shortcuts', 'true') })"></style>"""


def explore(runs: Outcomes) -> ipywidgets.VBox:
    """Controls for metric, modes, strata, interval, level and cluster, and beside them figure,
    table and one sentence.

    All strata are counted once when it opens; a choice only re-sums those counts. Everything can be
    reached by keyboard. "Save figure and table" writes the figure, its table and its alt text.

    Parameters
    ----------
    runs: the outcomes to look at.

    Returns
    -------
    A widget for a notebook. Where no widget can be shown (a saved notebook on a web page), the
    sentence, the call and the table of the first choice stand in its place.

    Example
    -------
    >>> import ferrite_nb as fnb
    >>> runs = fnb.outcomes(fnb.read(fnb.data("ferrite_run_a.csv")).frame)
    >>> box = fnb.explore(runs)
    """
    if not isinstance(runs, Outcomes):
        raise TypeError(
            "explore takes outcomes, as fnb.read and fnb.outcomes give them, got"
            f" {type(runs).__name__}"
        )
    return Explorer(open_cube(runs)).box


def draw(cube: OpenCube, choice: Choice) -> Chart:
    """The figure of a choice: a gradient where one is asked for, else a forest."""
    table = answer(cube, choice)
    if not choice.show.startswith("gradient:"):
        return figures.forest(table)
    return figures.gradient(table, width="column" if len(table) <= FEW_VALUES else "text")


def page(cube: OpenCube, choice: Choice, chart: Chart, cost: pd.DataFrame | None) -> dict[str, str]:
    """What the places show, as HTML: "figure", "numbers", "sentence" and "notes-below"; all text is
    escaped.
    """
    shown, caption = chart.table, "The numbers of this figure"
    beside = cost is not None and list(cost.columns) == list(shown.columns)
    if beside:
        shown, caption = (
            pd.concat([shown, cost], ignore_index=True),
            f"{caption}, and what the same modes cost",
        )
    table: str = tables.html(shown, caption=caption)
    if cost is not None and not beside:
        table += tables.html(cost, caption="What the same modes cost")
    if cost is None and METRICS[choice.metric].side == "security":
        table += "<p>No cost of these modes is in the record.</p>"
    notes = "".join(f"<li>{html_text(note)}</li>" for note in cube.notes)
    said = (
        '<p role="status"'
        f' class="{NO_MATH}"><strong>{html_text(sentence(chart.table))}</strong></p>'
    )
    return {
        "figure": chart._repr_mimebundle_(include=["text/html"])[0]["text/html"],
        "numbers": f'{LOOK}<div class="{NO_MATH}">{table}</div>',
        "sentence": (
            f'{said}<p class="{NO_MATH}">The same in code:'
            f" <code>{html_text(call_of(cube, choice))}</code></p>"
        ),
        "notes-below": (
            f'<details class="{NO_MATH}"><summary>Notes ({len(cube.notes)})</summary>'
            f"<ul>{notes}</ul></details>"
            if notes
            else ""
        ),
    }


def call_of(cube: OpenCube, choice: Choice) -> str:
    """The call that gives the same table."""
    narrowed = {
        name: list(values)
        for name, values in choice.strata.items()
        if set(values) != set(cube.values(name))
    }
    if set(choice.modes) != set(cube.modes):
        narrowed["mode"] = list(choice.modes)
    plain_names = all(name.isidentifier() for name in narrowed)
    words = (
        ", ".join(f"{name}={values!r}" for name, values in narrowed.items())
        if plain_names
        else f"**{narrowed!r}"
    )
    runs = f"runs.where({words})" if narrowed else "runs"
    options = "" if choice.level == 0.95 else f", level={choice.level}"
    named = choice.cluster[0] if len(choice.cluster) == 1 else choice.cluster
    usual = cube.runs.cluster or (("case_id",) if cube.repeats else ())
    options += f", cluster={named!r}" if choice.cluster not in (usual, ("case_id",)) else ""
    gradient, _, column = choice.show.rpartition(":")
    if gradient:
        return f"fnb.gradient({runs}, {choice.metric!r}, {column!r}{options})"
    method = (
        f", method={choice.method!r}" if choice.method != "wilson" and not choice.cluster else ""
    )
    return f"fnb.rates({runs}, {choice.metric!r}, {column!r}{method}{options})"


def on_the_page(cube: OpenCube) -> tuple[list[str], list[str]]:
    """The columns whose lists are always shown, the documented ones first, and the others."""
    if len(cube.strata) <= MOST_SHOWN:
        return list(cube.strata), []
    few = [name for name in cube.strata if len(cube.values(name)) <= FEW_VALUES]
    known = [name for name in few if name in ("suite_version", "scope", *MIXED)]
    shown = [*known, *(name for name in few if name not in known)][:MOST_SHOWN]
    return shown, [name for name in cube.strata if name not in shown]


class Page(ipywidgets.VBox):  # type: ignore[misc]
    """A box that a saved notebook shows as text where it can show no widget; no number is in a
    widget alone.
    """

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and beside it what its places show now, as HTML and as text."""
        shown: Any = super()._repr_mimebundle_(**kwargs)
        if isinstance(shown, dict):
            places = [one for one in self.children if "ferrite-sentence" in one._dom_classes]
            places += [
                inner
                for one in self.children
                if isinstance(one, ipywidgets.Box)
                for inner in one.children
                if "ferrite-numbers" in inner._dom_classes
            ]
            shown["text/html"] = "".join(place.value for place in places)
        return shown


class Explorer:
    """The controls of `explore`, and the places that show what they choose."""

    def __init__(self, cube: OpenCube) -> None:
        self.cube = cube
        self.chart: Chart | None = None
        self.known: pd.DataFrame | None = None
        self.asked: Any = None
        ordered = [name for name in cube.strata if 1 < len(cube.values(name)) <= FEW_VALUES]
        shows = [("by mode", "mode"), *((f"by {label(name)}", name) for name in ordered)]
        shows += [(f"gradient over {label(name)}", f"gradient:{name}") for name in ordered]
        clusters: list[Any] = [("(none)", ())] if cube.clusters[:1] != (("case_id",),) else []
        clusters += [
            (" × ".join("case (repeats)" if key == "case_id" else label(key) for key in keys), keys)
            for keys in cube.clusters
        ]
        self.metric = self._dropdown("Metric", [(one.symbol, one.symbol) for one in cube.metrics])
        self.show = self._dropdown("Show", shows)
        self.method = self._dropdown("Interval", [(name, name) for name in METHODS])
        self.level = self._dropdown("Level", LEVELS, value=0.95)
        self.cluster = self._dropdown("Cluster", clusters, value=next(iter(cube.clusters), ()))
        self.modes = Chooser(
            "mode", {mode: cube.values("mode").get(mode, 0) for mode in cube.modes}, self.redraw
        )
        self.strata = {name: Chooser(name, cube.values(name), self.redraw) for name in cube.strata}
        self.shown, rest = on_the_page(cube)
        self.more = ipywidgets.Dropdown(
            options=[("(none)", ""), *((label(name), name) for name in rest)],
            description="More",
            style=WIDE,
            layout={"width": "auto"},
        )
        self.more.add_class("ferrite-more")
        self.more.observe(self._more, "value")
        self.extra = ipywidgets.Box([], layout={"display": "none"})
        self.places = {
            name: self._place(name) for name in ("figure", "numbers", "sentence", "notes-below")
        }
        self.path = ipywidgets.Text(value="explore.png", description="File", style=WIDE)
        self.button = ipywidgets.Button(
            description="Save figure and table", layout={"width": "auto"}
        )
        self.saved = self._place("saved")
        self.why = self._place("fixed")
        self.again = ipywidgets.Button(description="Reset", layout={"width": "auto"})
        self.again.add_class("ferrite-reset")
        self.again.on_click(self.reset)
        self.path.add_class("ferrite-file")
        self.button.add_class("ferrite-save")
        self.button.on_click(self.save)
        self.quiet = False
        controls = (self.metric, self.show, self.method, self.level, self.cluster, self.more)
        self.first = {control: control.value for control in controls}
        self.box = self._box()
        self.redraw()

    def _dropdown(
        self, name: str, options: Iterable[Any], value: Any = None
    ) -> ipywidgets.Dropdown:
        found = list(options)
        chosen = found[0][1] if value is None and found else value
        made = ipywidgets.Dropdown(
            options=found, value=chosen, description=name, style=WIDE, layout={"width": "auto"}
        )
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
        first = ipywidgets.Box(
            [self.metric, self.show, self.method, self.why, self.level, self.cluster, self.again],
            layout=wrap,
        )
        lists = [self.strata[name].box for name in self.shown]
        more = [self.more, self.extra] if len(self.shown) < len(self.strata) else []
        second = ipywidgets.Box([self.modes.box, *lists, *more], layout=wrap)
        self.places["figure"].layout = {
            "min_width": "345px",
        }  # the table beside it stays where it is
        self.places["numbers"].layout = {"min_width": "20rem", "flex": "1 1 20rem"}
        shown = ipywidgets.Box([self.places["figure"], self.places["numbers"]], layout=wrap)
        save = ipywidgets.Box([self.path, self.button, self.saved], layout=wrap)
        places = [self.places["sentence"], shown, self.places["notes-below"], save]
        whole = Page([first, second, *places, ipywidgets.HTML(KEYS)])
        whole.add_class("ferrite-explore")
        return whole

    def _more(self, change: Any) -> None:
        """Show the list of one more column; the one shown before has all its values again."""
        before, now = self.strata.get(change["old"]), self.strata.get(change["new"])
        self.extra.children = [now.box] if now else []
        self.extra.layout.display = "flex" if now else "none"
        if before and before.narrowed:
            before.reset()
            self.redraw()

    @property
    def choice(self) -> Choice:
        """What the controls say now."""
        return Choice(
            self.metric.value,
            self.modes.chosen,
            {name: one.chosen for name, one in self.strata.items()},
            self.show.value,
            self.method.value,
            self.level.value,
            self.cluster.value,
        )

    def redraw(self) -> None:
        """Show what the controls say, or in one line why that cannot be shown."""
        if self.quiet:
            return
        gradient = self.show.value.startswith("gradient:")
        self.method.disabled = bool(self.cluster.value) or gradient
        fixed = "a gradient has its own" if gradient else "clusters have their own"
        self.why.value = f"<small>(fixed: {fixed})</small>" if self.method.disabled else ""
        try:
            self.chart = draw(self.cube, self.choice)
            found = page(self.cube, self.choice, self.chart, self.cost())
        except (ValueError, OutcomesError) as problem:
            self.chart = None
            why = (
                f'<p role="status" class="{NO_MATH}"><strong>{html_text(problem, 400)}</strong></p>'
            )
            found = {"figure": "", "numbers": "", "sentence": why, "notes-below": ""}
        for name, text in found.items():
            self.places[name].value = text

    def reset(self, _: Any = None) -> None:
        """Choose what the explorer began with, in one redraw."""
        self.quiet = True
        for chooser in (self.modes, *self.strata.values()):
            chooser.reset()
        for control, value in self.first.items():
            control.value = value
        self.quiet = False
        self.redraw()

    def cost(self) -> pd.DataFrame | None:
        """The cost beside the chosen metric; it stays the same while only the metric changes."""
        choice = self.choice
        if METRICS[choice.metric].side == "cost":
            return None
        show = (
            "mode" if choice.show.startswith("gradient:") else choice.show
        )  # the cost of a gradient is by mode
        asked = (choice.modes, choice.strata, show, choice.method, choice.level, choice.cluster)
        if asked != self.asked:
            self.asked, self.known = asked, cost_of(self.cube, choice)
        return self.known

    def save(self, _: Any = None) -> None:
        """Write the figure, its table and its alt text where the file name says."""
        try:
            if self.chart is None:
                raise ValueError("there is no figure to save: choose something first")
            said = "saved: " + ", ".join(
                str(path) for path in self.chart.save(Path(self.path.value.strip()))
            )
        except (ValueError, OSError) as problem:
            said = f"not saved: {problem}"
        self.saved.value = f'<p role="status" class="{NO_MATH}">{html_text(said, 400)}</p>'
