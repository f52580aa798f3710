"""The table's decks: bringing and taking away, loading, shuffling outside, cutting, quarantine and release.

Recording decks is optional. Once one is recorded, a round begins only with a recorded deck.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controller.games.specification import Kind
from controller.roles import Role
from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.feature import ALWAYS, ANY_PHASE, UNKNOWN, WORDS, Group, OperationRow, group, just
from controller.table.inference import device_counts
from controller.table.inputs import PersonActed
from controller.table.irregularities.raising import already_open, known_facts, raise_irregularity
from controller.table.model import Deck, Irregularity, RecordedDeck
from controller.table.phases import BETWEEN_ROUNDS, Phase
from controller.table.state import TableState
from firmware_bridge.cards import DECK_SIZE
from firmware_bridge.messages import AnyText, Message, counted, message

LONGEST = 64  # characters of a deck's name
MOST = 16  # decks recorded at a table, all of which are part of its state


def verify_witness(state: TableState, given: PersonActed, witness: str) -> None:
    """Verify that the witness is not the person who enters it, by id and by name, and has signed if the house asks."""
    if witness.strip().casefold() in ("", given.person.casefold()) or state.person_called(witness) == given.person:
        raise RefusedError("witness", "Name a second person who saw the count.")
    signs = state.settings is not None and state.settings.second_counter_signs
    names = getattr(given.operation, "witness", "") == witness  # a correction keeps the witness of the entry
    if signs and names and given.screen and given.witness_signed != witness:
        raise RefusedError("witness-pin", "The second counter signs here. Enter that person's PIN as well.")


def _verify_whole(count: int, otherwise: Message) -> None:
    if count != DECK_SIZE:
        raise RefusedError(
            "count",
            "A deck has {size} cards, not {count}; count again, or {otherwise}.",
            size=DECK_SIZE,
            count=count,
            otherwise=otherwise,
        )


def _find(state: TableState, label: str, *, away: bool = False) -> RecordedDeck:
    """Return the record of a deck. `away`: also search decks that were taken away."""
    record = state.decks.known(label) if away else state.decks.record(label)
    if record is not None:
        return record
    known = tuple(one.label for one in state.decks.recorded)
    if not known:
        raise RefusedError("no-deck", "No deck is recorded at this table; record it first.")
    if not label:
        raise RefusedError("no-deck", "Name the deck. The decks of this table are {known}.", known=known)
    raise RefusedError(
        "no-deck", "Deck {deck} does not belong to this table. Its decks are {known}.", deck=label, known=known
    )


def out_of_use(label: str, why: AnyText) -> Message:
    """Return a message that a deck is out of use, and what to do. `label` empty: the deck has no record."""
    deck = message("deck {deck}", deck=label) if label else message("the deck")
    return message(
        "{named} is out of use ({why}). Put in another deck, or call the pit supervisor to release it.",
        named=deck,
        why=why,
    )


def verify_usable(state: TableState, deck: Deck) -> None:
    """Raise `RefusedError` if a round must not begin with this deck: it is quarantined, or not one of the table's."""
    if why := state.decks.quarantine_of(deck):
        raise RefusedError("quarantined", out_of_use(deck.label, why))
    if not state.decks.keeps_records:
        return
    if not deck.label:
        raise RefusedError("unnamed", "First record which of the table's decks was put in.")
    if state.decks.record(deck.label) is None:
        raise RefusedError(
            "taken-out", "Deck {deck} was taken away from the table; put in one that belongs to it.", deck=deck.label
        )


def may_be_dealt_from(state: TableState, deck: Deck) -> bool:
    """Return whether `verify_usable` would pass."""
    try:
        verify_usable(state, deck)
    except RefusedError:
        return False
    return True


# -- in and out


