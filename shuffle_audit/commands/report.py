"""The report of an audit: everything that its text, its page and its JSON say."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from shuffle_audit.edges import Money
from shuffle_audit.evidence import Suspect
from shuffle_audit.games_dealt import Dealt
from shuffle_audit.regulators import ChiSquare
from shuffle_audit.verdict import AuditVerdict

NoMoney = Literal["", "not-asked", "no-alarm", "no-model", "other-cards", "known-in-part"]
NO_MONEY: Final[dict[NoMoney, str]] = {
    "no-alarm": "There is no alarm, so there is no shuffle whose cost could be simulated.",
    "no-model": "No known model fits these decks better than a good shuffle does, so there is no model to simulate.",
    "known-in-part": "Decks are known in part, which does not show which shuffle it is, so there is no model to "
    "simulate.",
    "other-cards": "The games are dealt from decks of 52 cards, and these have another number.",
}
"""Why the cost of the shuffle is not simulated although it was asked for."""


class ReadFile(msgspec.Struct, frozen=True):
    """A file that was read, with its `sha256`, or a journal with its `head` instead, the last entry with the hash as in
    `journal verify --head`. Decks that were left out are listed by line (journals: by round): `not_known` without the
    order in, `few_known` with too few known cards. `unknown_boxes`: rounds with a hand at a box that the journal does
    not know.
    """

    file: str
    decks: int
    sha256: str
    not_known: tuple[int, ...] = ()
    few_known: tuple[int, ...] = ()
    head: str = ""
    unknown_boxes: tuple[int, ...] = ()


class MachineFound(msgspec.Struct, frozen=True):
    """The share of simulated audits that found a machine: `found` of `audits`, each with `decks` decks of which `known`
    cards are known.
    """

    model: str
    words: str
    decks: int
    known: int
    found: int
    audits: int
    share: float


class KindFound(msgspec.Struct, frozen=True):
    """A kind of machine (`kinds.MachineKind`) with the number of decks that find it in 50, 80 and 95 % of audits; null:
    more than `at_most`. `here` is the highest of these shares that the examined decks reach, 0 if none, null if the
    figures do not apply to them or end before them.
    """

    kind: str
    words: str
    decks: tuple[int | None, int | None, int | None]
    at_most: int
    here: float | None


class AuditReport(msgspec.Struct, frozen=True):
    """A report. `seed` is that of every simulation; `version` is the program's, `numpy` the simulating library's.
    `power`, `suspects` and `regulators` are empty if no deck was examined; `dealt` is null if the names are not those
    of 52 cards. `continued` counts whole decks whose order in is the order out of the previous deck. `about` is a
    person's note about the audit. `kinds` of machines would have been found by so many decks, or not.
    """

    result: AuditVerdict
    power: tuple[MachineFound, ...]
    files: tuple[ReadFile, ...]
    seed: int
    version: str
    numpy: str
    about: tuple[str, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    regulators: tuple[ChiSquare, ...] = ()
    dealt: Dealt | None = None
    money: Money | None = None
    no_money: NoMoney = "not-asked"
    continued: int = 0
    kinds: tuple[KindFound, ...] = ()
