"""`cardshoe journal new-key`: makes a new key that signs the journal, endorsed by the previous one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from controller.commands.journal.journal_options import configuration_of, problems
from controller.commands.table_options import CONFIGURATION
from controller.commands.text import write_out
from controller.journal import JournalError
from controller.journal.file import Header, foreign, speaking
from controller.journal.folder import newest_header
from controller.journal.sealing import create_key_file
from controller.journal.signing import SigningKey, fingerprint, load_signing_key, replace_signing_key
from firmware_bridge.messages import message

if TYPE_CHECKING:
    from controller.daemon.sections import JournalSection


@click.command("new-key")
@click.option("--config", required=True, type=CONFIGURATION, help="The table's configuration (TOML).")
@click.option("--lost", is_flag=True, help="The previous key is lost: a shift manager accepts the new one.")
def new_key(config: Path, lost: bool) -> None:
    """Replace the key that signs the journal by a new one, which the previous key endorses.

    The daemon uses it from its next start, and nobody has to accept it. The previous key is kept beside it.
    """
    section = configuration_of(config).journal
    with problems():
        if lost:
            _in_place_of_a_lost_one(section)
            return
        path = section.signing_key_path
        before = load_signing_key(path)
        newest = _newest(section.folder)
        if newest.public_key != before.public_key:
            raise JournalError(
                "journal-key",
                message("The key in {path} has signed nothing yet, so it cannot endorse another key.", path=str(path)),
                message("Start the daemon once, then repeat the command."),
            )
        after, kept = replace_signing_key(path, before, newest.identity.id)
    write_out(
        message(
            "The journal is signed by {key} from the next start on; {before} endorsed it.",
            key=fingerprint(after.public_key),
            before=fingerprint(before.public_key),
        )
    )
    write_out(
        message(
            "Note the fingerprint elsewhere. Delete the previous key, {path}, after the daemon has started.",
            path=str(kept),
        )
    )


def _in_place_of_a_lost_one(section: JournalSection) -> None:
    """Make a key without endorsement for the journal's owner, since root may run this. Raise `JournalError`."""
    path = section.signing_key_path
    if path.exists():
        raise JournalError(
            "journal-key",
            message("{path} exists and is not lost.", path=str(path)),
            message("Leave --lost out; then this key endorses the new one."),
        )
    before = _newest(section.folder)
    after = SigningKey(create_key_file(path))
    with speaking(path):
        owner = section.folder.stat()
        os.chown(path, owner.st_uid, owner.st_gid)
    write_out(
        message(
            "The journal is signed by {key} from the next start on; no key endorsed it.",
            key=fingerprint(after.public_key),
        )
    )
    write_out(
        message(
            "`cardshoe journal verify` will always report this. Note why {before} was lost, and note both "
            "fingerprints. A shift manager returns the table to service. Put a copy of {path} into the safe.",
            before=fingerprint(before.public_key),
            path=str(path),
        )
    )


def _newest(folder: Path) -> Header:
    found = newest_header(folder)
    if found is None:
        raise foreign(folder)
    return found
