"""`cardshoe journal verify`: checks that a journal is what was written, and says what cannot be checked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from controller.commands.journal.journal_options import JournalRequest, journal_options, progress_of
from controller.commands.text import many, write_out
from controller.daemon.journal_types import JOURNAL_TYPES, TableFold
from controller.journal.chain import Head
from controller.journal.file import speaking
from controller.journal.sealing import load_key_file
from controller.journal.verification import Verified, verify_journal
from controller.journal.witness import WitnessedHead, read_witness
from controller.problems import BadInputError

FAILED = 4  # the exit code for a journal that differs from what was written


@click.command()
@journal_options
@click.option(
    "--head", "noted", metavar="N:HASH", help="A head that was noted elsewhere and that the journal has to hold."
)
@click.option(
    "--witness", type=click.Path(path_type=Path), help="The witness's file, whose heads the journal has to hold."
)
@click.option(
    "--key", default="", metavar="FINGERPRINT", help="The fingerprint of the key that must have signed the journal."
)
@click.option(
    "--key-file",
    type=click.Path(path_type=Path),
    help="The local key, if --config does not name it; saved states are then checked, too.",
)
@click.option("--deep", is_flag=True, help="Open all sealed items, and fold every entry again; needs --key-file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(
    asked: JournalRequest,
    noted: str | None,
    witness: Path | None,
    key: str,
    key_file: Path | None,
    deep: bool,
    as_json: bool,
) -> None:
    """Check a journal: chain, signatures, order of the files, pin. Print what was found, where, and what is not known.

    The table may be running. Exit code 0: nothing was found; 4: something was found.
    """
    key_file = key_file or asked.key_file
    if deep and key_file is None:
        raise BadInputError("A deep check opens sealed items.", "Name the local key after --key-file.")
    if not asked.path.exists():
        raise BadInputError(f"There is no journal at {asked.path}.", "Name the folder with its files after --journal.")
    heads = [] if noted is None else [_head(noted)]
    signed_at: dict[Head, list[int]] = {}
    for one in [] if witness is None else _read(witness):
        heads.append(one.head)
        signed_at.setdefault(one.head, []).append(one.utc_ns)
    local_key = None if key_file is None else load_key_file(key_file)
    with progress_of(asked.path) as reached:
        found = verify_journal(
            asked.path,
            noted=heads,
            signed_at=signed_at,
            key=key.strip().lower(),
            local_key=local_key,
            types=JOURNAL_TYPES if local_key is not None else None,
            fold=TableFold() if deep else None,
            reached=reached,
        )
    if as_json:
        write_out(msgspec.json.encode(_plain(found)).decode())
    else:
        _tell(asked.path, found)
    if found.findings:
        sys.exit(FAILED)


def _head(text: str) -> Head:
    number, _, digits = text.strip().partition(":")
    try:
        hash_ = bytes.fromhex(digits)
    except ValueError:
        hash_ = b""
    if not (number.isascii() and number.isdigit() and len(number) < 20 and len(hash_) == 32):
        raise BadInputError(
            f"{text!r} is not a head.", "Write the entry's number, a colon and 64 hexadecimal digits, as in a report."
        )
    return Head(int(number), hash_)


def _read(witness: Path) -> list[WitnessedHead]:
    with speaking(witness):
        return list(read_witness(witness))


def _tell(path: Path, found: Verified) -> None:
    counts = (
        many(found.files, "file", "files"),
        many(found.entries, "entry", "entries"),
        many(found.heads, "signed head", "signed heads"),
    )
    lines = [", ".join(counts)]
    lines += [f"signed by {key}" for key in found.keys]
    lines.append(f"ends with entry {found.head.number:,}, head {found.head.number}:{found.head.hash.hex()}")
    for finding in found.findings:
        place = " ".join(part for part in (finding.file, f"entry {finding.entry:,}" if finding.entry else "") if part)
        lines.append(f"FOUND {finding.code}{f' in {place}' if place else ''}: {finding.sentence}")
    if not found.findings:
        lines.append(f"{path} is unchanged, as far as could be checked:")
    lines += [f"  not known: {sentence}" for sentence in found.unknown]
    write_out("\n".join(lines))


def _plain(found: Verified) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(found)
    return plain | {
        name: f"{head.number}:{head.hash.hex()}" for name, head in (("head", found.head), ("signed", found.signed))
    }
