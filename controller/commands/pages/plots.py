"""Plots as SVG: the same bytes for the same figures, drawn without a display."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from typing import Final, NamedTuple

from matplotlib import rc_context
from matplotlib.figure import Figure

WIDE: Final = (7.2, 1.9)  # inches: the width of the text on A4
DARK: Final = "#1f3a5f"  # print in black and white keeps it apart from paper


class Plot(NamedTuple):
    """`says`: what it shows, for readers who cannot see it. `caption`: how to read it, below the title."""

    title: str
    says: str
    svg: bytes
    caption: str = ""


def drawn(title: str, draw: Callable[[Figure], None], size: tuple[float, float] = WIDE) -> bytes:
    """What `draw` puts into an empty figure of that size in inches. `title` makes its identifiers."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # a folder for its cache is not the reader's concern
    written = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": title, "font.family": "sans-serif", "font.size": 9}):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        for axes in figure.axes:
            axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return written.getvalue()
