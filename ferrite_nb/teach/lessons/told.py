"""Told: a chart with one sentence that says what it shows; what every drawing of a lesson
returns.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from ...escape import html_text
from ...show.chart import Chart
from ...show.tables import Html

__all__ = ["Told", "told"]


@dataclass(frozen=True, eq=False, repr=False)
class Told(Chart):
    """A chart and its finding. `html()` puts the finding first: it changes with every choice, and
    can be heard.
    """

    finding: str = ""

    def html(self) -> Html:
        """The finding, then the picture with its alt text, its caption and its table."""
        return Html(
            f'<p role="status"><strong>{html_text(self.finding)}</strong></p>\n{super().html()}'
        )


def told(chart: Chart, finding: str) -> Told:
    """The same chart with a finding."""
    return Told(**{one.name: getattr(chart, one.name) for one in fields(Chart)}, finding=finding)
