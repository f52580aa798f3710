"""What a run came to, read off its events: against the plan of its seed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from simulators.plan import PlannedRound


class Raised(msgspec.Struct):
    """An irregularity as it ended up: its row may be settled only when a person confirms it."""

    round: int
    kind: str
    row: str
    resolved: bool = False


class Account:
    """Takes the events of a run, one after the other."""

    def __init__(self, plan: list[PlannedRound]) -> None:
        self._plan = plan
        self.raised: dict[int, Raised] = {}
        self.counts: Counter[str] = Counter()
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
            case "phase_entered" if event["phase"] in ("concluded", "voided"):
                self.counts[event["phase"]] += 1

    @property
    def differences(self) -> list[str]:
        """What the plan and the run do not agree about, in sentences. Empty: none missed, none invented."""
        planned = [
            (one.number, str(one.expected[0]), one.expected[1]) for one in self._plan if one.expected is not None
        ]
        raised = [(one.round, one.kind, one.row) for one in self.raised.values()]
        missed = (Counter(planned) - Counter(raised)).elements()
        invented = (Counter(raised) - Counter(planned)).elements()
        left = [one for one in self.raised.values() if not one.resolved]
        rounds = self.counts["concluded"] + self.counts["voided"]
        return [
            *(f"round {number}: {row} ({kind}) was planned and not raised" for number, kind, row in missed),
            *(f"round {number}: {row} ({kind}) was raised and not planned" for number, kind, row in invented),
            *(f"round {one.round}: {one.row} was left open" for one in left),
            *([f"{rounds} rounds were played of {len(self._plan)}"] if rounds != len(self._plan) else []),
        ]

    def summary(self) -> str:
        """A few lines for people."""
        count = self.counts
        kinds = Counter(one.row for one in self.raised.values())
        listed = ", ".join(f"{row} x{times}" for row, times in sorted(kinds.items())) or "none"
        return (
            f"{count['concluded']} rounds concluded, {count['voided']} void; {count['cards']} cards dealt; "
            f"hands: {count['win']} won, {count['lose']} lost, {count['tie']} tied\n"
            f"irregularities: {len(self.raised)} raised and resolved ({listed}); "
            + ("as planned, none missed, none invented" if not self.differences else "NOT as planned")
        )
