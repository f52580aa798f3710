"""Kinds of bad machines, with the number of decks that finds each: what "nothing was found" means, and what it does
not.

The figures are for whole decks of 52 cards with a known order in, at a chance of a false alarm of 0.01. Those of a
model that `plan` knows are in docs/audit_mathematics.md (1,000 audits, `benchmarks.audit_power`), the others are
measured by `python -m tests.shuffle_audit.machines --audits 60 --at-most 256`.
"""

from __future__ import annotations

from typing import Final

import msgspec

POWERS: Final = (0.5, 0.8, 0.95)
LEVEL: Final = 0.01
CARDS: Final = 52


class MachineKind(msgspec.Struct, frozen=True):
    """A kind of machine. `decks` find it in 50, 80 and 95 % of audits; null: more than `at_most`. `chi_square`: the
    same for the regulators' test alone, of places in for a model and of cards by name for another machine.
    `needs_faces`: the figures hold only if the faces are known.
    """

    id: str
    words: str
    decks: tuple[int | None, int | None, int | None]
    chi_square: tuple[int | None, int | None, int | None]
    at_most: int = 256
    needs_faces: bool = False

    def found_by(self, decks: int) -> float | None:
        """Return the highest of `POWERS` with which `decks` decks find it, or 0. Return None if more decks than were
        simulated may reach a higher one.
        """
        reached = sum(least is not None and least <= decks for least in self.decks)
        if decks > self.at_most and reached < len(POWERS):
            return None
        return (0.0, *POWERS)[reached]


def _model(
    name: str, words: str, decks: tuple[int | None, int | None, int | None],
    chi_square: tuple[int | None, int | None, int | None] = (None, None, None),
) -> MachineKind:  # fmt: skip
    return MachineKind(name, words, decks, chi_square, 512)


MACHINE_KINDS: Final = (
    _model("cut", "a cut and nothing else", (1, 1, 1)),
    _model("overhand:3:0.2", "three overhand shuffles", (1, 1, 1), (5, 8, 10)),
    _model("shelves:10", "ten shelves", (1, 1, 1), (132, 189, 236)),
    _model("shelves:20", "twenty shelves", (3, 4, 5)),
    _model("shelves:50", "fifty shelves", (51, 88, 128)),
    _model("riffle:7", "seven riffles", (12, 19, 27)),
    _model("sticking:0.02", "2 % of the cards stick to the next one", (13, 23, 32)),
    _model("favoured:0.2:1:52", "one card in five comes from one place to one other", (45, 61, 87), (90, 141, 188)),
    _model("not-always:0.05", "one deck in twenty is not shuffled", (13, 32, 60), (52, 101, 169)),
    _model("not-always:0.01", "one deck in a hundred is not shuffled", (67, 158, 296)),
    MachineKind("card-first", "one card comes first in one deck of four", (36, 51, 66), (51, 72, 96)),
    MachineKind("rank-first", "an ace comes first in every second deck", (23, 29, 35), (63, 81, 105), needs_faces=True),
    MachineKind("picture-first", "a picture comes first in every deck", (12, 12, 12), (54, 75, 86), needs_faces=True),
    MachineKind(
        "box-without-pictures", "box 1 never gets a picture", (24, 24, 24), (188, 241, None), needs_faces=True
    ),
    MachineKind("distance-26", "10 % of the cards follow the card 26 places above", (3, 4, 4), (None, None, None)),
    MachineKind("distance-13", "30 % of the cards follow the card 13 places above", (1, 1, 1), (None, None, None)),
    MachineKind("distance-5", "20 % of the cards follow the card 5 places above", (1, 1, 2), (None, None, None)),
    MachineKind(
        "rank-after-rank", "the ace follows 30 % of the kings of its suit", (13, 16, 18), (None, None, None),
        needs_faces=True,
    ),
    MachineKind(
        "first-again",
        "in one deck of twenty, the first 20 cards of two decks ago come first",
        (13, 31, 53),
        (None, None, None),
    ),
    MachineKind(
        "good-at-first",
        "uniform for 100 decks, and like ten shelves from then on",
        (102, 102, 102),
        (None, None, None),
    ),
    MachineKind(
        "box-sometimes", "box 1 gets no picture in one deck of five", (None, None, None), (None, None, None),
        needs_faces=True,
    ),
    MachineKind(
        "swapped",
        "an ace of box 1 is exchanged for a king of the Dealer's whenever it comes",
        (None, None, None),
        (None, None, None),
        needs_faces=True,
    ),
    _model("wash:30", "a wash of thirty seconds", (None, None, None)),
    _model("shelves:100", "a hundred shelves", (None, None, None)),
    _model("shelves:10x2", "ten shelves, two passes", (None, None, None)),
)  # fmt: skip
UNSEEN: Final = (
    "A machine that shuffles well while it is audited, or for longer than the audit, and badly in rounds of somebody's "
    "choice.",
    "A machine that knows faces and exchanges two cards only when that pays, so that too few decks change: if one pair "
    "of cards changes in 13 of 1,000, it takes 26,000 to 36,000 decks.",
    "Orders that are uniform but known to somebody: a generator that can be foretold, or a machine that reads the "
    "cards and tells a player.",
    "Collusion: a deck that somebody changes after the shuffle, or before it once its order was written down.",
    "Cards that were misread in the same way before and after.",
    "Any bad mixing, where the order in is random and not known: only faces can be examined then.",
    "A fault that is smaller than what so many decks find: see what an audit can find.",
)
"""What no number of decks shows."""
