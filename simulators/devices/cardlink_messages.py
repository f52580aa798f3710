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

_SAME_FIELDS: Final[dict[type[observations.Observation], type[messages.Report]]] = {
    observations.Started: messages.Started,
    observations.ShuffleStarted: messages.ShuffleStarted,
    observations.ShuffleFinished: messages.ShuffleFinished,
    observations.SetRemoved: messages.SetRemoved,
    observations.StubUnloaded: messages.StubUnloaded,
    observations.Jammed: messages.Jammed,
    observations.JamCleared: messages.JamCleared,
    observations.DoorMoved: messages.DoorMoved,
    observations.SelfTestFinished: messages.SelfTestFinished,
    observations.PowerLow: messages.PowerLow,
    observations.CheckFailed: messages.CheckFailed,
}
"""Observations whose fields are those of the report, in the same order."""


def report_of(observation: AnyObservation, uptime_ms: int) -> messages.Report:
    """Return the report for an observation."""
    match observation:
        case observations.SetDispensed(cards=cards, foreign=foreign):
            return messages.SetDispensed(
                uptime_ms, observation.shuffle, observation.ordinal, observation.remaining, observation.deck,
                _numbers(cards, foreign),
            )  # fmt: skip
        case observations.CardDrawn(card=card, foreign=foreign):
            return messages.CardDrawn(
                uptime_ms, observation.shuffle, observation.ordinal, observation.remaining, observation.deck,
                _numbers((card,), foreign)[0], observation.face_up,
            )  # fmt: skip
        case observations.CardsDrawnTogether(cards=cards, foreign=foreign):
            return messages.CardsDrawnTogether(
                uptime_ms, observation.shuffle, observation.ordinal, observation.remaining, observation.deck,
                observation.order_known, _numbers(cards, foreign),
            )  # fmt: skip
        case observations.FaceUpFound(card=card, foreign=foreign):
            return messages.FaceUpFound(
                uptime_ms, observation.shuffle, observation.ordinal, observation.deck, _numbers((card,), foreign)[0]
            )
        case observations.DeckLoaded():
            return messages.DeckLoaded(uptime_ms, observation.deck, observation.count or 0, observation.shuffle or 0)
    return _SAME_FIELDS[type(observation)](uptime_ms, *msgspec.structs.astuple(observation))


def _numbers(cards: tuple[Concealed | None, ...], foreign: int) -> list[int]:
    return [
        card.expose().number if card is not None else messages.FOREIGN if is_foreign else messages.NOT_READ
        for card, is_foreign in recognised(cards, foreign)
    ]


_COMMANDS: Final[dict[type[messages.Body], Any]] = {
    messages.Dispense: commands.Dispense,
    messages.HoldExit: commands.HoldExit,
    messages.ReleaseExit: commands.ReleaseExit,
    messages.Shuffle: commands.Shuffle,
    messages.UnloadStub: commands.UnloadStub,
    messages.Show: commands.Show,
    messages.RunSelfTest: commands.RunSelfTest,
}


def command_of(order: messages.AnyOrder) -> AnyCommand:
    """Return the command for an order."""
    command: AnyCommand = _COMMANDS[type(order)](*msgspec.structs.astuple(order))
    return command


def status_of(status: DeviceStatus, heard: int) -> messages.Status:
    """Return a status without its boot, which every frame names. `heard` is the highest counter taken from the host."""
    fields = msgspec.structs.asdict(status)
    del fields["boot"]
    return messages.Status(**{**fields, "heard": heard, "faults": list(status.faults)})


def identity_of(
    identity: DeviceIdentity, nonce: bytes, memory: int, kept: list[messages.KeptReports]
) -> messages.Identity:
    """Return the identity. `memory` is how many reports the device can keep; `kept` has those it still has."""
    return messages.Identity(
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
