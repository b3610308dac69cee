"""Write the nine figures of the bundled data: `python scripts/make_figures.py [--out FOLDER]`.

The cells of the notebook on paper figures make the tables and choose the drawing, so a figure is
described once. Each comes as PDF and SVG, 3.3 and 7 inches wide, with its data, alt text and
caption; the same bytes each time.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from ferrite_nb.show.style import WIDTHS

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "09_paper_figures.ipynb"
CELLS = ("set-up", "totals", "heatmap", "plane", "figure-tables", "paper-figure")


def cells() -> dict[str, Any]:
    """The names that those cells of the notebook define: `tables` and `paper_figure`."""
    made: dict[str, Any] = {}
    sources = {cell.id: cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells}
    for name in CELLS:
        exec(compile(sources[name], f"{NOTEBOOK.name}, cell {name}", "exec"), made)
    return made


def write_figures(folder: Path) -> Iterator[Path]:
    """Write all figures at both widths, each width in a folder of its own; gives the paths."""
    made = cells()
    for width in WIDTHS:
        place = folder / width
        place.mkdir(parents=True, exist_ok=True)
        for name in made["tables"]:
            chart = made["paper_figure"](name, width)
            for kind in ("pdf", "svg"):
                yield from chart.save(place / f"{name}.{kind}")
            caption = place / f"{name}.caption.txt"
            caption.write_text(chart.caption + "\n", encoding="utf-8")
            yield caption


def main() -> None:
    """Write all figures and say where they are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path("figures"), help="the folder")
    folder = parser.parse_args().out
    written = set(write_figures(folder))
    figures = len({path.stem for path in written if path.suffix == ".pdf"})
    print(f"{figures} figures at two widths, {len(written)} files in {folder}")


if __name__ == "__main__":
    main()
