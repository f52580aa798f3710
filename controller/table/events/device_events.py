"""Events of the daemon's start, the device, its commands, and maintenance."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

from msgspec.structs import replace

from controller.games.specification import KINDS, Kind
from controller.table.events.base import Event, with_deck, with_decks, with_device, with_round, with_status_compared
from controller.table.events.lines import Fields, as_sentence, as_written, depending, with_reason, with_slots
from controller.table.model import (
    DEVICE_WORDS,
    HeldCard,
    OpenCommand,
)
from controller.table.phases import SERVICE_WORDS, Service
from controller.table.state import TableState
from controller.table.stop_causes import in_words, refusal_in_words
from firmware_bridge.capabilities import DeviceIdentity, KeyUsed
from firmware_bridge.commands import AnyCommand, HoldExit, ReleaseExit
from firmware_bridge.messages import AnyText, Argument, Message, message
from firmware_bridge.observations import CardDrawn

DISPENSED_OF_NEXT: Final = "dispensed_of_next"
"""In `StatusDiffers`: how many cards left the waiting deck."""


INTENDED_ENDS: Final = frozenset({"returned-to-service", "program-check"})
"""Codes of links that the program ended in order to make a new one."""

KEYS_USED: Final = {"old": message("its old key"), "next": message("its next key")}


class DeviceReady(Event, frozen=True, tag="device_ready"):
    """A device is connected. `cards_may_have_passed`: cards may have left it unreported while it was away in a round.

    `unfit`: it cannot serve this table, which keeps its data about the previous device. `key`: which of two keys it
    has. `image`: the SHA-256 of the approved program that it has shown to run.
    """

    identity: DeviceIdentity
    exit_held: bool
    cards_may_have_passed: bool = False
    unfit: bool = False
    key: KeyUsed = ""
    image: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        if self.unfit:
            return state
        identity = self.identity
        device = replace(
            state.device,
            connected=True,
            serial=identity.serial,
            firmware_digest=identity.firmware_digest,
            key=self.key,
            image=self.image,
            kind=identity.kind,
            unit=identity.unit,
            running_boot=identity.boot,
            capabilities=identity.capabilities,
            exit_held=self.exit_held,
            exit_fails=False,
            exit_differs=0,
            exit_repeated=False,
            status_agrees=False,
            newest_withheld=state.device.newest_withheld if identity.boot == state.device.running_boot else 0,
        )
        round_ = replace(state.round, cards_may_have_passed=self.cards_may_have_passed)
        return replace(state, device=device, round=round_)

    @staticmethod
    def line(event: Fields) -> Message | None:
        serial, kind = event["identity"]["serial"], DEVICE_WORDS[event["identity"]["kind"]]
        if event.get("unfit"):
            return message("device {serial} is connected ({kind})", serial=serial, kind=kind)
        if key := event.get("key"):
            used = KEYS_USED[key]
            said = message("device {serial} is ready ({kind}), with {key}", serial=serial, kind=kind, key=used)
        else:
            said = message("device {serial} is ready ({kind})", serial=serial, kind=kind)
        if image := event.get("image"):
            return message("{ready}; it runs the approved program {image}", ready=said, image=image[:16])
        return said


class DeviceDiffers(Event, frozen=True, tag="device_differs"):
    """The device differs from the previous one. `what`: serial (another device) or firmware (its digest)."""

    what: Literal["serial", "firmware"]
    before: str
    now: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return state  # `DeviceReady` sets the new values

    @staticmethod
    def line(event: Fields) -> Message | None:
        if event["what"] == "serial":
            return message("the device has changed from {before} to {now}", now=event["now"], before=event["before"])
        now = event["now"][:16] or message("no digest")
        return message("the firmware has changed from {before} to {now}", now=now, before=event["before"][:16])


class DeviceLost(Event, frozen=True, tag="device_lost"):
    code: str
    sentence: AnyText

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_device(state, connected=False, status_agrees=False, lost_code=self.code)

    @staticmethod
    def line(event: Fields) -> Message | None:
        """Return the line for an ended link, which was not lost if a person asked to reopen it."""
        said = as_sentence(event["sentence"])
        return said if event["code"] in INTENDED_ENDS else message("device lost: {cause}", cause=said)


class ServiceChanged(Event, frozen=True, tag="service_changed"):
    outdates: ClassVar[Message | None] = message("The device has come, gone or been compared.")
    service: Service
    cause: AnyText

    def apply(self, state: TableState, entry: int) -> TableState:
        raised = state.round.power_failure_raised and self.service is not Service.IN_SERVICE  # otherwise it is over
        return replace(
            state,
            service=self.service,
            service_cause=self.cause,
            round=replace(state.round, power_failure_raised=raised),
        )

    @staticmethod
    def line(event: Fields) -> Message | None:
        service = SERVICE_WORDS[Service(event["service"])]
        return message("table {service}: {cause}", service=service, cause=as_sentence(event["cause"]))


class StatusAgrees(Event, frozen=True, tag="status_agrees"):
    """The device's status agrees with the journal.

    `stub_out`: the status is about the waiting deck, which is in the device; the rest of the deck in play is out.
    """

    line = depending(
        {"stub_out": message("the device holds the next deck; the rest of this round's deck was removed from it")}
    )

    stub_out: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        state = with_status_compared(state)
        return with_deck(state, False, stub_out=True, used=True) if self.stub_out else state


DIFFERS: Final = {
    "shuffle": message("the shuffle's number"),
    "dispensed": message("the number of cards that left the device"),
    "tray": message("the number of cards in the tray"),
    DISPENSED_OF_NEXT: message("the number of cards that left the next deck"),
}


class StatusDiffers(Event, frozen=True, tag="status_differs"):
    """The device's status differs from the journal; the event has both values.

    `tray`: the cards in the tray by the device's status, if the tray differs.
    """

    what: str
    journal: int
    device: int
    tray: tuple[HeldCard, ...] = ()

    def apply(self, state: TableState, entry: int) -> TableState:
        """Compare later statuses with the device's value."""
        state = with_round(with_status_compared(state), differences=state.round.differences + 1)
        if self.what == "shuffle":
            return with_decks(state, in_play=replace(state.decks.in_play, shuffle=self.device, shuffled=False))
        if self.what == DISPENSED_OF_NEXT:
            return with_deck(state, True, dispensed=self.device, used=True)
        if self.what == "dispensed":
            return with_decks(state, in_play=replace(state.decks.in_play, dispensed=self.device))
        if self.device:
            return with_decks(state, tray=self.tray)
        return with_decks(state, tray=(), aside=(*state.decks.aside, *state.decks.tray))

    @staticmethod
    def line(event: Fields) -> Message | None:
        what = DIFFERS.get(event["what"], as_written(event["what"]))
        return message(
            "{what} differs: {device} in the device, {journal} in the journal",
            what=what, device=event["device"], journal=event["journal"],
        )  # fmt: skip


