"""A page from a template in the folder of the calling module, which extends `page.html`, and plots as SVG.

Plots are drawn without a display. Identical figures give identical bytes.
"""

from __future__ import annotations

import base64
import io
import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib import rc_context
from matplotlib.figure import Figure

SHARED: Final = Path(__file__).parent


def rendered(template: Path, **values: Any) -> str:
    """Render the page. All text is escaped, and every value that the template names must exist."""
    environment = Environment(
        loader=FileSystemLoader([template.parent, SHARED]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["base64"] = lambda content: base64.b64encode(content).decode()
    return environment.get_template(template.name).render(**values)


WIDE: Final = (7.2, 1.9)  # inches: the width of the text on A4
DARK: Final = "#1f3a5f"  # stays distinct from paper in black-and-white print


class Plot(NamedTuple):
    """A plot. `says` describes it for readers who cannot see it. `caption`, below the title, explains how to read
    it.
    """

    title: str
    says: str
    svg: bytes
    caption: str = ""


def drawn(title: str, draw: Callable[[Figure], None], size: tuple[float, float] = WIDE) -> bytes:
    """Return what `draw` draws into an empty figure of that size in inches. Its identifiers derive from `title`."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # its cache folder does not concern the reader
    written = io.BytesIO()
    with (
        rc_context({"svg.fonttype": "none", "svg.hashsalt": title, "font.family": "sans-serif", "font.size": 9}),
        warnings.catch_warnings(),
    ):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        for axes in figure.axes:
            axes.spines[["top", "right"]].set_visible(False)
        warnings.filterwarnings("ignore", "Glyph")  # the reader's browser has the fonts of its language
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    return written.getvalue()
