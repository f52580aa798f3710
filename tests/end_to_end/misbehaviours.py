"""What a device can do wrong while a round is dealt: one row for each misbehaviour, drawn by a seed.

Not among them: a device whose reports, statuses and answers agree in the same lie about a face. Nothing on the line
shows that; the faces that people turn over do.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from firmware_bridge.commands import HoldExit, ReleaseExit
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import Frame
from firmware_bridge.drivers.cardlink.messages import FrameKind, ReportBody, StatusBody
from simulators.devices import cardlink_messages
from tests.bench.broken_devices import wrap
from tests.end_to_end.silent_device import SilentTable, damaged, whole

Misbehaviour: TypeAlias = Callable[[SilentTable, Random], None]
REPORT, STATUS, ANSWER = (frozenset({kind}) for kind in (FrameKind.REPORT, FrameKind.STATUS, FrameKind.ANSWER))
ALL: Final = frozenset(FrameKind)
FOR_EVER: Final = 10**9
LEAVES: Final = (messages.SetDispensedReport, messages.CardDrawnReport)


# -- frames on their way


def frames(
    kinds: frozenset[FrameKind], do: Callable[[Frame], bytes], most: tuple[int, ...] = (1, 3, FOR_EVER)
) -> Misbehaviour:
    """Send something else instead of the next frames of these kinds."""

    def misbehave(table: SilentTable, random: Random) -> None:
        left, before = random.choice(most), table.side.hand

        def hand(frame: Frame) -> bytes:
            nonlocal left
            if frame.kind not in kinds or left <= 0:
                return before(frame)
            left -= 1
            return do(frame)

        table.side.hand = hand

    return misbehave


def late(kinds: frozenset[FrameKind]) -> Misbehaviour:
    """Hold frames back until others have gone out."""

    def misbehave(table: SilentTable, random: Random) -> None:
        kept: list[bytes] = []
        wait, before = random.choice((1, 3, 20)), table.side.hand
        since = 0

        def hand(frame: Frame) -> bytes:
            nonlocal since
            if frame.kind in kinds and since < wait:
                kept.append(before(frame))
                return b""
            since += 1
            return before(frame) + (b"".join(kept.pop() for _ in range(len(kept))) if since >= wait else b"")

        table.side.hand = hand

    return misbehave


def old_frames_again(table: SilentTable, random: Random) -> None:
    sent: list[bytes] = []
    before, back = table.side.hand, random.choice((1, 5, 30))

    def hand(frame: Frame) -> bytes:
        sent.append(before(frame))
        return sent[-1] + sent[max(0, len(sent) - 1 - back)]

    table.side.hand = hand


def noise(table: SilentTable, random: Random) -> None:
    before, size = table.side.hand, random.choice((1, 40, 700))
    table.side.hand = lambda frame: random.randbytes(size) + b"\xc0" + before(frame)


# -- what it says


def status(change: Callable[[StatusBody, Random], dict[str, Any]]) -> Misbehaviour:
    """Lie in every status from now on."""

    def misbehave(table: SilentTable, random: Random) -> None:
        wrap(table.device.link, "_status", lambda old, heard: _changed(old(heard), change, random))

    return misbehave


def _changed(said: Any, change: Callable[[Any, Random], dict[str, Any]], random: Random) -> Any:
    changes = change(said, random)
    return replace(said, **{name: max(0, value) if type(value) is int else value for name, value in changes.items()})


def reports(change: Callable[[Any, Random], dict[str, Any]], most: tuple[int, ...] = (1, FOR_EVER)) -> Misbehaviour:
    """Lie in the next reports of cards that leave."""

    def misbehave(table: SilentTable, random: Random) -> None:
        left = random.choice(most)

        def report(old: Callable[..., int], made: ReportBody, now: float) -> int:
            nonlocal left
            if isinstance(made, LEAVES) and left > 0:
                left -= 1
                made = _changed(made, change, random)
            return old(made, now)

        wrap(table.device.link, "report", report)

    return misbehave


def unreported(table: SilentTable, random: Random) -> None:
    """Report nothing of the next cards, and give their numbers to later reports."""
    left = random.choice((1, 2))

    def report(old: Callable[..., int], made: ReportBody, now: float) -> int:
        nonlocal left
        if isinstance(made, LEAVES) and left > 0:
            left -= 1
            return table.device.link.last_number
        return old(made, now)

    wrap(table.device.link, "report", report)


def reported_twice(table: SilentTable, random: Random) -> None:
    """Report cards again under the next number."""

    def report(old: Callable[..., int], made: ReportBody, now: float) -> int:
        old(made, now)
        return old(made, now)

    wrap(table.device.link, "report", report)


def numbers(change: Callable[[int, Random], int]) -> Misbehaviour:
    """Go on with another number for the next report."""

    def misbehave(table: SilentTable, random: Random) -> None:
        link = table.device.link
        link.last_number = max(0, change(link.last_number, random))

    return misbehave


def bodies(
    kinds: frozenset[FrameKind], change: Callable[[bytes], bytes], most: tuple[int, ...] = (1, FOR_EVER)
) -> Misbehaviour:
    """Change the bodies of frames before they are sealed."""

    def misbehave(table: SilentTable, random: Random) -> None:
        left = random.choice(most)

        def send(old: Callable[..., None], kind: FrameKind, now: float, body: bytes, **named: Any) -> None:
            nonlocal left
            if kind in kinds and left > 0:
                left -= 1
                body = change(body)
            old(kind, now, body, **named)

        wrap(table.device.link, "_send", send)

    return misbehave


def with_more_elements(body: bytes) -> bytes:
    """Add two elements to an array of fewer than 14."""
    if not 0x90 <= body[0] <= 0x9D:
        return body
    return bytes([body[0] + 2]) + body[1:] + b"\xc0\xa3new"


def headers(kinds: frozenset[FrameKind], change: Callable[[int, Random], dict[str, int]]) -> Misbehaviour:
    """Change the header of frames before they are sealed."""

    def misbehave(table: SilentTable, random: Random) -> None:
        link = table.device.link

        def send(old: Callable[..., None], kind: FrameKind, now: float, body: bytes, **named: Any) -> None:
            old(kind, now, body, **(named | change(link.last_number, random) if kind in kinds else named))

        wrap(link, "_send", send)

    return misbehave


# -- what it does with orders


def answers(change: Callable[[bool, str], tuple[bool, str]]) -> Misbehaviour:
    def misbehave(table: SilentTable, random: Random) -> None:
        wrap(
            table.device.link,
            "answer",
            lambda old, command_id, done, reason="": old(command_id, *change(done, reason)),
        )

    return misbehave


def answers_twice(table: SilentTable, random: Random) -> None:
    def answer(old: Callable[..., None], command_id: int, done: bool, reason: str = "") -> None:
        old(command_id, done, reason)
        old(command_id, not done, "jam")

    wrap(table.device.link, "answer", answer)


def answers_at_once(table: SilentTable, random: Random) -> None:
    """Answer that every order is done, and do nothing."""
    table.device.link._on_command = lambda command_id, order: table.device.link.answer(command_id, True)


def answers_to_nothing(table: SilentTable, random: Random) -> None:
    link = table.device.link

    def answer(old: Callable[..., None], command_id: int, done: bool, reason: str = "") -> None:
        link._answers[command_id + 1000] = (0, b"")
        old(command_id + 1000, done, reason)
        old(command_id, done, reason)

    wrap(link, "answer", answer)


def ignores_orders(table: SilentTable, random: Random) -> None:
    table.device.link._on_command = lambda command_id, order: None


def does_orders_twice(table: SilentTable, random: Random) -> None:
    mechanism = table.device.mechanism
    obey = table.device.link._on_command

    def twice(command_id: int, order: messages.AnyOrder) -> None:
        obey(command_id, order)
        mechanism.carry_out(command_id, cardlink_messages.command_of(order))

    table.device.link._on_command = twice


def exit_does(*ignored: type[HoldExit] | type[ReleaseExit]) -> Misbehaviour:
    """Answer these orders to the exit as done, and leave the exit as it is."""

    def misbehave(table: SilentTable, random: Random) -> None:
        link = table.device.link
        obey = link._on_command

        def take(command_id: int, order: messages.AnyOrder) -> None:
            if isinstance(cardlink_messages.command_of(order), ignored):
                link.answer(command_id, True)
            else:
                obey(command_id, order)

        link._on_command = take

    return misbehave


# -- what happens to it


def reboots(cause: str) -> Misbehaviour:
    return lambda table, random: table.device.restart(cause)


def reboots_in_the_same_boot(table: SilentTable, random: Random) -> None:
    """Restart without a new boot: its reports begin again at 1."""
    device = table.device
    device.mechanism.exit_held = True
    device.link.reboot(device.link.boot, keep_reports=False)
    device.mechanism.power_on("power")


def forgets_its_reports(table: SilentTable, random: Random) -> None:
    """Drop reports as soon as they are sent."""

    def fill(old: Callable[[float], None], now: float) -> None:
        old(now)
        table.device.link._kept.clear()

    wrap(table.device.link, "_fill_window", fill)


def forgets_the_link(table: SilentTable, random: Random) -> None:
    table.device.link._forget_link()


def rejects(table: SilentTable, random: Random) -> None:
    link = table.device.link
    if link.linked:
        link._send(FrameKind.SEALED_REJECT, link._now, messages.encode_body(messages.RejectBody("message", "no")))


def another_card_leaves(table: SilentTable, random: Random) -> None:
    """Let a card leave although the exit is held; in a shuffler, lose one of the next set on its way."""
    mechanism = table.device.mechanism
    if mechanism.profile.kind == "shoe":
        mechanism.draw(forced=True)
    elif mechanism.inside:
        mechanism.inside.pop(0)


MISBEHAVIOURS: Final[dict[str, Misbehaviour]] = {
    **{f"{name} not sent": frames(kinds, lambda frame: b"") for name, kinds in
       (("reports", REPORT), ("statuses", STATUS), ("answers", ANSWER), ("frames", ALL))},
    **{f"{name} damaged": frames(kinds, damaged) for name, kinds in
       (("reports", REPORT), ("statuses", STATUS), ("answers", ANSWER), ("frames", ALL))},
    "frames cut short": frames(ALL, lambda frame: whole(frame)[: len(frame.content) // 2], (1, 3, 20)),
    "frames twice": frames(ALL, lambda frame: 2 * whole(frame)),
    "reports five times": frames(REPORT, lambda frame: 5 * whole(frame)),
    "over-long frames": frames(ALL, lambda frame: b"\xc0" + 600 * b"x" + whole(frame)),
    "reports late": late(REPORT),
    "statuses late": late(STATUS),
    "answers late": late(ANSWER),
    "old frames again": old_frames_again,
    "noise": noise,
    "status: dispensed": status(lambda said, random: {"dispensed": said.dispensed + random.choice((-1, 1, 5))}),
    "status: remaining": status(lambda said, random: {"remaining": said.remaining + random.choice((-1, 1))}),
    "status: loaded": status(lambda said, random: {"loaded": said.loaded - 1}),
    "status: sets": status(lambda said, random: {"sets_dispensed": said.sets_dispensed + random.choice((-1, 60))}),
    "status: shuffle": status(lambda said, random: {"shuffle": said.shuffle + 1}),
    "status: no deck": status(
        lambda said, random: {"shuffle": 0, "loaded": 0, "dispensed": 0, "remaining": 0, "sets_dispensed": 0}),
    "status: tray": status(lambda said, random: {"tray_occupied": not said.tray_occupied}),
    "status: exit": status(lambda said, random: {"exit_held": not said.exit_held}),
    "status: moving": status(lambda said, random: {"moving": True}),
    "status: last report": status(lambda said, random: {"last_report": said.last_report + random.choice((-2, 1, 7))}),
    "status: last command": status(
        lambda said, random: {"last_command": random.choice((0, said.last_command + 10**6))}),
    "status: uptime": status(lambda said, random: {"uptime_ms": 5}),
    "status: heard": status(lambda said, random: {"heard": said.heard + 10**5}),
    "status: nothing heard": status(lambda said, random: {"heard": 0}),
    "status: fault": status(lambda said, random: {"faults": ["door"]}),
    "report: ordinal": reports(lambda made, random: {"ordinal": made.ordinal + random.choice((1, 3))}),
    "report: an earlier ordinal": reports(lambda made, random: {"ordinal": max(1, made.ordinal - 1)}),
    "report: shuffle": reports(lambda made, random: {"shuffle": made.shuffle + 1}),
    "report: deck": reports(lambda made, random: {"deck": made.deck + 1}),
    "report: remaining": reports(lambda made, random: {"remaining": made.remaining + random.choice((-1, 1))}),
    "report: uptime": reports(lambda made, random: {"uptime_ms": random.choice((0, 10**12))}),
    "report: cards that left": reports(
        lambda made, random: {"cards": [*made.cards, 52]} if isinstance(made, messages.SetDispensedReport) else {}),
    "report: a card less": reports(
        lambda made, random: {"cards": made.cards[1:]} if isinstance(made, messages.SetDispensedReport) else {}),
    "cards unreported": unreported,
    "cards reported twice": reported_twice,
    "numbers: a gap": numbers(lambda last, random: last + random.choice((1, 5))),
    "numbers: again": numbers(lambda last, random: last - random.choice((1, 2))),
    "numbers: from 1": numbers(lambda last, random: 0),
    "more elements": bodies(REPORT | STATUS | ANSWER, with_more_elements),
    "reports not understood": bodies(REPORT, lambda body: b"\x91\x08"),
    "unknown reports": bodies(REPORT, lambda body: b"\x92\x63\x01"),
    "statuses not understood": bodies(STATUS, lambda body: b"\x90"),
    "answers not understood": bodies(ANSWER, lambda body: b"\x91\xa1x"),
    "answers ahead": headers(ANSWER, lambda last, random: {"number": last + random.choice((1, 9, 10**6))}),
    "statuses of another boot": headers(STATUS, lambda last, random: {"boot": 12345}),
    "reports of another boot": headers(REPORT, lambda last, random: {"boot": 12345}),
    "refuses everything": answers(lambda done, reason: (False, "jam")),
    "done whatever": answers(lambda done, reason: (True, "")),
    "answers twice": answers_twice,
    "answers at once": answers_at_once,
    "answers to nothing": answers_to_nothing,
    "ignores orders": ignores_orders,
    "orders twice": does_orders_twice,
    "never holds": exit_does(HoldExit),
    "never releases": exit_does(ReleaseExit),
    "power": reboots("power"),
    "watchdog": reboots("watchdog"),
    "the same boot": reboots_in_the_same_boot,
    "forgets reports": forgets_its_reports,
    "forgets the link": forgets_the_link,
    "rejects": rejects,
    "another card": another_card_leaves,
}  # fmt: skip
