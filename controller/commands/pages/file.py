"""The file of a page. It never overwrites other files, and an old page stays until the new one is complete.

It is separate from `page`, which needs the packages of an extra.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from controller.problems import BadInputError
from firmware_bridge.messages import message

ENDS: Final = (".html", ".htm")


class PageFile(click.Path):
    """The type of an option that names a page to be written."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check the name. Raise `BadInputError` if it is not allowed."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path.suffix.lower() not in ENDS or not _may_be_written(path):
            sentence = message("{path} is not a valid name for a page.", path=click.format_filename(path))
            raise BadInputError(sentence, message("Name a file that ends with {suffix}.", suffix=ENDS[0]))
        return path


def write_page(path: Path, text: str) -> None:
    """Write the page. Raise `BadInputError` if that fails."""
    target = Path(os.path.realpath(path))  # keeps a link a link
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(text.encode("utf-8", "replace"))
        part.replace(target)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        named = click.format_filename(path)
        raise BadInputError(
            message("{path} cannot be written: {why}.", path=named, why=error.strerror or str(error)),
            message("Name another file."),
        ) from error


def _may_be_written(path: Path) -> bool:
    """Return whether the path is free or an ordinary file."""
    try:
        return path.is_file() or not path.exists()
    except OSError:
        return True  # writing will say why not