def verify_bring(state: TableState, given: PersonActed, operation: operations.BringDeck) -> None:
    if not operation.deck.strip() or len(operation.deck) > LONGEST:
        raise RefusedError("name", "Enter a name for the deck, of 1 to {most} characters.", most=LONGEST)
    if not operation.back.strip():
        raise RefusedError("back", "Enter the back of the deck, such as its colour.")
    if state.decks.record(operation.deck) is not None:
        raise RefusedError("recorded", "Deck {deck} is at this table already; take it out first.", deck=operation.deck)
    _verify_in_use(state, operation)
    alike = [one.label for one in state.decks.recorded if _same_back(one.back, operation.back)]
    if alike:
        raise RefusedError(
            "back", "Deck {alike} has the same back. Two decks at one table must have different backs.", alike=alike[0]
        )
    sealed = [one.label for one in state.decks.recorded if _same_seal(one.seal, operation.seal)]
    if sealed:
        raise RefusedError(
            "seal",
            "Deck {sealed} has the same seal; enter this deck's own seal, or the other deck's name.",
            sealed=sealed[0],
        )
    if len(state.decks.recorded) >= MOST:
        raise RefusedError("too-many", "{most} decks are recorded at this table; take one away first.", most=MOST)
    _verify_whole(operation.count, message("bring another deck"))
    verify_witness(state, given, operation.witness)


def _verify_in_use(state: TableState, operation: operations.BringDeck) -> None:
    """Refuse a quarantined deck that was taken away and comes back, recognised by its name, seal or back."""
    for out in state.decks.taken_away:
        if not out.quarantined:
            continue
        if out.label == operation.deck or _same_seal(out.seal, operation.seal):
            raise RefusedError(
                "quarantined",
                "Deck {deck} is out of use ({quarantined}); call the pit supervisor to release it, or bring another "
                "deck, with a name and a seal of its own.",
                deck=out.label,
                quarantined=out.quarantined,
            )
        if _same_back(out.back, operation.back) and not operation.another:
            raise RefusedError(
                "same-deck",
                "Is this deck {deck}, which has that back and is out of use ({quarantined})? If so, call the pit "
                "supervisor to release it; if not, enter that this is another deck.",
                deck=out.label,
                quarantined=out.quarantined,
            )


def _same_seal(one: str, other: str) -> bool:
    return bool(one.strip()) and one.strip().casefold() == other.strip().casefold()


def _same_back(one: str, other: str) -> bool:
    return one.strip().casefold() == other.strip().casefold()


def bring(decision: Decision, given: PersonActed, operation: operations.BringDeck) -> None:
    known = decision.state.person_called(operation.witness)
    decision.emit(
        events.DeckBrought(
            operation.deck,
            operation.back,
            operation.seal,
            operation.count,
            given.person,
            operation.witness,
            known,
            operation.another,
        )
    )


def verify_take_out(state: TableState, given: PersonActed, operation: operations.TakeDeckOut) -> None:
    """Accept any count: an incomplete deck has to leave as well, and casts doubt on its last round."""
    _find(state, operation.deck)
    if state.in_round and operation.deck == state.decks.in_play.label:
        raise RefusedError(
            "in-play", "The round is dealt from deck {deck}; finish the round first.", deck=operation.deck
        )
    if not operation.reason.strip():
        raise RefusedError("reason", "Enter why the deck is taken away.")
    if not 0 <= operation.count <= 2 * DECK_SIZE:
        raise RefusedError("count", "A deck cannot have {count} cards; count again.", count=operation.count)
    verify_witness(state, given, operation.witness)


def take_out(decision: Decision, given: PersonActed, operation: operations.TakeDeckOut) -> None:
    state, witness = decision.state, operation.witness
    known = state.person_called(witness)
    decision.emit(events.DeckTakenOut(operation.deck, operation.reason, operation.count, given.person, witness, known))
    if operation.count == DECK_SIZE or already_open(decision, Kind.DECK_COUNT):
        return
    note = counted(
        "deck {deck} had 1 card when it was taken out",
        "deck {deck} had {count} cards when it was taken out",
        operation.count,
        deck=operation.deck,
    )
    if state.in_round and state.earlier is not None and operation.deck == state.earlier.label:
        raise_irregularity(decision, Kind.DECK_COUNT, noticed_by=given.person, note=note, earlier=True)
    elif state.phase is Phase.CONCLUDED and operation.deck == state.round.label:
        facts = known_facts(decision.state, counted_wrong=True)
        raise_irregularity(decision, Kind.DECK_COUNT, noticed_by=given.person, facts=facts, note=note)


# -- what lies in the device


