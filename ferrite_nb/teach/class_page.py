"""The class page: one HTML file with every choice drawn beforehand, for learners who can install
nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..analysis.rates import rates
from ..escape import html_text
from ..metrics import metric
from ..outcomes.table import Outcomes
from ..show.figures import forest
from ..show.files import write_whole

MOST = 12  # a stratum with more values is no choice for a class

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff;
  margin: 0 auto; padding: 1rem; max-width: 60rem; }}
select, label {{ font: inherit; }} select {{ padding: .3rem; max-width: 100%; }}
figure {{ margin: 1rem 0; overflow-x: auto; }} figcaption {{ margin: .5rem 0; max-width: 45rem; }}
table {{ border-collapse: collapse; }} caption {{ text-align: left; }}
th, td {{ padding: .2rem .6rem; border-bottom: 1px solid #767676; vertical-align: top; }}
.heard {{ position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }}
.narrow {{ display: none; }}
@media (max-width: 45rem) {{ .narrow {{ display: block; }} figure > img {{ display: none; }} }}
@media (prefers-color-scheme: dark) {{ body {{ color: #eee; background: #161616; }} }}
@media print {{ .choice {{ display: block !important; break-inside: avoid; }}
  form, #said {{ display: none; }} }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{data}</p>
<p>{words}</p>
<form><p><label for="cases">Cases</label> <select id="cases" autocomplete="off">
{options}
</select></p></form>
<p id="said" role="status"></p><noscript><p>All choices follow one another.</p></noscript>
{sections}
</main>
<script>
const chooser = document.getElementById("cases");
const said = document.getElementById("said");
const show = () => {{
  for (const part of document.querySelectorAll(".choice")) part.hidden = part.id !== chooser.value;
  const heard = document.createElement("span");
  heard.className = "heard";
  heard.textContent = document.querySelector(`#${{chooser.value}} img`).alt;
  said.replaceChildren(`Shown: ${{chooser.selectedOptions[0].text}}. `, heard);
}};
chooser.addEventListener("change", show);
show();
</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Choice:
    """One choice of cases: its name on the page, and the outcomes it leaves."""

    name: str
    runs: Outcomes


def choices(runs: Outcomes, by: Sequence[str]) -> Iterator[Choice]:
    """All cases, then each value of each stratum of `by` that the data have."""
    yield Choice("all cases", runs)
    for column in (name for name in by if name in runs.columns):
        values = rates(runs, metrics="ASR", by=column)[
            column
        ].drop_duplicates()  # in the order of every table
        if 2 <= len(values) <= MOST:
            yield from (
                Choice(f"{column}: {value}", runs.where(**{column: value})) for value in values
            )


def page(
    runs: Outcomes,
    *,
    by: Sequence[str] = ("tier", "scope"),
    metrics: Sequence[str] = ("ASR", "FGR"),
    cluster: str | None = None,
    title: str = "What did the attacks do?",
    data: str = "",
) -> str:
    """The whole page as HTML: one figure with its table for each choice; without JavaScript all
    stand in order.

    Parameters
    ----------
    runs : the outcomes
    by : columns whose values can be chosen; one with more than twelve values, or with one, is left
        out
    metrics : security metrics with the cost beside them
    cluster : the column whose cases are alike
    title : the heading of the page
    data : what the data are (real, reconstructed or synthetic); without it the source and the notes
        of `runs`

    Returns
    -------
    HTML without any outside address. Text from the results is escaped.
    """
    options, sections = [], []
    for number, choice in enumerate(choices(runs, by)):
        table = rates(choice.runs, metrics=list(metrics), by="mode", cluster=cluster)
        # A phone is as wide as a column: there the picture is drawn for that width, so that its
        # letters keep their size.
        narrow = forest(table, width="column")._repr_mimebundle_()[0]["text/html"]
        name = html_text(choice.name)
        options.append(f'<option value="choice-{number}">{name}</option>')
        figure = f'<div class="narrow">{narrow}</div>\n{forest(table, width="text").html()}'
        sections.append(
            f'<section class="choice" id="choice-{number}">\n<h2>{name}</h2>\n{figure}\n</section>'
        )
    spelled = "; ".join(
        f"{one.symbol} is the {one.name}: {one.meaning}" for one in map(metric, metrics)
    )
    return PAGE.format(
        title=html_text(title),
        data=html_text(f"Data: {data or '; '.join((runs.source, *runs.notes))}."),
        words=html_text(
            f"{spelled}. A number is given as k/n with both bounds of its interval in brackets, "
            "in percent."
        ),
        options="\n".join(options),
        sections="\n".join(sections),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page: `python -m ferrite_nb.teach.class_page RESULTS -o class_page.html`."""
    from ..readers import read

    parser = argparse.ArgumentParser(
        prog="python -m ferrite_nb.teach.class_page", description=__doc__
    )
    parser.add_argument("results", nargs="+", help="one or more results files or folders")
    parser.add_argument("-o", "--output", type=Path, default=Path("class_page.html"))
    parser.add_argument("--cluster", help="the column whose cases are alike")
    parser.add_argument("--title", default="What did the attacks do?")
    parser.add_argument(
        "--data", default="", help="what the data are: real, reconstructed or synthetic"
    )
    args = parser.parse_args(arguments)
    try:
        made = page(read(args.results), cluster=args.cluster, title=args.title, data=args.data)
    except (ValueError, OSError) as problem:
        print(f"class page: {problem}", file=sys.stderr)
        return 2
    write_whole({args.output: made.encode("utf-8")})
    print(args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
