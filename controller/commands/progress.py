"""A progress bar on the terminal for reading a whole journal, separate from the command's output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from controller.journal.folder import JournalFolder


@contextmanager
def progress_of(journal: Path) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with each entry that was reached. Raise `JournalError` if there is no journal."""
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
