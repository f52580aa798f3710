"""The journal of an evening at a small table, always with the same bytes: two files with rounds of every ending."""

from __future__ import annotations

from pathlib import Path
from random import Random

from controller.daemon.journal_types import JOURNAL_TYPES
from controller.games.specification import Choice, Kind, RulingAction, Unit
from controller.journal.codec import Moment
from controller.journal.file import Identity
from controller.journal.signing import SigningKey
from controller.journal.store import Journal
from controller.roles import Role
from controller.rules.dealing_order import DEALER
from controller.table import operations
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.saved_state import SavedState, remember
from controller.table.state import TableState
from firmware_bridge.drivers.memory import LinkMemory
from tests.table.harness import TableHarness

SECOND = 1_000_000_000
YEAR = 365 * 24 * 3600 * SECOND
BEGAN = 1_795_460_400 * SECOND  # 23 November 2026, 19:00 UTC
KEY = bytes(range(32))
SIGNER = SigningKey(bytes(range(1, 33)))
IDENTITY = Identity("5e" * 16, "BAC-07", True)


class JournaledTable(TableHarness):
    """A table whose decisions are appended to a journal.

    An entry takes a second. At entries in `wrong` the clock is a year ahead.
    """

    def __init__(
        self, folder: Path, seed: int = 1, hands: dict[str, str] | None = None, wrong: range = range(0)
    ) -> None:
        super().__init__(Unit.SETS, hands=hands)
        self.wrong = wrong
        self._memory = LinkMemory()
        self.journal: Journal[AnyInput, AnyEvent] = Journal.open(
            folder, JOURNAL_TYPES, local_key=KEY, identity=IDENTITY, signer=SIGNER, random=Random(seed).randbytes
        )
        if not self.journal.is_begun:
            self.next_file()

    @property
    def moment(self) -> Moment:
        now = (self.state.entry + 1) * SECOND
        return Moment(BEGAN + now, now)

    def next_file(self) -> None:
        self.journal.begin_file(SavedState(self.state, self._memory.journaled()), self.moment)

    def watch(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        remember(self._memory, given)
        now = numbered[0][0] * SECOND + YEAR * (numbered[0][0] in self.wrong)
        self.journal.append(
            given,
            [event for _, event in numbered],
            round=self.state.round.number,
            moment=Moment(BEGAN + now, now),
            signs=before.in_round and not self.state.in_round,
        )

    def bets(self, *bets: tuple[str, str, int, int]) -> None:
        """Place bets, given as bettor, wager, box and amount."""
        for bettor, wager, box, amount in bets:
            if all(known.id != bettor for known in self.state.bettors):
                self.do(operations.EnterBettor(bettor, seat=box))
            self.do(operations.PlaceWager(bettor, wager, box, amount))

    def to_bets(self) -> None:
        if self.state.phase == "closed":
            self.do(operations.OpenTable())
        self.fresh_deck()
        self.do(operations.PlaceYourBets())


def evening(folder: Path, wrong: range = range(0)) -> JournaledTable:
    """Play seven rounds. The table continues to deal, and the journal stays open."""
    table = JournaledTable(folder, wrong=wrong)
    table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
    table.connect()
    _options(table)
    _reconstruction(table)
    _void(table)
    table.do(operations.RecallCards(2, "the player of box 3 disputes the hand", "B3"), Role.PIT_MANAGER)
    table.next_file()
    _ruling(table)
    _correction(table)
    table.to_bets()
    table.do(operations.CancelStart(announced=True))
    table.to_bets()
    table.bets(("ann", "main", 1, 50))
    table.do(operations.NoMoreBets())
    table.take(1)
    return table


def _options(table: JournaledTable) -> None:
    table.to_bets()
    table.bets(("ann", "main", 1, 50), ("ann", "tie", 1, 10), ("bob", "main", 3, 100))
    table.do(operations.NoMoreBets())
    table.take(2)
    table.report(Kind.EXPOSED_CARD, "B3")
    table.say(operations.ConfirmIrregularity(table.open.id, table.open.revision))
    table.confirm()
    found = table.open
    for place, bettor, choice in (("B1", "ann", Choice.CONTINUE), ("B3", "bob", Choice.WITHDRAW)):
        table.do(operations.ChooseOption(found.id, found.revision, place, choice, bettor=bettor))
    table.finish()


def _reconstruction(table: JournaledTable) -> None:
    table.to_bets()
    table.bets(("ann", "main", 1, 50), ("bob", "main", 3, 100))
    table.do(operations.NoMoreBets())
    table.deal()
    table.report(Kind.WRONG_DISTRIBUTION, note="the camera shows it")
    table.swap("B1", "B3")
    table.confirm(handled=False)
    table.put_right()
    table.expose_all()
    table.settle().conclude()


def _void(table: JournaledTable) -> None:
    table.to_bets()
    table.bets(("ann", "main", 1, 50))
    table.do(operations.NoMoreBets())
    table.take(1)
    table.report(Kind.FOREIGN_CARD, "B1")
    table.confirm()
    table.do(operations.RecordSettled())


def _ruling(table: JournaledTable) -> None:
    table.to_bets()
    table.bets(("ann", "main", 1, 20))
    table.do(operations.NoMoreBets())
    table.deal()
    table.report(Kind.WRONG_VIEWER, "B1", note="a visitor looked")
    table.rule(RulingAction.CONTINUE)
    table.expose_all()
    table.settle().conclude()


def _correction(table: JournaledTable) -> None:
    table.to_bets()
    table.bets(("ann", "main", 1, 20))
    table.do(operations.NoMoreBets())
    table.deal()
    table.do(operations.HandleCards("B1"))
    wrong = table.state.round.entered[-1]
    table.do(operations.CorrectEntry(wrong.entry, "it was box 1's neighbour, who does not play"), Role.PIT_SUPERVISOR)
    table.expose(DEALER)
    table.expose_all()
    table.settle().conclude()