def verify_load(state: TableState, given: PersonActed, operation: operations.LoadDeck) -> None:
    if not device_counts(state):
        _verify_put_in(state, operation)
        return
    _find(state, operation.deck)
    other = state.decks.in_play if _is_waiting(state) else state.decks.waiting
    if other is not None and other.label == operation.deck and (state.in_round or not other.used):
        raise RefusedError(
            "in-device",
            "Deck {deck} is already in the device, beside this one; name the deck that was put in.",
            deck=operation.deck,
        )
    deck = _to_be_named(state)
    if deck is None:
        raise RefusedError("not-loaded", "Put deck {deck} into the device first, then record it.", deck=operation.deck)


def _verify_put_in(state: TableState, operation: operations.LoadDeck) -> None:
    """Verify that people may enter a loaded deck: between rounds, and only if the device does not report decks."""
    if state.in_round:
        raise RefusedError("in-round", "A round is in progress; put the next deck in when it is over.")
    if operation.deck or state.decks.keeps_records:
        _find(state, operation.deck)


def _record_deck_put_in(decision: Decision, given: PersonActed, operation: operations.LoadDeck) -> None:
    """Record the loaded deck. The entry of this operation is unique and serves as its number and its shuffle's."""
    decision.emit(events.DeckArrived(decision.origin, None, decision.origin))
    if operation.deck:
        _name(decision, given, operation.deck, decision.state.decks.in_play, waiting=False)


def _to_be_named(state: TableState) -> Deck | None:
    """Return the unused deck to be named: in a round the waiting deck, otherwise the first one without a name."""
    candidates = [] if state.in_round else [state.decks.in_play]
    if state.decks.waiting is not None:
        candidates.append(state.decks.waiting)
    fresh = [deck for deck in candidates if deck.deck and not deck.used]
    return next((deck for deck in fresh if not deck.label), fresh[0] if fresh else None)


def _is_waiting(state: TableState) -> bool:
    deck = _to_be_named(state)
    return deck is not None and deck is state.decks.waiting


def load(decision: Decision, given: PersonActed, operation: operations.LoadDeck) -> None:
    if not device_counts(decision.state):
        _record_deck_put_in(decision, given, operation)
        return
    state = decision.state
    deck, waiting = _to_be_named(state), _is_waiting(state)
    assert deck is not None
    _name(decision, given, operation.deck, deck, waiting=waiting)


def _name(decision: Decision, given: PersonActed, label: str, deck: Deck, *, waiting: bool) -> None:
    """Name the deck. One that was shuffled outside counts as shuffled; a shuffler shuffles every deck itself."""
    state, record = decision.state, _find(decision.state, label)
    decision.emit(events.DeckNamed(label, deck.deck, given.person, waiting))
    if record.shuffled_by and state.device.kind != "shuffler" and deck.loaded in (0, DECK_SIZE) and not deck.shuffled:
        decision.emit(events.DeckShuffled(deck.deck, deck.shuffle, DECK_SIZE, record.shuffled_by, waiting=waiting))


def verify_shuffled_outside(state: TableState, given: PersonActed, operation: operations.ShuffledOutside) -> None:
    if state.device.kind == "shuffler":
        raise RefusedError("shuffler", "This device shuffles by itself; wait until it has finished.")
    if operation.deck:
        _find(state, operation.deck)
    elif state.in_round:
        raise RefusedError("phase", "A round is in progress; name the deck that was shuffled outside meanwhile.")
    deck = _shuffled_in_device(state, operation)
    if deck is None and operation.deck:
        if state.in_round and operation.deck == state.decks.in_play.label:
            raise RefusedError(
                "in-play", "The round is dealt from deck {deck}; finish the round first.", deck=operation.deck
            )
        return
    if deck is None:
        raise RefusedError("no-deck", "Put a full deck in first.")
    if deck.loaded not in (0, DECK_SIZE):
        raise RefusedError(
            "deck-count", "The device counts {count} cards; count the deck and put it in again.", count=deck.loaded
        )


def _shuffled_in_device(state: TableState, operation: operations.ShuffledOutside) -> Deck | None:
    """Return the deck that was shuffled, if it is in the device and unused."""
    candidates = [] if state.in_round else [state.decks.coming]
    if state.decks.waiting is not None and operation.deck:
        candidates.append(state.decks.waiting)
    fresh = (deck for deck in candidates if deck.deck and not deck.used)
    return next((deck for deck in fresh if operation.deck in ("", deck.label)), None)


