"""Parts of a report: a section with its text, tables and figures, and how each is shown on the
page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from ..escape import html_text
from ..show.chart import Chart
from ..show.tables import html


@dataclass
class Section:
    """One section: a title, sentences, and named tables and charts in reading order."""

    key: str
    title: str
    sentences: list[str] = field(default_factory=list)
    tables: dict[str, tuple[pd.DataFrame, str]] = field(default_factory=dict)
    charts: dict[str, Chart] = field(default_factory=dict)

    def table(self, name: str, table: pd.DataFrame, caption: str) -> None:
        """Add a table; its name becomes that of its files."""
        self.tables[name] = (table, caption)

    def chart(self, name: str, draw: Callable[[], Chart]) -> None:
        """Add a figure; one that this table does not fit is named with the reason, and the tables
        stay.
        """
        try:
            self.charts[name] = draw()
        except ValueError as problem:
            self.sentences.append(f"The figure {name} is left out: {problem}.")

    def html(self) -> str:
        """The section as HTML, everything escaped."""
        parts = [
            f'<section aria-labelledby="{self.key}"><h2 id="{self.key}">{html_text(self.title)}</h2>'
        ]
        parts += [f"<p>{html_text(sentence)}</p>" for sentence in self.sentences]
        # on a small screen figures and tables scroll by themselves, also by keyboard
        parts += [chart.html() for chart in self.charts.values()]
        parts += [
            f'<div class="wide" role="region" tabindex="0" aria-label="{html_text(caption)}">'
            f"{html(table, caption=caption)}</div>"
            for table, caption in self.tables.values()
        ]
        return "\n".join([*parts, "</section>"])


STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto; max-width: 60rem;
  padding: 0 1rem 3rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; }
h2 { font-size: 1.25rem; margin-top: 2.5rem; border-top: 1px solid #767676; padding-top: .6rem; }
a { color: #0050a0; } a:focus, summary:focus, [tabindex]:focus-visible { outline: 3px solid #d55e00; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .875rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { border-bottom: 1px solid #c4c4c4; padding: .3rem .6rem .3rem 0; text-align: left;
  vertical-align: top; min-width: 4.5rem; overflow-wrap: break-word; max-width: 24rem; }
figure { margin: 1.5rem 0; overflow-x: auto; } figcaption, .ferrite-notes { font-size: .875rem; color: #404040; }
.wide { overflow-x: auto; } .answer { background: #f2f2f2; padding: .6rem 1rem; }
@media print { body { max-width: none; } h2 { break-after: avoid; } figure, tr { break-inside: avoid; } }
"""


def page(title: str, lead: list[str], sections: list[Section]) -> str:
    """The whole page: one file, no address, no script."""
    contents = "".join(
        f'<li><a href="#{one.key}">{html_text(one.title)}</a></li>' for one in sections
    )
    answer = "".join(f"<p>{html_text(sentence)}</p>" for sentence in lead)
    body = "\n".join(one.html() for one in sections)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html_text(title)}</title>\n<style>{STYLE}</style></head>\n<body>\n"
        f'<header><h1>{html_text(title)}</h1></header>\n<nav aria-label="Contents"><ol>{contents}</ol></nav>\n'
        f'<main><section class="answer" aria-label="The answer">{answer}</section>\n{body}\n</main>\n'
        "</body></html>\n"
    )
