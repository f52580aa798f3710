"""The file of a page: no other file is written over by it, and an old page stays until the new one is whole."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from controller.problems import BadInputError

ENDS: Final = (".html", ".htm")


class PageFile(click.Path):
    """The type of an option that names a page to be written."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Raises `BadInputError`."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path.suffix.lower() not in ENDS or (path.exists() and not path.is_file()):
            sentence = f"{click.format_filename(path)} is no name of a page."
            raise BadInputError(sentence, f"Name a file that ends with {ENDS[0]}.")
        return path


def write_page(path: Path, text: str) -> None:
    """Raises `BadInputError` where it cannot be written."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise BadInputError(f"{path} cannot be written: {error.strerror}.", "Name another file.") from error
