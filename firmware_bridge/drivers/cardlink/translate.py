"""Translates cardlink's messages into `firmware_bridge.observations`, and commands into orders on the wire."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from firmware_bridge import commands, observations
from firmware_bridge.capabilities import Capabilities, DeviceIdentity, DeviceStatus
from firmware_bridge.cards import DECK_SIZE, Card, Concealed
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.observations import AnyObservation
from firmware_bridge.plain_text import plain

LONGEST_WORD = 32  # characters


def _concealed(number: int, shuffle: int, ordinal: int) -> Concealed | None:
    return Concealed(Card.numbered(number), shuffle, ordinal) if 1 <= number <= DECK_SIZE else None


def _cards(numbers: list[int], shuffle: int, first: int) -> tuple[Concealed | None, ...]:
    return tuple(_concealed(number, shuffle, first + place) for place, number in enumerate(numbers))


def observation_of(report: messages.AnyReport) -> AnyObservation:
    """Return the observation for a report."""
    match report:
        case messages.SetDispensedReport():
            return observations.SetDispensed(
                report.shuffle,
                report.ordinal,
                report.remaining,
                report.deck,
                _cards(report.cards, report.shuffle, report.ordinal),
                report.cards.count(messages.FOREIGN),
            )
        case messages.CardDrawnReport():
            return observations.CardDrawn(
                report.shuffle,
                report.ordinal,
                report.remaining,
                report.deck,
                _concealed(report.card, report.shuffle, report.ordinal),
                report.face_up,
                int(report.card == messages.FOREIGN),
            )
        case messages.CardsDrawnTogetherReport():
            return observations.CardsDrawnTogether(
                report.shuffle,
                report.ordinal,
                report.remaining,
                report.deck,
                report.order_known,
                _cards(report.cards, report.shuffle, report.ordinal),
                report.cards.count(messages.FOREIGN),
            )
        case messages.FaceUpFoundReport():
            return observations.FaceUpFound(
                report.shuffle,
                report.ordinal,
                report.deck,
                _concealed(report.card, report.shuffle, report.ordinal),
                int(report.card == messages.FOREIGN),
            )
        case messages.DeckLoadedReport():
            return observations.DeckLoaded(report.deck, report.count or None, report.shuffle or None)
    return _same_fields(report)


# Reports whose fields are those of the observation, in the same order.
_SAME: Final[dict[type[messages.ReportBody], Any]] = {
    messages.StartedReport: observations.Started,
    messages.ShuffleStartedReport: observations.ShuffleStarted,
    messages.ShuffleFinishedReport: observations.ShuffleFinished,
    messages.ShuffleAbortedReport: observations.ShuffleAborted,
    messages.SetRemovedReport: observations.SetRemoved,
    messages.StubUnloadedReport: observations.StubUnloaded,
    messages.JammedReport: observations.Jammed,
    messages.JamClearedReport: observations.JamCleared,
    messages.DoorMovedReport: observations.DoorMoved,
    messages.SelfTestFinishedReport: observations.SelfTestFinished,
    messages.PowerLowReport: observations.PowerLow,
    messages.TamperedReport: observations.Tampered,
    messages.ButtonPressedReport: observations.ButtonPressed,
    messages.ReportsLostReport: observations.ReportsLost,
    messages.CheckFailedReport: observations.CheckFailed,
}


def _same_fields(report: messages.AnyReport) -> AnyObservation:
    values = msgspec.structs.astuple(report)[1:]
    observation: AnyObservation = _SAME[type(report)](*values)
    return observation


def identity_of(identity: messages.IdentityBody, boot: int) -> DeviceIdentity:
    """Translate an identity. Raise BadMessageError for an unknown kind, unit or combination with dispensing."""
    capabilities = capabilities_of(identity.capabilities)
    if identity.kind == "shoe" and capabilities.dispenses == "on_command":
        raise messages.BadMessageError("a shoe cannot form sets on command; it has to name dispenses_on_removal")
    return DeviceIdentity(
        kind=_one_of(identity.kind, "shuffler", "shoe"),
        unit=_one_of(identity.unit, "sets", "singles", "both"),
        maker=identity.maker,
        model=identity.model,
        serial=identity.serial,
        firmware=identity.firmware,
        firmware_digest=identity.firmware_digest,
        capabilities=capabilities,
        simulated=identity.simulated,
        deck_size=identity.deck_size,
        boot=boot,
    )


def _one_of(word: str, *allowed: str) -> Any:
    if word not in allowed:
        raise messages.BadMessageError(f"{plain(word, LONGEST_WORD)!r} is not one of {', '.join(allowed)}")
    return word


_CAPABILITY_WORDS: Final = {
    "recognises_cards": "card_recognition",
    "senses_orientation": "orientation_sensor",
    "senses_double_draw": "double_draw_sensor",
    "senses_tray": "tray_sensor",
    "holds_exit": "exit_hold",
    "unloads_stub": "unloads_stub",
    "stages": "stages",
    "retains_reports": "retains_reports",
    "attests": "attests",
}


_DISPENSES: Final[dict[str, Literal["on_command", "on_removal"]]] = {
    "dispenses_on_command": "on_command",
    "dispenses_on_removal": "on_removal",
}


def capabilities_of(words: list[str]) -> Capabilities:
    """Translate capability words. Unknown ones come from a newer device and are ignored. Raise BadMessageError unless
    exactly one way of dispensing is named."""
    named = [way for word, way in _DISPENSES.items() if word in words]
    if len(named) != 1:
        raise messages.BadMessageError(f"it names {'both' if named else 'neither'} of {' and '.join(_DISPENSES)}")
    return Capabilities(dispenses=named[0], **{name: word in words for name, word in _CAPABILITY_WORDS.items()})


def capability_words(capabilities: Capabilities) -> list[str]:
    """Return the words of the identity for these capabilities."""
    words = [word for name, word in _CAPABILITY_WORDS.items() if getattr(capabilities, name)]
    return [*words, f"dispenses_{capabilities.dispenses}"]


def status_of(status: messages.StatusBody, boot: int) -> DeviceStatus:
    return DeviceStatus(
        boot=boot,
        last_report=status.last_report,
        uptime_ms=status.uptime_ms,
        shuffle=status.shuffle,
        loaded=status.loaded,
        dispensed=status.dispensed,
        remaining=status.remaining,
        sets_dispensed=status.sets_dispensed,
        tray_occupied=status.tray_occupied,
        exit_held=status.exit_held,
        moving=status.moving,
        last_command=status.last_command,
        faults=tuple(status.faults),
    )


_ORDERS: Final[dict[type[commands.Command], Any]] = {
    commands.Dispense: messages.DispenseOrder,
    commands.HoldExit: messages.HoldExitOrder,
    commands.ReleaseExit: messages.ReleaseExitOrder,
    commands.Shuffle: messages.ShuffleOrder,
    commands.UnloadStub: messages.UnloadStubOrder,
    commands.Show: messages.ShowOrder,
    commands.RunSelfTest: messages.RunSelfTestOrder,
}


def order_of(command: commands.AnyCommand) -> messages.AnyOrder:
    order: messages.AnyOrder = _ORDERS[type(command)](*msgspec.structs.astuple(command))
    return order
