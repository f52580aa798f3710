"""Who gave what people are offered another meaning, in a sentence for the person whose operation came too late."""

from __future__ import annotations

from typing import Final

from controller.table.permissions import PERMISSIONS
from controller.table.state import TableState
from controller.table.turning import TURNS

ASKED_FOR: Final = {
    "conclusion_asked": "asked to conclude the round",
    "abandon_asked": "asked to void the round",
    "void_asked": "asked to make the round void",
}
PAST: Final = {
    "begin": "began", "bring": "brought", "cut": "cut", "deal": "dealt", "deny": "denied", "enrol": "enrolled",
    "give": "gave", "go": "went", "let": "let", "put": "put", "take": "took",
}  # fmt: skip
"""Verbs with which phrases of permissions begin, in the past tense; the others are regular."""
NOTHING_DONE: Final = "Nothing was done: read the screen and enter it again."


def what_happened(state: TableState) -> str:
    """A sentence about the last turn: who did what, or what happened."""
    turn = state.turn
    answer = next((one for one in state.answers if one.entry == turn.operation), None) if turn.operation else None
    if answer is None:
        return BY_NAME.get(turn.what, "The table has changed.")
    screen = state.screen(answer.screen)
    who = f"{state.name_of(answer.person)} ({screen.name})" if screen is not None else state.name_of(answer.person)
    return f"{who} {ASKED_FOR.get(turn.what) or done(PHRASES[answer.operation])}."


def done(phrase: str) -> str:
    """What was done, by what may be done.

    >>> done("close bets"), done("deny an irregularity"), done("enrol a screen")
    ('closed bets', 'denied an irregularity', 'enrolled a screen')
    """
    verb, _, rest = phrase.partition(" ")
    regular = f"{verb}d" if verb.endswith("e") else f"{verb}ed"
    return f"{PAST.get(verb, regular)} {rest}"


BY_NAME: Final = {str(event.__struct_config__.tag): sentence for event, sentence in TURNS.items()}
PHRASES: Final = {
    str(operation.__struct_config__.tag): permission.phrase for operation, permission in PERMISSIONS.items()
}
