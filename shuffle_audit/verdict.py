"""Judges decks: a verdict at one stated chance of a false alarm, and the effect in plain numbers.

The procedures share nine tenths of that chance, and the evidence has the rest. That costs it little: its limit grows by
the same factor for one deck or a thousand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from math import exp, log
from typing import Final, Literal, TypeAlias

import msgspec
import numpy as np

from firmware_bridge.cards import DECK
from shuffle_audit import earlier_decks, faces_at_places, games_dealt, patterns
from shuffle_audit.evidence import OF_EVIDENCE, ShuffleEvidence
from shuffle_audit.faces import KINDS, face_or_none, faces_if_known, unknown_face
from shuffle_audit.orders import DeckOrders, Stored, in_blocks, unshuffled
from shuffle_audit.packed_decks import PackedDecks, packed
from shuffle_audit.partial_orders import LEAST_KNOWN
from shuffle_audit.procedures import SHARES, SMALLEST, Result, below, examine, examine_cards, one_in
from shuffle_audit.sampled import SAMPLED, Nulls
from shuffle_audit.seen_orders import SeenOrders, seen_of
from shuffle_audit.shown import ShownFaces, shown_of
from shuffle_audit.table_hands import TableRound

LEVEL: Final = 0.01
OF_PROCEDURES: Final = 0.9  # the procedures' part of the chance of a false alarm
SURELY_SEEN: Final = 10  # decks: if these suffice for a statement, more do
Word = Literal["bad", "nothing found", "no verdict"]
Watch: TypeAlias = Callable[[str, int | None], AbstractContextManager[Callable[[int], object]]]
"""Called with words for a piece of work and how much it is; what it yields is called with the work done since."""


def unwatched(words: str, total: int | None) -> AbstractContextManager[Callable[[int], object]]:
    return nullcontext(lambda done: None)


class ProcedureFinding(msgspec.Struct, frozen=True):
    """A procedure's result (see `procedures.Result`). `alarm` means that `adjusted` is at most the procedures' part of
    the level. `silent` means that with so few samples it cannot raise an alarm at this level, except by its bound.
    """

    id: str
    words: str
    source: str
    statistic: float
    expected: float
    deviation: float
    p: float
    adjusted: float
    alarm: bool
    decks: int = 0
    samples: int = 0
    beyond: bool = False
    where: str = ""
    silent: bool = False


class Gathered(msgspec.Struct, frozen=True):
    """The evidence of all decks in sequence. `most_log10` is the decimal logarithm of its highest value, after the deck
    `after_deck` (0: before the first). `limit` is the value that raises an alarm. `likeliest` is the model that fits
    best: meaningful only with an alarm, and empty if decks are known in part.
    """

    most_log10: float
    after_deck: int
    limit: float
    alarm: bool
    likeliest: str


class NotRun(msgspec.Struct, frozen=True):
    """Procedures that did not run, by their ids, and the reason, as the end of a sentence."""

    ids: tuple[str, ...]
    why: str


class AuditVerdict(msgspec.Struct, frozen=True):
    """A verdict. `sentence` says why, `code` does so for machines (empty if there is a verdict).

    `chance` is the least chance of a false alarm, over everything examined, at which these decks are bad; null if
    nothing was examined. `decks` were examined; `not_known` were left out for lack of the order in. `guesses` is the
    number of right guesses a deck of a player who knows the order in, null if no deck is known as a whole;
    `guesses_expected` is that under uniform orders. `partial` of the examined decks are known in part, with
    `least_known` cards or more; `few_known` were left out for having too few known cards. `not_run` has the procedures
    that did not run; a verdict that nothing was found names them in its sentence. `by_cards` decks were examined by the
    cards that came out, which needs no order in.
    """

    verdict: Word
    code: str
    sentence: str
    level: float
    chance: float | None
    decks: int
    not_known: int
    cards: int
    guesses: float | None
    guesses_expected: float
    findings: tuple[ProcedureFinding, ...]
    evidence: Gathered | None
    partial: int = 0
    few_known: int = 0
    least_known: int = 0
    not_run: tuple[NotRun, ...] = ()
    by_cards: int = 0


def judge(
    decks: Sequence[DeckOrders], level: float = LEVEL, *, random: np.random.Generator | Nulls | None = None,
    rounds: Sequence[TableRound] = (), watch: Watch = unwatched,
) -> AuditVerdict:  # fmt: skip
    """Judge the decks, as far as their cards are known. `level` is the chance of a false alarm over everything that is
    examined.

    Decks whose order in is unknown are examined by the cards that came out, which can only show that a shuffler is bad.
    `random` adds the sampled procedures (see `procedures.examine`); the procedures on faces are added if the names are
    names of cards. `rounds` has the hands that were dealt at a table. `watch` shows the progress. Raise `OrderError` if
    the sizes of decks differ, or two orders do not belong to one deck.
    """
    all_decks = packed(decks)
    known, cards = int(all_decks.has_before.sum()), all_decks.cards
    seen = seen_of(all_decks)
    shown = shown_of(all_decks)
    if not len(seen.sizes):
        return _by_cards_alone(len(decks), cards, level, known, shown, rounds)
    faces = faces_if_known(all_decks) if len(seen.whole) else None
    by_card = shown if isinstance(shown, ShownFaces) else None
    with watch("testing decks", len(SHARES)) as advance:
        results = examine(
            seen.whole, random=random, faces=faces, others=seen.parts, shown=by_card, rounds=rounds, advance=advance
        )
    with watch("gathering evidence", len(seen.sizes)) as advance:
        gathered = _gathered(seen.in_sequence, level, advance)
    if seen.partial:
        gathered = msgspec.structs.replace(gathered, likeliest="")
    chance = _chance(results, gathered)
    word: Word = "bad" if chance <= level else "nothing found"
    code = ""
    if word == "nothing found" and not _can_speak_of(seen, level):
        word, code = "no verdict", "too-few-decks"
    not_run = tuple(_not_run(results, all_decks, shown, sampled=random is not None))
    return AuditVerdict(
        word,
        code,
        _sentence(word, chance, level, len(seen.sizes), not_run),
        level,
        chance,
        len(seen.sizes),
        len(decks) - known,
        cards,
        _guesses(seen.whole) if len(seen.whole) else None,
        guesses_expected(cards),
        tuple(_finding(one, level * OF_PROCEDURES) for one in results),
        gathered,
        seen.partial,
        len(seen.few),
        int(seen.sizes.min()),
        not_run,
        0 if by_card is None else len(by_card.cards),
    )


def _not_run(
    results: Sequence[Result], decks: PackedDecks, shown: ShownFaces | str, *, sampled: bool
) -> Iterator[NotRun]:
    """Yield the procedures without a result. Sampled ones that were not asked for are not missing."""
    ran = {one.id for one in results}
    of_faces = tuple(one.id for one in KINDS if one.id not in ran)
    of_cards: tuple[str, ...] = ()
    if isinstance(shown, str):
        of_cards = faces_at_places.ID, games_dealt.ID, earlier_decks.ID
        yield NotRun(of_cards, shown)
    elif not shown.is_whole_deck:
        of_cards = (games_dealt.ID,)
        yield NotRun(of_cards, f"the games are dealt from the 52 cards, by their names, and {_not_a_whole_deck(shown)}")
    others = [one for one in SHARES if one not in ran and one not in (*of_faces, *of_cards)]
    if not sampled:
        others = [one for one in others if one not in {procedure.id for procedure in SAMPLED}]
    some_whole = len(decks.whole) > 0
    if others:
        few = "with this many decks, their count is always the same or says nothing"
        yield NotRun(tuple(others), few if some_whole else "no deck is known as a whole")
    if of_faces:
        name = unknown_face(decks)
        why = "no deck is known as a whole"
        if name:
            why = f"{name!r} is not the name of a card, such as AS, 10H or T♥"
        elif some_whole:
            why = "the decks do not have one and the same set of cards"
        yield NotRun(of_faces, why)


def _not_a_whole_deck(shown: ShownFaces) -> str:
    """Return the first name that is not a card's, or the first card that is missing, as the end of a sentence."""
    if shown.faces is None:
        return f"{next(name for name in shown.names if face_or_none(name) < 0)!r} is not the name of a card"
    missing = next(card for face, card in enumerate(DECK) if face not in shown.faces)
    return f"{missing.code} is not among these"


