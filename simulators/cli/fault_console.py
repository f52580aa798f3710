"""The fault console of `cardshoe simulate`, which answers each command on standard input with a short sentence."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from controller.table.stop_causes import ZONES
from firmware_bridge.messages import AnyText, Message, counted, message, sentences
from firmware_bridge.plain_text import whole_number
from simulators.devices.fault_injection import FaultInjector
from simulators.devices.faults import BY_NAME, SIDES, BadFaultError, SimulatedFault, choose, find_fault, parse_fault
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.outlets import Outlet

MOST_SEED: Final = 10**18 - 1
_NUMBER: Final = re.compile(r"[0-9]{1,6}(\.[0-9]{1,9})?", re.ASCII)
LONGEST_LINE: Final = 4096


class ConsoleCommand(msgspec.Struct, frozen=True):
    usage: str
    does: Message
    answer: Callable[[Console, Sequence[str]], Awaitable[AnyText]]


class Console:
    """Carries out and answers a line."""

    def __init__(self, injector: FaultInjector, outlet: Outlet) -> None:
        self.injector = injector
        self.outlet = outlet

    async def answer(self, line: str) -> AnyText:
        """Answer with one line or more, or with "" for an empty line. Never raises for what a person typed."""
        name, *words = line.split() or [""]
        if not name:
            return ""
        try:
            if name in COMMANDS:
                return await COMMANDS[name].answer(self, words)
            if "@" in name or "=" in name:
                self.injector.arm(parse_fault(line.strip()))
                return message("{name} is armed.", name=line.strip())
            return self._arm(name, words)
        except BadFaultError as error:
            return error.with_hint

    def _arm(self, name: str, words: Sequence[str]) -> AnyText:
        if name not in BY_NAME:
            return message("This console has no command '{name}'. `help` lists them.", name=name)
        fault = find_fault(name)
        if list(words) == ["off"]:
            self.injector.disarm(fault)
            return message("{name} is off.", name=name)
        if len(words) > 1 or not all(_NUMBER.fullmatch(word) for word in words):
            return message("Write {usage}, or {fault} off.", usage=_usage(fault), fault=name)
        given = words[0] if words else ""
        is_value = "." in given or fault.of == "nothing"
        chosen = choose(
            fault,
            0 if is_value else int(given or 0),
            float(given) if is_value and given else None,
            " ".join([name, *words]),
        )
        self.injector.arm(chosen)
        if given:
            return message("{name} is armed: {given}.", name=name, given=given)
        return message("{name} is armed for the next one.", name=name)

    # -- commands --------------------------------------------------------------------------------------------------

    async def help(self, words: Sequence[str]) -> AnyText:
        """List every command, and every fault with its effect and whether this device can show it."""
        lines = [(word.usage, word.does) for word in COMMANDS.values()]
        for fault in (one for name, one in BY_NAME.items() if name not in COMMANDS):
            does = fault.does
            if self.injector.side not in fault.shows:
                does = sentences(does, message("{device} cannot show it.", device=SIDES[self.injector.side]))
            lines.append((_usage(fault), does))
        rows = (Message("{usage} {does}", {"usage": f"{usage:24}", "does": does}) for usage, does in lines)
        return message("Commands and faults:{rows:lines}", rows=("", *rows))

    async def status(self, words: Sequence[str]) -> AnyText:
        mechanism, device, armed = self.injector.mechanism, self.injector.device, tuple(self.injector.armed())
        parts = [
            message("{name}, plugged in" if self.outlet.plugged else "{name}, unplugged", name=self.injector.name),
            message(
                "cards: {inside} inside, {tray} in the tray, {floor} on the floor",
                inside=len(mechanism.inside), tray=len(mechanism.tray), floor=len(mechanism.floor),
            ),
            message("exit locked") if mechanism.exit_held else message("exit open"),
            message("jammed in the zone {zone}", zone=ZONES.get(mechanism.jammed, mechanism.jammed))
            if mechanism.jammed
            else message("no jam"),
            message("frames sent: {number}", number=self.injector.line.to_host.sent),
        ]  # fmt: skip
        if isinstance(device, SimulatedDevice):  # others have no acknowledgements
            parts.append(message("reports unacknowledged: {number}", number=device.link.unacknowledged))
        parts.append(message("seed {seed}", seed=self.injector.seed))
        parts.append(message("armed: {faults:list}", faults=armed) if armed else message("armed: nothing"))
        return Message("{parts:clauses}.", {"parts": tuple(parts)})

    async def plug(self, words: Sequence[str]) -> AnyText:
        if self.outlet.plugged:
            return message("It is already plugged in.")
        self.injector.line.join()
        try:
            await self.outlet.plug()
        except OSError as error:
            return message("It cannot be plugged in: {why}.", why=error.strerror or str(error))
        return message("It is plugged in.")

    async def unplug(self, words: Sequence[str]) -> AnyText:
        """Unplug immediately, or in the middle of frame N."""
        if not self.outlet.plugged:
            return message("It is already unplugged. `plug` plugs it in.")
        if words:
            return self._arm("unplug", words)
        await self.outlet.unplug()
        return message("It is unplugged.")

    async def draw(self, words: Sequence[str]) -> AnyText:
        mechanism = self.injector.mechanism
        if mechanism.profile.kind != "shoe":
            return message("Cards are drawn from a shoe; `lift` takes a shuffler's set.")
        drawn = mechanism.draw(forced=words == ["forced"])
        if drawn:
            return message("{cards} drawn.", cards=tuple(card.code for card in drawn))
        if mechanism.jammed:
            return message("It is jammed. `clear` clears it.")
        if not mechanism.inside:
            return message("No card is left. `load` loads a deck.")
        return message("The exit is held. `draw forced` draws a card anyway.")

    async def lift(self, words: Sequence[str]) -> AnyText:
        if self.injector.mechanism.profile.kind == "shoe":
            return message("A shoe has no tray; `draw` draws a card.")
        lifted = self.injector.mechanism.lift_set()
        if not lifted:
            return message("There is no set in the tray.")
        return counted("1 card lifted.", "{count} cards lifted.", len(lifted))

    async def load(self, words: Sequence[str]) -> AnyText:
        mechanism = self.injector.mechanism
        mechanism.load(mechanism.next_deck())
        return counted("A deck of 1 card is loaded.", "A deck of {count} cards is loaded.", len(mechanism.inside))

    async def clear(self, words: Sequence[str]) -> AnyText:
        if not self.injector.mechanism.jammed:
            return message("Nothing is jammed.")
        self.injector.mechanism.clear_jam()
        return message("The jam is cleared.")

    async def seed(self, words: Sequence[str]) -> AnyText:
        if not words:
            return message("The seed is {seed}.", seed=self.injector.seed)
        seed = whole_number(words[0], MOST_SEED)
        if seed is None:
            return message("Write seed N, N a whole number.")
        self.injector.reseed(seed)
        return message("The seed of everything random is now {seed}. The decks keep theirs.", seed=self.injector.seed)


def _usage(fault: SimulatedFault) -> str:
    """Return how to write a fault at this prompt."""
    forms = [] if fault.of == "nothing" else ["[N]"]
    forms += [fault.unit.upper()] if fault.unit else []
    return f"{fault.name} {' or '.join(forms)}"


COMMANDS: Final = {
    "help": ConsoleCommand("help", message("This list."), Console.help),
    "status": ConsoleCommand("status", message("The device's state, and what is armed."), Console.status),
    "load": ConsoleCommand("load", message("Put another deck in, also during a round."), Console.load),
    "draw": ConsoleCommand(
        "draw [forced]", message("Draw a card from a shoe; forced: its lock gives way."), Console.draw
    ),
    "lift": ConsoleCommand("lift", message("Take the set out of a shuffler's tray."), Console.lift),
    "clear": ConsoleCommand("clear", message("Clear a jam."), Console.clear),
    "plug": ConsoleCommand("plug", message("Put the cable in."), Console.plug),
    "unplug": ConsoleCommand("unplug [N]", message("Pull the cable, now or in the middle of frame N."), Console.unplug),
    "seed": ConsoleCommand("seed [N]", message("Show the seed, or set another one."), Console.seed),
}


async def converse(console: Console, descriptor: int, say: Callable[[AnyText], None]) -> None:
    """Answer every line from a descriptor, until it ends."""
    rest = bytearray()
    async for data in _read(descriptor):
        rest += data
        *lines, left = rest.split(b"\n")
        rest[:] = left[-LONGEST_LINE:]
        for line in lines:
            if answer := await console.answer(line.decode("utf-8", "replace")):
                say(answer)


async def _read(descriptor: int) -> AsyncGenerator[bytes, None]:
    """Yield data from a descriptor, until it ends."""
    loop = asyncio.get_running_loop()
    while True:
        readable = asyncio.Event()
        with suppress(PermissionError):  # a regular file can always be read
            loop.add_reader(descriptor, readable.set)
            try:
                await readable.wait()
            finally:
                loop.remove_reader(descriptor)
        data = os.read(descriptor, LONGEST_LINE)
        if not data:
            return
        yield data
