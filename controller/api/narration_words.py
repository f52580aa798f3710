"""Words for values of events, and the hidden events, for the lines of `controller.api.narration`."""

from __future__ import annotations

from typing import Any, Final

ENDS: Final = {
    "continue": "play goes on",
    "denied": "it was not so",
    "name_order": "the order is named",
    "next_card": "the card counts as the one that was due",
    "options": "every bettor has chosen",
    "reconstruct": "the cards are put right",
    "refuse": 'the bets stay as they lay at "No more bets": give back what was added, put back what was taken',
    "remove_hand": "the hand is removed",
    "reshuffle": "the deck is shuffled again",
    "return_bet": "the bet is returned",
    "ruling": "by a ruling",
    "stands": "the results stand",
    "void": "the round is void",
    "withdrawals": "every bettor has chosen",
}
"""The ends of an irregularity."""

OUTCOMES: Final = {"win": "WON", "lose": "LOST", "tie": "TIE"}
"""The results of a hand against the Dealer's, as on the screen."""

NOTED: Final = {"self_test_finished": "self-test", "tampered": "tampered with", "doubt": "in doubt"}
"""A device's notes that people wait for or must look into."""

SIGNED_OFF: Final = {"locked": "it was locked", "handed_over": "another dealer deals", "off_duty": "off duty"}
"""Reasons for the end of a dealer's sign-on at a screen."""

AT_THE_DOOR: Final = {
    "accept-failed": "a connection that could not be taken",
    "connections": "too many connections",
    "content-type": "a request that is not JSON",
    "display": "a request at a screen that only displays",
    "header": "a request without the header of a program",
    "host": "a request under a name that is not the table's",
    "not-admitted": "a user who is not admitted",
    "not-enrolled": "an operation at a screen that is not enrolled",
    "not-signed-on": "an operation where no dealer is signed on",
    "origin": "a request from the page of another site",
    "person": "a person who is not known",
    "pin": "an operation without the right PIN",
    "reader": "an operation by a user who may only look",
    "refused-often": "operations that are refused again and again",
    "role": "an operation by a rank that is too low",
    "streams": "too many streams",
}
"""Refusals before the table, by code."""

ONLY_FOR_MACHINES: Final = frozenset(
    {
        "reports_passed",
        "report_taken",
        "clock_ran_backwards",  # its consequences are shown
        "command_issued",
        "command_done",
        "command_lapsed",
        "set_in_tray",  # the screen shows how many lie there
    }
)
"""Events that are not shown."""


def concluded(event: dict[str, Any]) -> str:
    """The end of a round, with the clauses by which an error found before the next one still changes the result."""
    clauses = event.get("errors_count")
    if clauses is None:
        return f"round {event['round']} concluded"
    if not clauses:
        return f"round {event['round']} concluded; the rules name no error that changes it later"
    listed = ", ".join(clauses)
    return f'round {event["round"]} concluded; errors found before "Place your bets" may still change it ({listed})'
