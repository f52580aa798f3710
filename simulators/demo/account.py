"""The account of a run, from its events, compared with the plan of its seed."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any, Final

import msgspec

from controller.games.specification import KINDS, Kind
from controller.language import Speaker
from firmware_bridge.messages import Message, message
from simulators.people.plan import PlannedRound

PARTS: Final = ("returned", "collected", "held")  # the parts of a bet


class Raised(msgspec.Struct):
    """An irregularity with its final row, which may be known only after a person confirms it."""

    round: int
    kind: str
    row: str
    resolved: bool = False


def _to_house(bet: dict[str, Any]) -> Fraction:
    return Fraction(bet["collected"]) - Fraction(bet["paid"])


class RunAccount:
    """The account, which takes the events of a run in order."""

    def __init__(self, plan: list[PlannedRound]) -> None:
        self._plan = plan
        self.raised: dict[int, Raised] = {}
        self.counts: Counter[str] = Counter()
        self.house = Fraction(0)  # its gain by wagers
        self.unbalanced: list[Message] = []
        self._round = 0

    def take(self, event: dict[str, Any]) -> None:
        match event["event"]:
            case "round_began":
                self._round = event["round"]
            case "irregularity_raised":
                self.raised[event["entry"]] = Raised(self._round, event["kind"], event["row"]["id"])
            case "irregularity_confirmed" | "fact_stated":
                self.raised[event["irregularity"]].row = event["row"]["id"]
            case "irregularity_resolved":
                self.raised[event["irregularity"]].resolved = True
            case "hand_judged":
                self.counts[event["outcome"]] += 1
            case "cards_dealt":
                self.counts["cards"] += len(event["cards"])
            case "wagers_settled":
                self._settle(event["bets"], Fraction(event["house"]))
            case "settlement_reversed":
                self.counts["bets"] -= len(event["bets"])
                self.house -= sum(map(_to_house, event["bets"]), Fraction(0))
            case "phase_entered" if event["phase"] in ("concluded", "voided"):
                self.counts[event["phase"]] += 1

    def _settle(self, bets: list[dict[str, Any]], house: Fraction) -> None:
        """Check that each bet is returned, collected or held, and that the house gains what the bettors lose."""
        lost_track = [bet for bet in bets if sum(Fraction(bet[part]) for part in PARTS) != bet["amount"]]
        if lost_track or house != sum(map(_to_house, bets), Fraction(0)):
            self.unbalanced.append(message("round {round}: the settlement does not balance", round=self._round))
        self.counts["bets"] += len(bets)
        self.house += house

    @property
    def differences(self) -> list[Message]:
        """Return phrases on the differences between plan and run, which are none if nothing was
        missed or invented.
        """
        planned = [
            (one.number, str(one.expected[0]), one.expected[1]) for one in self._plan if one.expected is not None
        ]
        raised = [(one.round, one.kind, one.row) for one in self.raised.values()]
        missed = (Counter(planned) - Counter(raised)).elements()
        invented = (Counter(raised) - Counter(planned)).elements()
        left = [one for one in self.raised.values() if not one.resolved]
        rounds = self.counts["concluded"] + self.counts["voided"]
        return [
            *(
                message(
                    "round {round}: {row} ({kind}) was planned and not raised",
                    round=number,
                    row=row,
                    kind=KINDS[Kind(kind)],
                )
                for number, kind, row in missed
            ),
            *(
                message(
                    "round {round}: {row} ({kind}) was raised and not planned",
                    round=number,
                    row=row,
                    kind=KINDS[Kind(kind)],
                )
                for number, kind, row in invented
            ),
            *(message("round {round}: {row} was left open", round=one.round, row=one.row) for one in left),
            *self.unbalanced,
            *(
                [message("{count} of {planned} rounds were played", count=rounds, planned=len(self._plan))]
                if rounds != len(self._plan)
                else []
            ),
        ]

    def summary(self, say: Speaker | None = None, *, freely: bool = False) -> str:
        """Return a few lines for people. `freely` means that a visitor dealt, who may depart from the plan."""
        say, count = say or Speaker(), self.counts
        kinds = Counter(one.row for one in self.raised.values())
        lines = [
            message(
                "Rounds: {concluded} concluded, {voided} void; {cards} cards dealt.",
                concluded=count["concluded"], voided=count["voided"], cards=count["cards"],
            ),
            message("Hands: {won} won, {lost} lost, {tied} tied.",
                    won=count["win"], lost=count["lose"], tied=count["tie"]),
        ]  # fmt: skip
        if count["bets"]:
            lines.append(
                message("Wagers: {bets} settled; the house gains {gain}.", bets=count["bets"], gain=str(self.house))
            )
        listed = tuple(f"{row} x{times}" for row, times in sorted(kinds.items())) or message("none")
        lines.append(
            message("Irregularities: {raised} raised and resolved ({listed:list}).",
                    raised=len(self.raised), listed=listed)
        )  # fmt: skip
        if self.differences and not freely:
            lines.append(message("NOT as planned."))
        elif not self.differences:
            lines.append(message("As planned: none missed, none invented."))
        return "\n".join(map(say, lines))