def shuffled_outside(decision: Decision, given: PersonActed, operation: operations.ShuffledOutside) -> None:
    state = decision.state
    deck = _shuffled_in_device(state, operation)
    if deck is None:
        decision.emit(events.DeckShuffledOutside(operation.deck, operation.by))
        return
    waiting = deck is state.decks.waiting
    decision.emit(events.DeckShuffled(deck.deck, deck.shuffle, DECK_SIZE, operation.by, waiting=waiting))


def verify_cut(state: TableState, given: PersonActed, operation: operations.CutDeck) -> None:
    if state.device.kind != "shoe":
        raise RefusedError("no-shoe", "Only a deck in a manual shoe is cut; this device shuffles by itself.")
    deck = _to_be_cut(state)
    if not deck.deck:
        raise RefusedError("no-deck", "Put a deck into the shoe first.")
    if deck.used:
        raise RefusedError("deck-used", "Cards have left this deck; cut a deck before its first card is dealt.")


def _to_be_cut(state: TableState) -> Deck:
    return state.decks.in_play if state.in_round else state.decks.coming


def cut(decision: Decision, given: PersonActed, operation: operations.CutDeck) -> None:
    deck = _to_be_cut(decision.state)
    decision.emit(events.DeckCut(deck.deck, given.person, deck is decision.state.decks.waiting))


# -- quarantine


def verify_quarantine(state: TableState, given: PersonActed, operation: operations.QuarantineDeck) -> None:
    label = operation.deck or state.decks.in_play.label
    if label:
        why = _find(state, label, away=True).quarantined
    elif not state.decks.in_play.deck:
        raise RefusedError("no-deck", "There is no deck in the device; name the deck.")
    else:
        why = state.decks.in_play.quarantined
    if why:
        raise RefusedError(
            "quarantined", "This deck is out of use already ({why}); no need to enter it again.", why=why
        )
    if not operation.reason.strip():
        raise RefusedError("reason", "Enter why the deck is taken out of use.")


def quarantine(decision: Decision, given: PersonActed, operation: operations.QuarantineDeck) -> None:
    """Quarantine the deck. The round in progress continues as its clauses say; the next one does not begin with it."""
    label = operation.deck or decision.state.decks.in_play.label
    decision.emit(events.DeckQuarantined(label, operation.reason, given.person))


def verify_release(state: TableState, given: PersonActed, operation: operations.ReleaseDeck) -> None:
    label = operation.deck or state.decks.in_play.label
    why = _find(state, label, away=True).quarantined if label else state.decks.in_play.quarantined
    if not why:
        deck = message("deck {deck}", deck=label) if label else message("the deck in the device")
        raise RefusedError("not-quarantined", "{named} is not out of use; there is nothing to release.", named=deck)
    if state.in_round and label == state.decks.in_play.label:
        raise RefusedError("in-play", "Its cards are on the table; finish the round, then count and examine the deck.")
    if not operation.reason.strip():
        raise RefusedError("reason", "Enter what was found, and why the deck may be used again.")
    _verify_whole(operation.count, message("take it out"))
    verify_witness(state, given, operation.witness)


def release(decision: Decision, given: PersonActed, operation: operations.ReleaseDeck) -> None:
    label = operation.deck or decision.state.decks.in_play.label
    witness = operation.witness
    known = decision.state.person_called(witness)
    decision.emit(
        events.DeckReleased(label, operation.reason, operation.count, given.person, witness, witness_id=known)
    )


def quarantine_for(decision: Decision, given: PersonActed, found: Irregularity) -> None:
    """Quarantine the deck for I01 or I02 unless it was denied, and for I04 only if a count showed a wrong number.

    For an earlier round this applies only to a recorded deck: an unnamed one may not be the deck in the device now.
    """
    state = decision.state
    miscounted = found.facts.counted_wrong
    concerned = (
        found.kind is Kind.FOREIGN_CARD
        or (found.kind is Kind.DECK_COUNT and miscounted is not False)
        or (found.kind is Kind.COUNT_IN_DOUBT and miscounted is True)
    )
    if not concerned:
        return
    record = state.decks.known(found.of_deck)
    if record is not None:
        if not record.quarantined:
            decision.emit(events.DeckQuarantined(record.label, found.row.because, given.person, found.id))
        return
    if found.of_deck or (found.round != state.round.number and not found.waiting):
        return
    deck = state.decks.next(in_round=state.in_round) if found.waiting else state.decks.in_play
    waiting = deck is not None and deck is state.decks.waiting
    if deck is None or not deck.deck or deck.quarantined:
        return
    decision.emit(events.DeckQuarantined("", found.row.because, given.person, found.id, waiting))
    if state.phase in BETWEEN_ROUNDS and not deck.used:
        decision.emit(events.DeckMadeUnusable(deck.deck, waiting))


