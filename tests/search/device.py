"""A device as a value: cards are positions in a fixed order. Each act returns a new value and its reports.

It behaves as `simulators.devices.scripted_device` does. It is separate because a search keeps and compares many
thousands of devices: a value is small, and equal where nothing differs.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from controller.games.specification import Unit
from controller.table.inputs import AnyInput, CommandAnswered, DeviceConnected, DeviceReported, StatusReceived
from firmware_bridge import commands, observations
from firmware_bridge.capabilities import DeviceIdentity, DeviceStatus
from firmware_bridge.cards import DECK, Card, Concealed, Evidence
from firmware_bridge.commands import AnyCommand
from firmware_bridge.observations import AnyObservation
from simulators.devices.scripted_device import SETS_DEVICE, SINGLES_DEVICE

WHOLE: Final = len(DECK)


class Device(NamedTuple):
    """A device. `inside`: the cards that are really in it; `dispensed`: its count.

    `lost`: the number of cards that left it unreported. `armed`: the fault of its next moving command (set of 2, set of
    4, jam, refuse, stub). `waiting`: reports that it keeps while the link is lost.
    """

    unit: Unit
    order: tuple[Card, ...] = DECK
    deck: int = 1
    shuffle: int = 0
    loaded: int = 0
    dispensed: int = 0
    inside: int = 0
    lost: int = 0
    tray: int = 0
    sets: int = 0
    exit_held: bool = True
    faults: tuple[str, ...] = ()
    linked: bool = True
    armed: str = ""
    boot: int = 1
    last_report: int = 0
    last_command: int = 0
    waiting: tuple[AnyInput, ...] = ()


class Moved(NamedTuple):
    """The device after an act, and what it sends."""

    device: Device
    sent: tuple[AnyInput, ...] = ()


@cache
def _concealed(card: Card, shuffle: int, ordinal: int) -> Concealed:
    return Concealed(card, shuffle, ordinal)


@cache
def identity(unit: Unit, boot: int) -> DeviceIdentity:
    """Return the device's identity."""
    return DeviceIdentity(
        kind="shuffler" if unit is Unit.SETS else "shoe",
        unit="sets" if unit is Unit.SETS else "singles",
        maker="test",
        model="searched",
        serial="T-1",
        firmware="1",
        firmware_digest="0" * 64,
        capabilities=SETS_DEVICE if unit is Unit.SETS else SINGLES_DEVICE,
        simulated=True,
        deck_size=WHOLE,
        boot=boot,
    )


def status(device: Device) -> DeviceStatus:
    """Return the device's status."""
    return DeviceStatus(
        boot=device.boot,
        last_report=device.last_report,
        uptime_ms=0,
        shuffle=device.shuffle,
        loaded=device.loaded,
        dispensed=device.dispensed,
        remaining=device.loaded - device.dispensed,
        sets_dispensed=device.sets,
        tray_occupied=bool(device.tray),
        exit_held=device.exit_held,
        moving=False,
        last_command=device.last_command,
        faults=device.faults,
    )


def report(device: Device, *observed: AnyObservation) -> Moved:
    """Send numbered reports, or keep them while the link is lost."""
    made: list[AnyInput] = []
    for number, observation in enumerate(observed, start=device.last_report + 1):
        made.append(DeviceReported(device.boot, number, 0, observation, Evidence(b"")))
    device = device._replace(last_report=device.last_report + len(made))
    if device.linked:
        return Moved(device, tuple(made))
    return Moved(device._replace(waiting=(*device.waiting, *made)))


# -- acts of people, and accidents -------------------------------------------------------------------------------------


def load(device: Device) -> Moved:
    """Load the next deck, complete and in the same order. A shoe reports its order immediately."""
    deck = device.deck + 1
    shuffle = deck if device.unit is Unit.SINGLES else 0
    fresh = device._replace(deck=deck, shuffle=shuffle, loaded=WHOLE, dispensed=0, inside=WHOLE, lost=0, tray=0)
    return report(fresh, observations.DeckLoaded(deck, WHOLE, shuffle or None))


def lift(device: Device) -> Moved:
    """Empty the tray."""
    first = device.dispensed - device.tray + 1
    return report(device._replace(tray=0), observations.SetRemoved(device.shuffle, first))