class ReportsPassed(Event, frozen=True, tag="reports_passed"):
    """Reports were lost; the next report expected is `boot`, `number`.

    `newest`: the last report that the device made; it withholds the reports up to that one.
    """

    line = None

    boot: int
    number: int
    note: AnyText
    newest: int = 0

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_device(state, boot=self.boot, last_report=self.number, newest_withheld=self.newest)


class ReportTaken(Event, frozen=True, tag="report_taken"):
    """A report of the device was received and is in the journal."""

    line = None

    boot: int
    number: int
    uptime_ms: int | None
    observed: str

    def apply(self, state: TableState, entry: int) -> TableState:
        device = replace(state.device, last_report=self.number, boot=self.boot, uptime_ms=self.uptime_ms)
        if self.observed == CardDrawn.__struct_config__.tag:
            device = replace(device, drawn_boot=self.boot, drawn_ms=self.uptime_ms)
        return replace(state, device=device)


class ClockRanBackwards(Event, frozen=True, tag="clock_ran_backwards"):
    """A later report of the same start of the device has an earlier time, in milliseconds since that start."""

    line = None  # its consequences are shown

    boot: int
    before_ms: int
    after_ms: int

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_round(state, clock_doubted=True)


class CommandIssued(Event, frozen=True, tag="command_issued"):
    """A command was issued to the device. Its id is this event's entry number."""

    line = None

    command: AnyCommand

    def apply(self, state: TableState, entry: int) -> TableState:
        opened = OpenCommand(entry, self.command)
        device = replace(state.device, open_commands=(*state.device.open_commands, opened))
        if isinstance(self.command, HoldExit | ReleaseExit):
            held = isinstance(self.command, HoldExit)
            again = state.device.exit_held is held and state.device.exit_differs > 0
            device = replace(device, exit_held=held, exit_fails=False, exit_differs=0, exit_repeated=again)
        return replace(state, device=device)


class CommandUnanswered(Event, frozen=True, tag="command_unanswered"):
    """The device did not answer the command in time, and no cards are moving."""

    line = message("the device did not answer a command")

    command_id: int

    def apply(self, state: TableState, entry: int) -> TableState:
        opened = (replace(one, late=True) if one.id == self.command_id else one for one in state.device.open_commands)
        return with_device(state, open_commands=tuple(opened))


class ExitDiffers(Event, frozen=True, tag="exit_differs"):
    """The device's status contradicts the last order to its exit: it is locked (`held`) or open. `times`: how often
    since that order.
    """

    line = message("the device's exit is not as ordered")

    held: bool
    times: int

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_device(state, exit_differs=self.times)


class CommandDone(Event, frozen=True, tag="command_done"):
    line = None

    command_id: int

    def apply(self, state: TableState, entry: int) -> TableState:
        left = tuple(opened for opened in state.device.open_commands if opened.id != self.command_id)
        return with_device(state, open_commands=left)