# -- permissions and offers


def _labels(state: TableState) -> list[str]:
    return [record.label for record in state.decks.recorded]


def _shuffled(state: TableState) -> Iterator[Group]:
    yield group(*(operations.ShuffledOutside(WORDS, deck) for deck in ("", *_labels(state))))


def _brought(state: TableState) -> Iterator[Group]:
    """Offer to bring a deck, also a different deck with the same back as a quarantined deck that was taken away."""
    yield group(operations.BringDeck(UNKNOWN, UNKNOWN, WORDS, DECK_SIZE, WORDS))
    if any(deck.quarantined for deck in state.decks.taken_away):
        yield group(operations.BringDeck(UNKNOWN, UNKNOWN, WORDS, DECK_SIZE, WORDS, another=True), known=("another",))


def _taken_out(state: TableState) -> Iterator[Group]:
    yield group(*(operations.TakeDeckOut(deck, WORDS, DECK_SIZE, WORDS) for deck in _labels(state)))


def _loaded(state: TableState) -> Iterator[Group]:
    labels = _labels(state)
    yield group(*(operations.LoadDeck(deck) for deck in (*labels, "")), needs=("deck",) if labels else ())


def _quarantined(state: TableState) -> Iterator[Group]:
    yield group(*(operations.QuarantineDeck(deck, WORDS) for deck in ("", *_labels(state))))


def _released(state: TableState) -> Iterator[Group]:
    away = [record.label for record in state.decks.taken_away if record.quarantined]
    yield group(*(operations.ReleaseDeck(deck, WORDS, DECK_SIZE, WORDS) for deck in ("", *_labels(state), *away)))


def _out_of_use(state: TableState) -> bool:
    decks = state.decks
    recorded = any(record.quarantined for record in (*decks.recorded, *decks.taken_away))
    return recorded or bool(decks.in_play.quarantined)


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.ShuffledOutside, message("record that the deck was shuffled outside"),
        message("{who} recorded that the deck was shuffled outside."), verify_shuffled_outside, shuffled_outside,
        ANY_PHASE - {Phase.MAINTENANCE}, offers=_shuffled,
        where=lambda state: state.device.kind != "shuffler" and (not state.in_round or bool(state.decks.recorded))),
    OperationRow(
        operations.CutDeck, message("cut the deck"), message("{who} cut the deck."), verify_cut, cut, ANY_PHASE,
        ALWAYS, offers=just(operations.CutDeck()), where=lambda state: state.device.kind == "shoe"),
    OperationRow(
        operations.LoadDeck, message("record which deck was put in"),
        message("{who} recorded which deck was put in."), verify_load, load, ANY_PHASE, ALWAYS, offers=_loaded,
        where=lambda state: bool(state.decks.recorded) or not device_counts(state)),
    OperationRow(
        operations.BringDeck, message("bring a deck"), message("{who} brought a deck."), verify_bring, bring,
        ANY_PHASE, ALWAYS, offers=_brought),
    OperationRow(
        operations.TakeDeckOut, message("take a deck away"), message("{who} took a deck away."), verify_take_out,
        take_out, ANY_PHASE, ALWAYS, offers=_taken_out, where=lambda state: bool(state.decks.recorded)),
    OperationRow(
        operations.QuarantineDeck, message("take a deck out of use"), message("{who} took a deck out of use."),
        verify_quarantine, quarantine, ANY_PHASE, ALWAYS, offers=_quarantined),
    OperationRow(
        operations.ReleaseDeck, message("release a deck"), message("{who} released a deck."), verify_release,
        release, ANY_PHASE, ALWAYS, Role.PIT_SUPERVISOR, offers=_released, where=_out_of_use),
)
# fmt: on
"""The permissions and offers of this feature."""
