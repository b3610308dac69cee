"""Write the nine figures of the bundled data: `python scripts/make_figures.py [--out FOLDER]`.

Each figure comes as PDF and SVG, 3.3 and 7 inches wide, with its data, alt text and caption; the
same bytes each time.
"""

from __future__ import annotations

import argparse

from ferrite_nb.teach.lessons.paper import FIGURES, write_figures


def main() -> None:
    """Write all figures and say where they are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", default="figures", help="the folder (default: figures)")
    folder = parser.parse_args().out
    written = list(write_figures(folder))
    print(f"{len(FIGURES)} figures at two widths, {len(written)} files in {folder}")


if __name__ == "__main__":
    main()
