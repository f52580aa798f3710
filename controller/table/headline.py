"""The next act in a few words, which a screen shows in large type; the sentences of the next step say the rest.

A headline has one verb and at most 45 characters, or 20 in Chinese.
"""

from __future__ import annotations

from typing import Final

from controller.table.irregularities.questions import (
    COUNT_BY_HAND,
    claims,
    decider,
    entry_in_doubt,
    in_order,
    number_moves,
    question_of,
    waits_for_hand_count,
    waits_for_places,
)
from controller.table.model import Irregularity, Stage
from controller.table.next_step import CONFIRM_END, END
from controller.table.phases import BETWEEN_ROUNDS
from controller.table.settling import returns_due
from controller.table.state import TableState
from firmware_bridge.messages import Message, message

MOST: Final = 45  # characters of an English headline
LOOK: Final = message("Let the players look at their hands.")
HAS_STOPPED: Final = message("Look at the device: it has stopped.")
OTHER_DEVICE: Final = message("Connect another device.")
DIFFERENCE: Final = message("Settle the difference.")
SUPERVISOR: Final = message("Call the pit supervisor.")
DROPPED: Final = message("Put the dropped card back, face down.")

SHORTER: Final[dict[str, Message]] = {
    'Announce "No more bets" when all bets are placed.': message('Announce "No more bets".'),
    "All hands are back. Turn over {hand}.": message("Turn over {hand}."),
    "No hand is in play. Turn over {hand}.": message("Turn over {hand}."),
    "When the players have looked at their hands, turn over {hand}.": LOOK,
    'When the players have looked at their hands, press "Players have looked".': LOOK,
    "Wait for {boxes} to return the cards, then turn them over.": message("Wait for the players' cards."),
    "Shuffle a full deck, put it into the {device}, and record the shuffle.": message(
        "Shuffle a full deck and load it."
    ),
    "Shuffle the deck outside the shoe, and record the shuffle.": message("Shuffle the deck outside the shoe."),
    "Wait until the shuffler has shuffled the deck.": message("Wait for the shuffler to shuffle."),
    "The deck has to be counted: put it in again first; {how}.": message("Put the deck in again to be counted."),
    "A card lies face up in the deck; turn it over, put the deck in and have it shuffled again.": message(
        "Turn over the face-up card in the deck."
    ),
    "{named} is out of use ({why}). Put in another deck, or call the pit supervisor to release it.": message(
        "Put in another deck."
    ),
    "This device cannot give out the cards to be burnt; connect one that can.": OTHER_DEVICE,
    "The table deals sets now; connect a device that yields them.": OTHER_DEVICE,
    "The table deals single cards now; connect a device that yields them.": OTHER_DEVICE,
    "The {device} is back. Compare the table with the screen, then continue the round.": message(
        "Compare the table with the screen."
    ),
    "The {device} is back. Wait until it is compared with the screen.": message("Wait until the {device} is compared."),
    "Wait until the {device} is compared with the screen.": message("Wait until the {device} is compared."),
    "The {device} is not connected: check its power and its cable.": message("Check the {device}'s power and cable."),
    "The {device} has stopped ({causes}): {how}.": HAS_STOPPED,
    "The device has stopped ({causes}); {how}.": HAS_STOPPED,
    "Clear the {device} first ({causes}).": message("Clear the {device} first."),
    "Call the pit supervisor: the {device} cannot be used.": SUPERVISOR,
    "Call the pit supervisor to return the table to service.": SUPERVISOR,
    "Under maintenance: instruct the device, or end the maintenance.": message("End the maintenance when it is done."),
    "Deal 1 card to {place} by hand from the stub.": message("Deal by hand to {place}."),
    "The stub is not counted yet; count it by hand first.": message("Count the stub by hand."),
    "The stub is not counted yet; wait until the device has given it out.": message("Wait for the count of the stub."),
    'Take back what was paid and return all bets, then press "Bets are back".': message(
        "Take back payments and return all bets."
    ),
    'Pay or take back the difference, then press "Paid".': DIFFERENCE,
    "The settlement has changed: pay or take back the difference, then record it.": DIFFERENCE,
    "An irregularity of this round is open. {question}": message("Decide the open matter first."),
    "Turn the exposed card of {hands} face down.": message("Turn the exposed card face down."),
    "Put the dropped card back at {hand}, face down.": DROPPED,
    "Put the dropped card back at its place, face down.": DROPPED,
    "Count the whole deck by hand, with a witness, and enter the count.": message("Count the whole deck by hand."),
}
"""By the text of a next step that is too long for a headline."""


def headline(state: TableState, steps: tuple[Message, ...]) -> Message:
    """Return the next act, of these next steps, in a few words."""
    chips_first = state.phase in BETWEEN_ROUNDS and returns_due(state)
    blocking = next((found for found in in_order(state) if found.blocks), None)
    if blocking is not None and not chips_first:
        return headline_of(state, blocking)
    return _shorter(steps[0])


def _shorter(step: Message) -> Message:
    """Return the act of a step. In several sentences the act is the last one."""
    parts = step.args.get("parts")
    if isinstance(parts, tuple) and isinstance(parts[-1], Message):
        return _shorter(parts[-1])
    if step.id == CONFIRM_END.id:  # the console enters both requests at one tap
        return END
    short = SHORTER.get(step.id) if len(str(step)) > MOST else None
    return step if short is None else Message(short.id, {slot: step.args[slot] for slot in _slots(short, step)})


def _slots(short: Message, step: Message) -> list[str]:
    return [slot for slot in step.args if f"{{{slot}}}" in short.id]


def headline_of(state: TableState, found: Irregularity) -> Message:
    """Return the act or the question that an irregularity waits for, in a few words."""
    if found.void_asked:
        return message("Confirm to void the round.")
    if COUNT_BY_HAND in found.asks and not entry_in_doubt(state, found):
        return message("Count the whole deck by hand.") if found.waiting else message("Count the stub by hand.")
    if found.stage is Stage.CLAIMED:
        if waits_for_hand_count(found):
            return message("Count the hand in question.")
        asked = claims(state, found)
        return asked[0].question if asked else question_of(state, found.asks[0])
    if found.stage is Stage.RULING:
        return message("Call the {role} for a ruling.", role=decider(found).named)
    if found.stage is Stage.MOVING and not state.round.out_of_place and waits_for_places(state, found):
        return message("Enter which cards lie elsewhere.")
    if found.stage is Stage.MOVING and not (state.round.out_of_place or number_moves(state, found)):
        return message("Check that each card is at its place.")
    return BY_STAGE[found.stage]


BY_STAGE: Final[dict[Stage, Message]] = {
    Stage.ORDERING: message("Set the order of the cards."),
    Stage.CHOOSING: message("Ask each bettor: continue or withdraw?"),
    Stage.MOVING: message("Move the cards as the screen shows."),
}
