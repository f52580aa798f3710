"""`cardshoe journal verify`: checks that a journal is what was written, and says what cannot be checked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from controller.commands.journal.journal_options import JournalRequest, journal_options, progress_of
from controller.commands.journal.source import head_text
from controller.commands.text import write_out
from controller.daemon.journal_types import JOURNAL_TYPES, TableFold
from controller.journal.chain import Head
from controller.journal.file import speaking
from controller.journal.sealing import load_key_file
from controller.journal.verification import Finding, Verified, verify_journal
from controller.journal.witness import WitnessedHead, read_witness
from controller.language import Speaker
from controller.problems import BadInputError
from controller.table.events.lines import listed
from firmware_bridge.messages import AnyText, Message, counted, message

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
    help="The local key, if --config does not name it; then saved states are also checked.",
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
        raise BadInputError(
            message("A deep check opens sealed items."), message("Name the local key after --key-file.")
        )
    if not asked.path.exists():
        raise BadInputError(
            message("There is no journal at {path}.", path=str(asked.path)),
            message("Name the folder with its files after --journal."),
        )
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
        _tell(asked.path, found, asked.say)
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
            message("{name} is not a head.", name=repr(text)),
            message("Write the entry's number, a colon and 64 hexadecimal digits, as in a report."),
        )
    return Head(int(number), hash_)


def _read(witness: Path) -> list[WitnessedHead]:
    with speaking(witness):
        return list(read_witness(witness))


def _tell(path: Path, found: Verified, say: Speaker) -> None:
    counts = (
        counted("1 file", "{count} files", found.files),
        counted("1 entry", "{number} entries", found.entries, number=f"{found.entries:,}"),
        counted("1 signed head", "{number} signed heads", found.heads, number=f"{found.heads:,}"),
    )
    lines = [listed(counts)]
    lines += [message("signed by {key}", key=key) for key in found.keys]
    lines.append(message("ends with entry {entry}, head {head}", entry=found.head.number, head=head_text(found.head)))
    lines += map(_finding, found.findings)
    if not found.findings:
        lines.append(message("{path} is unchanged, as far as could be checked:", path=str(path)))
    unknown = [f"  {say(message('not known: {what}', what=what))}" for what in found.unknown]
    write_out("\n".join([*map(say, lines), *unknown]))


def _finding(finding: Finding) -> Message:
    if not finding.file and not finding.entry:
        return message("FOUND {code}: {what}", code=finding.code, what=finding.sentence)
    place: AnyText = finding.file
    if finding.entry:
        place = message("{file} entry {entry}" if finding.file else "entry {entry}", file=place, entry=finding.entry)
    return message("FOUND {code} in {place}: {what}", code=finding.code, place=place, what=finding.sentence)


def _plain(found: Verified) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(found)
    return plain | {
        "findings": [msgspec.structs.asdict(one) | {"sentence": str(one.sentence)} for one in found.findings],
        "unknown": list(map(str, found.unknown)),
        "head": head_text(found.head),
        "signed": head_text(found.signed),
    }