def draw(device: Device, *, face_up: bool = False, foreign: int = 0) -> Moved:
    """Draw one card from the exit."""
    taken, faces = _take(device, 1)
    left = taken.loaded - taken.dispensed
    seen = observations.CardDrawn(device.shuffle, taken.dispensed, left, device.deck, faces[0], face_up, foreign)
    return report(taken, seen)


def draw_together(device: Device, count: int, *, order_known: bool) -> Moved:
    """Draw several cards together."""
    taken, faces = _take(device, count)
    left = taken.loaded - taken.dispensed
    first = device.dispensed + 1
    return report(taken, observations.CardsDrawnTogether(device.shuffle, first, left, device.deck, order_known, faces))


def form_set(device: Device, count: int) -> Moved:
    """Drop cards into the tray, ordered or not."""
    taken, faces = _take(device, count)
    taken = taken._replace(tray=device.tray + count, sets=device.sets + 1)
    left = taken.loaded - taken.dispensed
    return report(taken, observations.SetDispensed(device.shuffle, device.dispensed + 1, left, device.deck, faces))


def pass_unseen(device: Device) -> Moved:
    """Let a card leave that the device does not count."""
    return Moved(device._replace(inside=device.inside - 1, lost=device.lost + 1))


def skip_count(device: Device) -> Moved:
    """Let a card leave that the device counts and does not report."""
    return Moved(_take(device, 1)[0]._replace(lost=device.lost + 1))


def find_face_up(device: Device) -> Moved:
    """Turn the next card in the device face up."""
    return report(device, observations.FaceUpFound(device.shuffle, device.dispensed + 1, device.deck))


def jam(device: Device) -> Moved:
    return report(device._replace(faults=("jam: transport",)), observations.Jammed("transport"))


def clear_jam(device: Device) -> Moved:
    return report(device._replace(faults=()), observations.JamCleared("transport"))


def reboot(device: Device) -> Moved:
    """Switch the device off and on while the link is lost: report numbers start again, and everything else is kept."""
    return report(device._replace(boot=device.boot + 1, last_report=0, waiting=()), observations.Started("power"))


def connect(device: Device) -> Moved:
    """Restore the link: the status comes first, then the kept reports, then a heartbeat."""
    linked = device._replace(linked=True, waiting=())
    connected = DeviceConnected(identity(device.unit, device.boot), status(linked))
    return Moved(linked, (connected, *device.waiting, StatusReceived(status(linked))))


# -- commands of the host ----------------------------------------------------------------------------------------------


def obey(device: Device, command_id: int, command: AnyCommand) -> Moved:
    """Carry a command out immediately: its reports first, then its answer."""
    if not device.linked:
        return Moved(device)
    if isinstance(command, commands.HoldExit | commands.ReleaseExit):
        held = device._replace(exit_held=isinstance(command, commands.HoldExit))
        return Moved(held, (CommandAnswered(command_id, True),))
    armed = device.armed
    device = device._replace(armed="")
    moved = jam(device) if armed == "jam" else Moved(device)
    reason = "busy" if armed == "refuse" else "".join(moved.device.faults)
    if reason:
        return Moved(moved.device, (*moved.sent, CommandAnswered(command_id, False, reason)))
    moved = _carry_out(device, command, armed)
    done = moved.device._replace(last_command=command_id)
    return Moved(done, (*moved.sent, CommandAnswered(command_id, True)))


def _carry_out(device: Device, command: AnyCommand, armed: str) -> Moved:
    match command:
        case commands.Dispense(count=count):
            return form_set(device, {"set of 2": 2, "set of 4": 4}.get(armed, count))
        case commands.Shuffle():
            shuffled = device._replace(shuffle=device.deck)
            finished = observations.ShuffleFinished(device.deck, device.deck, device.inside)
            return report(shuffled, observations.ShuffleStarted(device.deck), finished)
        case commands.UnloadStub():
            left = device.inside + device.tray - (armed == "stub")
            return report(device._replace(inside=0, tray=0), observations.StubUnloaded(device.deck, left))
    return Moved(device)


def _take(device: Device, count: int) -> tuple[Device, tuple[Concealed, ...]]:
    gone = WHOLE - device.inside
    faces = tuple(
        _concealed(device.order[gone + place], device.shuffle, device.dispensed + place + 1) for place in range(count)
    )
    return device._replace(inside=device.inside - count, dispensed=device.dispensed + count), faces
