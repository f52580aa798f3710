"""`cardshoe audit run`: the verdict on the decks in files, as a report."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence
from io import BufferedReader, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from controller.commands.found_commands import of_extra
from controller.commands.pages.file import PageFile, write_page
from controller.commands.text import page, write_out
from controller.problems import BadInputError
from firmware_bridge.messages import message
from firmware_bridge.plain_text import plain
from shuffle_audit.commands.options import LEVEL, in_journals, progress, split

if TYPE_CHECKING:
    from shuffle_audit.commands.report import ReadFile
    from shuffle_audit.orders import DeckOrders
    from shuffle_audit.table_hands import TableRound

BAD: Final = 1  # exit codes; 0: nothing found
CHUNK: Final = 1 << 20  # bytes
LONGEST_ABOUT: Final = 500  # characters
NO_VERDICT: Final = 2  # same as for bad input, so that it does not pass for a good machine


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILES...",
                type=click.Path(path_type=Path))  # fmt: skip
@click.option("--level", type=LEVEL, default=0.01, show_default=True,
              help="The chance of a false alarm, over everything that is examined.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="The seed of all simulations; the same seed gives the same output.")  # fmt: skip
@click.option("--money", "with_money", is_flag=True,
              help="If there is an alarm, simulate what the shuffle costs in each game. This takes half a "
                  "minute.")  # fmt: skip
@click.option("--html", type=PageFile(), metavar="FILE",
              help="Write the report as one HTML page, with plots.")  # fmt: skip
@click.option("--new-deck", "maker", metavar="standard|FILE",
              help="For journals: the order of a new deck in its box, in which it goes into the shuffler.")  # fmt: skip
@click.option("--key-file", type=click.Path(path_type=Path, dir_okay=False),
              help="The local key of a journal, so that recalled cards also count.")  # fmt: skip
@click.option("--about", multiple=True, metavar="TEXT",
              help="What was examined, for the report: machine, place, date, person; may be repeated.")  # fmt: skip
@click.option("--as-written", is_flag=True,
              help="Also judge orders that look as if 'before' and 'after' were exchanged.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
def run(
    files: tuple[Path, ...], level: float, seed: int, with_money: bool, html: Path | None, maker: str | None,
    key_file: Path | None, about: tuple[str, ...], as_written: bool, as_json: bool,
) -> None:  # fmt: skip
    """Judge whether decks were shuffled well: JSON Lines ({"before": [...], "after": [...]}) or CSV
    (deck,before,after), or a table's journal, its folder or a file of it.

    Exit code 0: nothing was found; 1: bad; 2: the files cannot be used, or allow no verdict.
    """
    with of_extra("audit", message("{name} cannot be used", name="numpy")):
        from shuffle_audit.commands.making import report_of
        from shuffle_audit.commands.parts import headline, write
        from shuffle_audit.orders import OrderError
    if html is not None:
        with of_extra("audit", "A page cannot be made"):
            from shuffle_audit.commands.report_page import page_of
    decks, read, rounds = _read(files, maker, key_file, as_written=as_written)
    try:
        said = tuple(plain(one, LONGEST_ABOUT) for one in about)
        report, orders = report_of(decks, read, level, seed, with_money=with_money, about=said, rounds=rounds)
    except OrderError as error:
        raise BadInputError(str(error), "Nothing was concluded. Audit files and journals separately.") from error
    if html is not None:
        write_page(html, page_of(report, orders))
    if as_json:
        write_out(msgspec.json.encode(report).decode())
    elif html is not None:
        write_out(f"{headline(report)} Written to {html}.")
    else:
        paper = page()
        write(paper, report)
        paper.show()
    if code := {"bad": BAD, "no verdict": NO_VERDICT}.get(report.result.verdict):
        sys.exit(code)


class Digests:
    """Files with the SHA-256 of their content, in order. `advance` is called with the bytes read since its last
    call.
    """

    def __init__(self, advance: Callable[[int], object] = lambda read: None) -> None:
        self.files: dict[str, Path] = {}
        self._advance = advance

    def opened(self, file: Path) -> BufferedReader:
        """Open a file, which is hashed while it is read. Raise OSError. At its end, reading raises `BadInputError` if
        an earlier file has the same bytes.
        """
        return BufferedReader(_HashedFile(file, self._advance, self._keep), CHUNK)

    def _keep(self, file: Path, digest: str) -> None:
        former = self.files.setdefault(digest, file)
        if former is not file:
            named = click.format_filename(file), click.format_filename(former)
            raise BadInputError(
                f"{named[0]} has the same bytes as {named[1]}.", "Each deck counts once. Name only one of them."
            )


class _HashedFile(FileIO):
    """A file that calls `read` with the number of bytes that were read, and `ended` with the SHA-256 of all of them."""

    def __init__(self, file: Path, read: Callable[[int], object], ended: Callable[[Path, str], object]) -> None:
        super().__init__(file)
        self._file = file
        self._told = read
        self._ended = ended
        self._digest = hashlib.sha256()

    def readinto(self, buffer: Any) -> int | None:
        count = super().readinto(buffer)
        self._digest.update(memoryview(buffer)[:count])
        self._told(count or 0)
        if count == 0:
            self._ended(self._file, self._digest.hexdigest())
        return count


def _read(
    files: tuple[Path, ...], maker: str | None, key_file: Path | None, *, as_written: bool
) -> tuple[Sequence[DeckOrders], tuple[ReadFile, ...], list[TableRound]]:
    """Return the decks of files, then of journals, what was read from each, and the hands of the journals' rounds.
    Raise `BadInputError` and `JournalProblemError`.
    """
    from shuffle_audit.commands.report import ReadFile
    from shuffle_audit.order_files import OrderFileError, read_decks
    from shuffle_audit.seen_orders import seen_of
    from shuffle_audit.table_hands import TableRound

    seen: set[Path] = set()
    for file in files:
        if file.resolve() in seen:
            raise BadInputError(f"{click.format_filename(file)} is named twice.", "Each deck counts once.")
        seen.add(file.resolve())
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise BadInputError(f"{click.format_filename(file)} is not a file.", "Name a file of decks, or a journal.")
    of_decks, journals = split(files)
    with progress("reading decks", sum(file.stat().st_size for file in of_decks if file.exists())) as advance:
        digests = Digests(advance)
        try:
            found = read_decks(of_decks, digests.opened, as_written=as_written)
        except OrderFileError as error:
            raise BadInputError(str(error), "Nothing was concluded. Correct that, or remove those decks.") from error
    read, few = [], set(seen_of(found.decks).few.tolist())
    for digest, file in digests.files.items():
        its = found.of_file(str(file))
        not_known = tuple(found.lines[at] for at in its if not found.decks.has_before[at])
        few_known = tuple(found.lines[at] for at in its if at in few)
        read.append(ReadFile(click.format_filename(file), len(its), digest, not_known, few_known))
    rounds: list[TableRound] = []
    decks: Sequence[DeckOrders] = found.decks
    for path, journal in in_journals(journals, maker, key_file):
        found_in = [one.deck for one in journal.decks]
        not_known = tuple(one.round for one in journal.decks if not one.deck.before)
        few_known = tuple(journal.decks[at].round for at in seen_of(found_in).few.tolist())
        read.append(
            ReadFile(
                click.format_filename(path),
                len(found_in),
                "",
                not_known,
                few_known,
                journal.head,
                journal.unknown_boxes,
            )
        )
        decks = [*decks, *found_in]
        rounds += [TableRound(one.hands, one.stakes) for one in journal.decks if one.hands]
    return decks, tuple(read), rounds