class CommandRefused(Event, frozen=True, tag="command_refused"):
    line = with_slots(
        message("the device refused a command: {reason_named}"),
        reason_named=lambda event: refusal_in_words(event["reason"]),
    )

    command_id: int
    reason: str

    def apply(self, state: TableState, entry: int) -> TableState:
        """Keep the state of an exit that did not move."""
        refused = next((opened for opened in state.device.open_commands if opened.id == self.command_id), None)
        left = tuple(opened for opened in state.device.open_commands if opened.id != self.command_id)
        device = replace(state.device, open_commands=left)
        if refused is not None and isinstance(refused.command, HoldExit | ReleaseExit):
            device = replace(device, exit_held=isinstance(refused.command, ReleaseExit), exit_fails=True)
        return replace(state, device=device)


class CommandLapsed(Event, frozen=True, tag="command_lapsed"):
    """The link ended before the device began the command, so the command is not carried out."""

    line = None

    command_id: int

    def apply(self, state: TableState, entry: int) -> TableState:
        left = tuple(opened for opened in state.device.open_commands if opened.id != self.command_id)
        return with_device(state, open_commands=left)


def _cause(event: Fields) -> Argument:
    return in_words(event["cause"])


class DeviceStopped(Event, frozen=True, tag="device_stopped"):
    """The device moves no cards until the cause is gone (`controller.table.stop_causes`)."""

    line = with_slots(message("device stopped: {cause_named}"), cause_named=_cause)

    cause: AnyText

    def apply(self, state: TableState, entry: int) -> TableState:
        stops = tuple(dict.fromkeys((*state.device.stops, self.cause)))
        return with_device(state, stops=stops, well=_without(state.device.well, self.cause))


class DeviceFreed(Event, frozen=True, tag="device_freed"):
    line = with_slots(message("device freed: {cause_named}"), cause_named=_cause)

    cause: AnyText

    def apply(self, state: TableState, entry: int) -> TableState:
        device = state.device
        return with_device(state, stops=_without(device.stops, self.cause), well=_without(device.well, self.cause))


class DeviceTookBack(Event, frozen=True, tag="device_took_back"):
    """The device reported that these causes of its stop are over. It stays stopped until a person confirms that."""

    line = with_slots(
        message("the device reports as cleared: {causes_named:clauses}"),
        causes_named=lambda event: tuple(map(in_words, event["causes"])),
    )

    causes: tuple[AnyText, ...]

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_device(state, well=tuple(dict.fromkeys((*state.device.well, *self.causes))))


def _without(causes: tuple[AnyText, ...], ended: AnyText) -> tuple[AnyText, ...]:
    return tuple(cause for cause in causes if cause != ended)


NOTED: Final = {
    "contradiction": message("device link: {detail}"),
    "device-forged-frames": message("device link: {detail}"),
    "doubt": message("device in doubt: {detail}"),
    "self_test_finished": message("device: self-test: {detail}"),
    "tampered": message("device: tampered with: {detail}"),
}
"""A device's notes that people wait for or must look into."""


class DeviceNoted(Event, frozen=True, tag="device_noted"):
    """The device sent a report without effect on the table, recorded for readers of the journal."""

    what: str
    detail: AnyText = ""

    @staticmethod
    def line(event: Fields) -> Message | None:
        """Return the line of a note that people wait for or have to look into; other notes are only for the journal."""
        named = NOTED.get(event["what"])
        return named and replace(named, args={"detail": event["detail"]})


class MaintenanceBegan(Event, frozen=True, tag="maintenance_began"):
    """Maintenance began: nothing that the device does affects a round.

    `closed`: the table was closed. `concluded`: a round was concluded, and the next had not begun.
    """

    line = message("maintenance: {reason}")

    reason: str
    closed: bool
    concluded: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(
            state,
            decks=replace(state.decks, count_due=True),
            duty=replace(state.duty, maintenance=self.reason, began_closed=self.closed, began_concluded=self.concluded),
        )


class MaintenanceEnded(Event, frozen=True, tag="maintenance_ended"):
    """Maintenance ended: the deck in the device must be loaded, shuffled and counted again before a round."""

    line = message("maintenance is over; load, shuffle and count the deck")

    def apply(self, state: TableState, entry: int) -> TableState:
        deck = replace(state.decks.in_play, shuffled=False, used=bool(state.decks.in_play.deck))
        return replace(
            state,
            decks=replace(state.decks, count_due=True, in_play=deck),
            duty=replace(state.duty, maintenance="", began_closed=False, began_concluded=False),
        )


class MaintenanceNoted(Event, frozen=True, tag="maintenance_noted"):
    """Something happened under maintenance that would be an irregularity in a round. It changes nothing."""

    kind: Kind
    noticed_by: str
    note: AnyText = ""

    @staticmethod
    def line(event: Fields) -> Message | None:
        what = event.words.own(KINDS[Kind(event["kind"])])
        return with_reason(message("noted during maintenance: {kind}", kind=what), event["note"])