def _finding(one: Result, limit: float) -> ProcedureFinding:
    """Return the finding. There is an alarm if the adjusted p is at most `limit`."""
    silent = one.samples > 0 and 1 / (1 + one.samples) / SHARES[one.id] > limit
    return ProcedureFinding(**one._asdict(), alarm=one.adjusted <= limit, silent=silent)


def _guesses(orders: Stored) -> float:
    """Return the mean number of right guesses a deck."""
    return sum(int(patterns.right_guesses(block).sum()) for block in in_blocks(orders)) / len(orders)


def guesses_expected(cards: int) -> float:
    """Return right guesses a deck under uniform orders: 1 + 1/2 + ... + 1/n, 4.54 for 52 cards."""
    return sum(1 / left for left in range(1, cards + 1))


@lru_cache(maxsize=64)
def can_speak(decks: int, cards: int, level: float) -> bool:
    """Return whether `decks` decks can be bad at this level: those that came out as they went in, or reversed."""
    for few in sorted({min(decks, SURELY_SEEN), decks}):
        same = unshuffled(few, cards)
        for orders in (same, same[:, ::-1]):
            if few and _chance(examine(orders), _gathered([orders], level)) <= level:
                return True
    return False


def _can_speak_of(seen: SeenOrders, level: float) -> bool:
    """Return the same for partly known decks, with as much as is known of each."""
    if not seen.parts:
        return can_speak(len(seen.whole), seen.whole.shape[1], level)
    whole, *parts = (np.broadcast_to(np.arange(one.shape[1]), one.shape) for one in (seen.whole, *seen.parts))
    gathered = _gathered((one for one in (whole, *parts) if len(one)), level)
    return _chance(examine(whole, others=parts), gathered) <= level


