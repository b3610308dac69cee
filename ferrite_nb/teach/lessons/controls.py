"""Controls: a named control for each argument of a drawing, and the drawing under them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import ipywidgets
from IPython.display import display

from ...escape import html_text
from ...show.chart import Chart
from ...show.tables import Html

__all__ = ["choose"]

WIDE = {"description_width": "initial"}


def choose(
    draw: Callable[..., Chart], /, *fixed: Any, height: str = "26rem", **choices: Iterable[Any]
) -> ipywidgets.VBox:
    """Put a control above a drawing for each of its arguments; a choice draws again.

    Parameters
    ----------
    draw: a function of this room, or any function that returns a Chart.
    fixed: its first arguments, which are not chosen.
    height: the least height of the place of the drawing, so that the page does not jump.
    choices: name of an argument = its values: a `range` becomes a slider, anything else a list to
        choose from. The first value is chosen at first.

    Returns
    -------
    A widget. Without a kernel it shows nothing: call `draw` with plain arguments instead.

    Notes
    -----
    A ValueError of the drawing is shown as one line. Each control has the class `ferrite-<name>`,
    the place of the drawing `ferrite-drawing` and one by the name of its function.

    Example
    -------
    `fnb.lessons.choose(fnb.lessons.one_interval, k=range(0, 21))` is a slider over the chart of
    `fnb.lessons.one_interval(k=3)`.
    """
    controls = {name: control(name, values) for name, values in choices.items()}

    def show(**chosen: Any) -> None:
        display(page(draw, *fixed, **chosen))  # type: ignore[no-untyped-call]

    place = ipywidgets.interactive_output(show, controls)
    place.layout.min_height = height
    for name in ("drawing", draw.__name__.replace("_", "-")):
        place.add_class(f"ferrite-{name}")
    wrap = {"flex_flow": "row wrap", "grid_gap": "0.4rem 1rem"}
    return ipywidgets.VBox([ipywidgets.Box(list(controls.values()), layout=wrap), place])


def control(name: str, values: Iterable[Any]) -> ipywidgets.Widget:
    """A slider for a range, a dropdown for other values, with the name as its label."""
    label = name.replace("_", " ")
    made: ipywidgets.Widget
    if isinstance(values, range):
        made = ipywidgets.IntSlider(
            value=values.start,
            min=values.start,
            max=values[-1],
            step=values.step,
            description=label,
            style=WIDE,
            continuous_update=False,  # a dragged slider would queue one drawing for each step
        )
    else:
        options = [(str(value), value) for value in values]
        made = ipywidgets.Dropdown(
            options=options,
            value=options[0][1],
            description=label,
            style=WIDE,
            layout={"width": "auto"},
        )
    made.add_class(f"ferrite-{name.replace('_', '-')}")
    return made


def page(draw: Callable[..., Chart], *fixed: Any, **chosen: Any) -> Html:
    """The drawing of a choice, or in one line why it cannot be drawn; a screen reader hears it."""
    try:
        return Html(f'<div role="status">{draw(*fixed, **chosen).html()}</div>')
    except ValueError as problem:
        return Html(f'<p role="status"><strong>{html_text(problem, 400)}</strong></p>')
