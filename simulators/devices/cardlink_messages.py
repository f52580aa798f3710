"""Translates a mechanism's observations into cardlink's messages, and orders on the wire into commands.

This is the inverse of `firmware_bridge.drivers.cardlink.translate`, and shares only the message types with it.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from firmware_bridge import commands, observations
from firmware_bridge.capabilities import DeviceIdentity, DeviceStatus
from firmware_bridge.cards import Concealed
from firmware_bridge.commands import AnyCommand
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.translate import capability_words
from firmware_bridge.observations import AnyObservation
from simulators.devices.base import recognised

_SAME_FIELDS: Final[dict[type[observations.Observation], type[messages.ReportBody]]] = {
    observations.Started: messages.StartedReport,
    observations.ShuffleStarted: messages.ShuffleStartedReport,
    observations.ShuffleFinished: messages.ShuffleFinishedReport,
    observations.SetRemoved: messages.SetRemovedReport,
    observations.StubUnloaded: messages.StubUnloadedReport,
    observations.Jammed: messages.JammedReport,
    observations.JamCleared: messages.JamClearedReport,
    observations.DoorMoved: messages.DoorMovedReport,
    observations.SelfTestFinished: messages.SelfTestFinishedReport,
    observations.PowerLow: messages.PowerLowReport,
    observations.CheckFailed: messages.CheckFailedReport,
}
"""Observations whose fields are those of the report, in the same order."""


def report_of(observation: AnyObservation, uptime_ms: int) -> messages.ReportBody:
    """Return the report for an observation."""
    match observation:
        case observations.SetDispensed(cards=cards, foreign=foreign):
            return messages.SetDispensedReport(
                uptime_ms, observation.shuffle, observation.ordinal, observation.remaining, observation.deck,
                _numbers(cards, foreign),
            )  # fmt: skip
        case observations.CardDrawn(card=card, foreign=foreign):
            return messages.CardDrawnReport(
                uptime_ms, observation.shuffle, observation.ordinal, observation.remaining, observation.deck,
                _numbers((card,), foreign)[0], observation.face_up,
            )  # fmt: skip
        case observations.CardsDrawnTogether(cards=cards, foreign=foreign):
            return messages.CardsDrawnTogetherReport(
                uptime_ms, observation.shuffle, observation.ordinal, observation.remaining, observation.deck,
                observation.order_known, _numbers(cards, foreign),
            )  # fmt: skip
        case observations.FaceUpFound(card=card, foreign=foreign):
            return messages.FaceUpFoundReport(
                uptime_ms, observation.shuffle, observation.ordinal, observation.deck, _numbers((card,), foreign)[0]
            )
        case observations.DeckLoaded():
            return messages.DeckLoadedReport(
                uptime_ms, observation.deck, observation.count or 0, observation.shuffle or 0
            )
    return _SAME_FIELDS[type(observation)](uptime_ms, *msgspec.structs.astuple(observation))


def _numbers(cards: tuple[Concealed | None, ...], foreign: int) -> list[int]:
    return [
        card.expose().number if card is not None else messages.FOREIGN if is_foreign else messages.NOT_READ
        for card, is_foreign in recognised(cards, foreign)
    ]


_COMMANDS: Final[dict[type[messages.Body], Any]] = {
    messages.DispenseOrder: commands.Dispense,
    messages.HoldExitOrder: commands.HoldExit,
    messages.ReleaseExitOrder: commands.ReleaseExit,
    messages.ShuffleOrder: commands.Shuffle,
    messages.UnloadStubOrder: commands.UnloadStub,
    messages.ShowOrder: commands.Show,
    messages.RunSelfTestOrder: commands.RunSelfTest,
}


def command_of(order: messages.AnyOrder) -> AnyCommand:
    """Return the command for an order."""
    command: AnyCommand = _COMMANDS[type(order)](*msgspec.structs.astuple(order))
    return command


def status_of(status: DeviceStatus, heard: int) -> messages.StatusBody:
    """Return a status without its boot, which every frame names. `heard` is the highest counter taken from the host."""
    fields = msgspec.structs.asdict(status)
    del fields["boot"]
    return messages.StatusBody(**{**fields, "heard": heard, "faults": list(status.faults)})


def identity_of(
    identity: DeviceIdentity, nonce: bytes, memory: int, kept: list[messages.KeptReports]
) -> messages.IdentityBody:
    """Return the identity. `memory` is how many reports the device can keep; `kept` has those it still has."""
    return messages.IdentityBody(
        version=1,
        kind=identity.kind,
        unit=identity.unit,
        maker=identity.maker,
        model=identity.model,
        serial=identity.serial,
        firmware=identity.firmware,
        firmware_digest=identity.firmware_digest,
        capabilities=capability_words(identity.capabilities),
        report_memory=memory,
        simulated=identity.simulated,
        deck_size=identity.deck_size,
        nonce=nonce,
        kept=kept,
    )