def _gathered(runs: Iterable[Stored], level: float, advance: Callable[[int], object] = lambda done: None) -> Gathered:
    """Return the evidence of `runs`: decks in sequence; those of a run have the same number of cards."""
    evidence = ShuffleEvidence()
    courses = [np.zeros(1)]  # it begins with 1
    for block in (block for orders in runs for block in in_blocks(orders)):
        courses.append(evidence.add(block))
        advance(len(block))
    course = np.concatenate(courses)
    best = int(np.argmax(course))
    limit = 1 / (level * OF_EVIDENCE)
    most = float(course[best])
    return Gathered(most / log(10), best, limit, most >= log(limit), evidence.likeliest.words)


def _chance(results: Sequence[Result], gathered: Gathered | None) -> float:
    by_procedures = min((one.adjusted for one in results), default=1.0)
    by_evidence = exp(-gathered.most_log10 * log(10)) if gathered is not None else 1.0
    return max(SMALLEST, min(1.0, by_procedures / OF_PROCEDURES, by_evidence / OF_EVIDENCE))


def _sentence(word: Word, chance: float, level: float, decks: int, not_run: Sequence[NotRun] = ()) -> str:
    if word == "bad":
        words = below(chance, level)
        at_most = f"less than {words}" if words else f"at most {one_in(chance)}"
        return (
            "A shuffle that makes every order equally likely gives decks that look this bad with a chance of "
            f"{at_most}; the limit is {level:g}."
        )
    if word == "nothing found":
        missing = "".join(f" Not examined by {', '.join(one.ids)}: {one.why}." for one in not_run)
        return (
            f"Nothing raises an alarm; the chance of a false one is {level:g} over all procedures and the evidence."
            f"{missing}"
        )
    number = "One deck is" if decks == 1 else f"{decks:,} decks are"
    return (
        f"{number} too few: not even a deck that comes out as it went in could be called bad at a chance of a false "
        f"alarm of {level:g}."
    )


def _by_cards_alone(
    decks: int, cards: int, level: float, known: int, shown: ShownFaces | str, rounds: Sequence[TableRound]
) -> AuditVerdict:
    """Return the verdict for decks without a usable order in. `known` decks have one, but too few known cards. The
    cards that came out can show a shuffler that looks at them; if they do not, there is no verdict.
    """
    which = "the deck" if decks == 1 else f"any of the {decks:,} decks"
    sentence = (
        f"The order in is not known for {which}. If the order in was random and is not known, the order out of any "
        "shuffler that does not look at faces is uniform, however badly it shuffles, and shows nothing."
    )
    word: Word = "no verdict"
    code = "order-in-not-known"
    if not decks:
        sentence, code = "There are no decks.", "too-few-decks"
    if known:
        code = "too-few-cards"
        sentence = f"No deck with an order in has {LEAST_KNOWN} or more cards that are known both before and after."
    results = list(examine_cards(unshuffled(0, cards), shown, rounds)) if isinstance(shown, ShownFaces) else []
    chance = _chance(results, None) if results else None
    if chance is not None and chance <= level:
        word, code, sentence = "bad", "", _sentence("bad", chance, level, decks)
    return AuditVerdict(
        word, code, sentence, level, chance, 0, decks - known, cards, None, guesses_expected(cards),
        tuple(_finding(one, level * OF_PROCEDURES) for one in results), None, few_known=known,
        by_cards=0 if isinstance(shown, str) else len(shown.cards),
    )  # fmt: skip
