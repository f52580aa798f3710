"""The report of an audit: all that its text, its page and its JSON say."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from shuffle_audit.edges import Money
from shuffle_audit.games_dealt import Dealt
from shuffle_audit.regulators import ChiSquare
from shuffle_audit.suspects import Suspect
from shuffle_audit.verdict import Verdict

NoMoney = Literal["", "not-asked", "no-alarm", "no-model", "other-cards", "known-in-part"]
NO_MONEY: Final[dict[NoMoney, str]] = {
    "no-alarm": "There is no alarm, so there is no shuffle whose cost could be simulated.",
    "no-model": "No known model fits these decks better than a good shuffle does, so there is none to simulate.",
    "known-in-part": "Decks are known in part, which does not tell which shuffle it is: there is none to simulate.",
    "other-cards": "The games are dealt from decks of 52 cards, and these have another number.",
}
"""Why there is no simulation of what the shuffle costs, where it was asked for."""


class ReadFile(msgspec.Struct, frozen=True):
    """`sha256` of its bytes. Lines of decks that were left out: `not_known` without the order in, `few_known` with too
    few known cards.
    """

    file: str
    decks: int
    sha256: str
    not_known: tuple[int, ...] = ()
    few_known: tuple[int, ...] = ()


class Found(msgspec.Struct, frozen=True):
    """How often a machine would have been found: in `found` of so many simulated `audits` of so many `decks`."""

    model: str
    words: str
    decks: int
    found: int
    audits: int
    share: float


class Report(msgspec.Struct, frozen=True):
    """`seed` of all that is simulated; `version` of the program. `power` is empty where there is no verdict; `suspects`
    and `regulators` where no order in is known; `dealt` is null where the names are not those of 52 cards.
    `continued`: whole decks whose order in is the order out of the deck before.
    """

    result: Verdict
    power: tuple[Found, ...]
    files: tuple[ReadFile, ...]
    seed: int
    version: str
    suspects: tuple[Suspect, ...] = ()
    regulators: ChiSquare | None = None
    dealt: Dealt | None = None
    money: Money | None = None
    no_money: NoMoney = "not-asked"
    continued: int = 0
