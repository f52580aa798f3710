"""A bar for what reads a whole journal: on a terminal, apart from what the command prints."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from controller.journal.folder import JournalFolder


@contextmanager
def progress_of(journal: Path) -> Iterator[Callable[[int], None]]:
    """What is called with the entry that was reached. Raises `JournalError` where there is no journal."""
    if not sys.stderr.isatty():
        yield lambda entry: None
        return
    from rich.console import Console
    from rich.progress import Progress

    files: JournalFolder[Any, Any] = JournalFolder.open_to_read(journal)
    with closing(files.reader(files.files[-1])) as newest:
        last = newest.head().number
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("checking the journal", total=last)
        yield lambda entry: progress.update(task, completed=entry)
