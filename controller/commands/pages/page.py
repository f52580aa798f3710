"""A page from a template beside the calling module. The template extends `page.html`."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

SHARED: Final = Path(__file__).parent


def rendered(template: Path, **values: Any) -> str:
    """Render the page. All text is escaped; a value that the template names must exist."""
    environment = Environment(
        loader=FileSystemLoader([template.parent, SHARED]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["base64"] = lambda content: base64.b64encode(content).decode()
    return environment.get_template(template.name).render(**values)
