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
    """One section: a title, sentences, and named tables and charts in reading order; a folded one
    shows its title until it is opened.
    """

    key: str
    title: str
    sentences: list[str] = field(default_factory=list)
    tables: dict[str, tuple[pd.DataFrame, str]] = field(default_factory=dict)
    charts: dict[str, Chart] = field(default_factory=dict)
    folded: bool = False

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
        parts = [f"<p>{html_text(sentence)}</p>" for sentence in self.sentences]
        # on a small screen figures and tables scroll by themselves, also by keyboard
        parts += [picture(chart) for chart in self.charts.values()]
        parts += [
            f'<div class="wide" role="region" tabindex="0" aria-label="{html_text(caption)}">'
            f"{html(table, caption=caption)}</div>"
            for table, caption in self.tables.values()
        ]
        head = f'<h2 id="{self.key}">{html_text(self.title)}</h2>'
        body = "\n".join(parts)
        if self.folded:
            head, body = "", f"<details><summary>{head}</summary>\n{body}\n</details>"
        return f'<section aria-labelledby="{self.key}">{head}\n{body}\n</section>'


def picture(chart: Chart) -> str:
    """A figure with its words; its numbers stand in the tables of its section."""
    image = chart._repr_mimebundle_(include=["text/html"])[0]["text/html"]
    caption = f"<figcaption>{html_text(chart.caption)}</figcaption>"
    return f'<figure tabindex="0">{image}\n{caption}</figure>'


POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --quiet: #404040; --line:
  #c4c4c4; --box: #f2f2f2;
  --link: #0050a0; --focus: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --paper: #16181c; --quiet: #c0c0c0;
  --line: #4a4d52;
  --box: #24272c; --link: #8ec5ff; --focus: #ffb070; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin:
  0 auto;
  max-width: 60rem; padding: 0 1rem 3rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; }
h2 { font-size: 1.25rem; margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top:
  .6rem; }
summary h2 { display: inline; border: 0; } details { margin-top: 1rem; border-top: 1px solid
  var(--line); padding-top: .6rem; }
summary { cursor: pointer; }
a { color: var(--link); } a:focus, summary:focus, [tabindex]:focus-visible { outline: 3px solid
  var(--focus); }
table { border-collapse: collapse; margin: 1rem 0; font-size: .875rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem .3rem 0; text-align: left;
  vertical-align: top; min-width: 4.5rem; overflow-wrap: break-word; max-width: 24rem; }
figure { margin: 1.5rem 0; overflow-x: auto; } figcaption, .ferrite-notes { font-size: .875rem;
  color: var(--quiet); }
.wide { overflow-x: auto; } .answer { background: var(--box); padding: .6rem 1rem; }
nav ol { columns: 18rem; font-size: .875rem; }
@media print { body { max-width: none; } h2 { break-after: avoid; } figure, tr { break-inside:
  avoid; } }
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
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html_text(title)}</title>\n<style>{STYLE}</style></head>\n<body>\n"
        f"<header><h1>{html_text(title)}</h1></header>\n"
        f'<main><section class="answer" aria-label="The answer">{answer}</section>\n'
        f'<nav aria-label="Contents"><ol>{contents}</ol></nav>\n{body}\n</main>\n'
        "</body></html>\n"
    )
