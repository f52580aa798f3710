"""`cardshoe journal new-key`: another key that signs the journal, endorsed by the one before."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import click

from controller.commands.journal.options import configuration_of, problems
from controller.commands.text import write_out
from controller.journal import JournalError
from controller.journal.file import Header
from controller.journal.folder import JournalFolder
from controller.journal.signing import fingerprint, load_signing_key, replace_signing_key


@click.command("new-key")
@click.option("--config", required=True, type=click.Path(path_type=Path), help="The table's configuration (TOML).")
def new_key(config: Path) -> None:
    """Replace the key that signs the journal by another one, which the key before endorses.

    The daemon takes it at its next start, and no person is asked to accept it. The key before stays beside it.
    """
    section = configuration_of(config).journal
    with problems():
        path = section.signing_key_path
        before = load_signing_key(path)
        newest = _newest(section.folder)
        if newest.public_key != before.public_key:
            raise JournalError(
                "journal-key",
                f"The key in {path} has signed nothing yet, so that it cannot endorse another one.",
                "Start the daemon once, then ask for another key.",
            )
        after, kept = replace_signing_key(path, before, newest.identity.id)
    write_out(
        f"The journal is signed by {fingerprint(after.public_key)} from the next start on; "
        f"{fingerprint(before.public_key)} endorsed it.\n"
        f"Note the fingerprint elsewhere, and delete the key before, {kept}, once the daemon has started."
    )


def _newest(folder: Path) -> Header:
    files: JournalFolder[Any, Any] = JournalFolder.open_to_read(folder)
    with closing(files.reader(files.files[-1])) as reader:
        return reader.header
