"""A host that speaks frames of cardlink, below the driver. It does what a test asks, right or wrong, and keeps
everything received, with times.

It acknowledges reports and gives signs of life automatically until a test stops that.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NoReturn, TypeVar

import pytest

from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.cardlink import messages, sealing
from firmware_bridge.drivers.cardlink.framing import Frame, FrameReader
from firmware_bridge.drivers.cardlink.messages import CLEAR, FrameKind, encode_body
from firmware_bridge.drivers.cardlink.sealing import BULK, COUNTER
from firmware_bridge.errors import TransportLostError
from firmware_bridge.transports.base import OpenTransport, Transport
from firmware_bridge.transports.registry import open_transport
from simulators.bench.attempt import Attempt, FrameCame, body_of
from simulators.bench.promise import Measurement, check

T = TypeVar("T")
BEAT: Final = 0.4  # seconds between two signs of life
ASKED_AGAIN: Final = 1.0  # seconds until something unanswered is sent again
CARRIED_IN_A_TRY: Final = 10_000  # bytes, in the 4 s of a handshake without an answer
PATIENCE: Final = 10.0  # seconds for an answer that needs no motion
MOTION: Final = 180.0  # seconds for an answer that needs one; a real shuffle takes a minute
COUNTED: Final = 5  # seconds between two calls of a count-down
GIVEN_UP_WITHIN: Final = 3.6  # seconds after the last sign of life; docs/cardlink.md requires 3 s
LAST_STATUSES: Final = 3  # sent by a device meanwhile
QUIET: Final = 2.5  # seconds without a frame: a device sends a status each second unless it has stopped


class FrameHost:
    """One connection. `came` has every frame, `written` everything sent, `strange` frames that did not open although
    their link is up. `held` is the last acknowledged report. `coming` is an attempt whose frames may come too.
    """

    def __init__(
        self, url: DeviceUrl, keys: Mapping[str, bytes], *, open_with: OpenTransport = open_transport, operator: int = 0
    ) -> None:
        self.url = url
        self.operator = operator  # seconds that a person has for each request; 0 means that nobody is there
        self.say: Callable[[str], None] = lambda sentence: None
        self.run: Callable[[Coroutine[Any, Any, None]], None]
        self.measurements: list[Measurement] = []
        self.came: list[FrameCame] = []
        self.written: list[bytes] = []
        self.strange: list[FrameCame] = []
        self.held = (0, 0)
        self.acknowledges = True
        self.beats = True
        self.active: Attempt | None = None
        self.reader = FrameReader()
        self._keys = keys
        self._open_with = open_with
        self.coming: Attempt | None = None
        self._transport: Transport | None = None
        self._lost = ""
        self._news = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self.sent_counter = 0
        self.linked_at = 0  # index of the active link's first frame
        self._next_command = secrets.randbits(40) + 1

    # -- the connection --------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Open the connection. Raise TransportUnavailableError if the device cannot be reached."""
        self._lost = ""
        self._transport = await self._open_with(self.url, on_data=self._receive, on_lost=self._lose)
        self._beat()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()

    def _lose(self, error: TransportLostError) -> None:
        self._lost = str(error)
        self.close()
        self._news.set()

    @property
    def is_open(self) -> bool:
        return self._transport is not None

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self.written.append(data)
            self._transport.write(data)

    def cannot(self, why: str) -> NoReturn:
        pytest.skip(why)

    def measure(self, measured: Measurement) -> None:
        """Keep a measurement. Fail the device if it exceeds its limit."""
        self.measurements.append(measured)
        check(measured.within, str(measured))

    # -- waiting ---------------------------------------------------------------------------------------------------

    async def wait_for(self, find: Callable[[], T | None], sentence: str, within: float = PATIENCE) -> T:
        """Wait until `find` finds something and return it. `sentence` says what the device did if nothing is found in
        time.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while (found := find()) is None and not self._lost:
                    self._news.clear()
                    await self._news.wait()
                if found is not None:
                    return found
        check(False, f"{sentence}{f' (the connection is lost: {self._lost})' if self._lost else ''}")
        raise AssertionError

    async def listen(self, seconds: float) -> list[FrameCame]:
        """Return the frames that arrive within `seconds`."""
        place = len(self.came)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.get_running_loop().create_future()
        return self.came[place:]

    def first(self, kind: FrameKind, place: int) -> FrameCame | None:
        """Return the first frame of a kind since an index."""
        return next((one for one in self.came[place:] if one.frame.kind == kind and one.body is not None), None)

    async def ask(self, data: bytes, kind: FrameKind, sentence: str) -> FrameCame:
        """Send a frame until one of that kind comes, since a line may lose frames.

        If all were only late, each is answered: an answer that comes after the first must not pass for the next one's.
        """
        place = len(self.came)
        for sent in range(1, 4):
            self.write(data)
            with suppress(AssertionError):
                answer = await self.wait_for(lambda: self.first(kind, place), sentence, ASKED_AGAIN)
                await self._last_answers(kind, place, sent)
                return answer
        return await self.wait_for(lambda: self.first(kind, place), sentence, ASKED_AGAIN)

    async def _last_answers(self, kind: FrameKind, place: int, sent: int) -> None:
        """Wait for as many answers as frames were sent, unless the line has lost some."""

        def all_came() -> bool | None:
            return sum(one.frame.kind == kind for one in self.came[place:]) >= sent or None

        with suppress(AssertionError):
            await self.wait_for(all_came, "", ASKED_AGAIN)

    async def until_statuses(self, number: int, place: int | None = None) -> list[FrameCame]:
        """Return everything since an index (or from the call on) until that many statuses came, which serve as a
        clock.
        """
        start = len(self.came) if place is None else place

        def enough() -> bool | None:
            return (
                len([one for one in self.came[start:] if one.frame.kind == FrameKind.STATUS and one.body]) >= number
                or None
            )

        await self.wait_for(enough, f"{number} statuses did not come in {number * 2 + 3} s", number * 2.0 + 3)
        return self.came[start:]

    async def status(self) -> messages.StatusBody:
        """Wait for the next status that acknowledges everything sent so far."""
        self.ack()
        place, counter = len(self.came), self.sent_counter

        def heard() -> messages.StatusBody | None:
            for one in self.came[place:]:
                if isinstance(one.body, messages.StatusBody) and one.body.heard >= counter:
                    return one.body
            return None

        return await self.wait_for(heard, "no status came that names in `heard` what the host had sent")

    async def ask_person(self, what: str, done: Callable[[], T | None]) -> bool:
        """Ask a person for something, with a countdown. Return whether it was done."""
        for left in range(self.operator, 0, -1):
            if left == self.operator or left % COUNTED == 0:
                self.say(f"{what}: {left} s left.")
            with suppress(AssertionError):
                await self.wait_for(done, "", 1.0)
                return True
        return False

    # -- a handshake -----------------------------------------------------------------------------------------------

    async def greet(self, nonce: bytes | None = None, *, more: Sequence[object] = ()) -> Attempt:
        """Send a hello, with `more` elements than the host knows, and return the attempt with its identity."""
        attempt = Attempt(nonce or secrets.token_bytes(16), self._keys.get, more)
        attempt.identified(
            await self.ask(attempt.hello, FrameKind.IDENTITY, "a hello was not answered with an identity")
        )
        return attempt

    async def prove(self, attempt: Attempt) -> None:
        sentence = "a valid host proof was not answered with the device's proof"
        came = await self.ask(attempt.host_proof(), FrameKind.DEVICE_PROOF, sentence)
        holds = came.body.proof == attempt.proof(sealing.DEVICE_ROLE)
        check(holds, "the device's proof is not valid: the device has a different key")

    async def resume(self, attempt: Attempt, held: tuple[int, int] | None = None) -> messages.StatusBody:
        """Make an attempt the active link and return its first status."""
        self.coming = attempt
        place = len(self.came)
        body = encode_body(messages.ResumeBody(*(self.held if held is None else held)))
        for _ in range(3):
            self.seal(FrameKind.RESUME, body, attempt=attempt)
            with suppress(AssertionError):
                came = await self.wait_for(lambda: self.first(FrameKind.STATUS, place), "", ASKED_AGAIN)
                status: messages.StatusBody = came.body
                return status
        check(False, "a resume was not answered with a status")
        raise AssertionError

    async def link(self, held: tuple[int, int] | None = None) -> messages.StatusBody:
        """Make a link with a whole handshake."""
        attempt = await self.greet()
        await self.prove(attempt)
        return await self.resume(attempt, held)

    async def link_after(self, sent: int) -> None:
        """Make a link although a slow line still carries the `sent` bytes before it: try once more for each part."""
        for _ in range(sent // CARRIED_IN_A_TRY):
            with suppress(AssertionError):
                await self.link()
                return
        await self.link()

    async def settle(self) -> messages.StatusBody:
        """Establish a link unless there is one already, and wait until every report is acknowledged."""
        self.acknowledges = True
        if self.active is None:
            await self.link()

        def all_held() -> bool | None:
            status = next((one.body for one in reversed(self.came) if isinstance(one.body, messages.StatusBody)), None)
            boot = self.active.boot if self.active is not None else 0
            return (status is not None and self._held_of(boot) >= status.last_report) or None

        await self.wait_for(all_held, "not all reports came that the device's statuses name", PATIENCE * 3)
        assert self.active is not None
        self.held = (self.active.boot, self._held_of(self.active.boot))  # even if everything was acknowledged before
        return await self.status()

    def _held_of(self, boot: int) -> int:
        """Return the last report from a boot that need not be sent again."""
        if self.held[0] == boot:
            return self.held[1]
        assert self.active is not None
        return next((kept.oldest - 1 for kept in self.active.said.kept if kept.boot == boot), 0)

    async def fall_silent(self, instead: Callable[[], None] = lambda: None) -> None:
        """Give no sign of life until the device has given up on the link; call `instead` meanwhile.

        The device fails only if its statuses also show that it goes on too long: this machine may have been late.
        """
        self.beats = False
        silent_since, place = self.now, len(self.came)
        heard_at = silent_since
        while self.now < heard_at + QUIET:
            instead()
            if await self.listen(BEAT):
                heard_at = self.came[-1].at
            check(self.now - silent_since < PATIENCE, f"the device still sends {PATIENCE:g} s after the host is silent")
        statuses = sum(one.frame.kind == FrameKind.STATUS for one in self.came[place:])
        longer = heard_at - silent_since
        check(
            statuses <= LAST_STATUSES or longer <= GIVEN_UP_WITHIN,
            f"the device still sent {longer:.1f} s after the host was silent, not 3 s",
        )
        self.active = None
        self.beats = True

    # -- sealed frames ---------------------------------------------------------------------------------------------

    def seal(
        self,
        kind: int,
        body: bytes,
        *,
        boot: int | None = None,
        number: int = 0,
        attempt: Attempt | None = None,
        flags: int = BULK,
        send: bool = True,
    ) -> bytes:
        """Seal a frame for the active link or another, and send it."""
        of = attempt or self.active
        assert of is not None, "there is no link"
        data = of.channel.seal(kind, of.boot if boot is None else boot, number, body, self.now, flags=flags)
        (frame,) = FrameReader().receive(data)
        if of is self.active:
            (self.sent_counter,) = COUNTER.unpack(frame.body[: COUNTER.size])
        if send:
            self.write(data)
        return data

    def ack(self, boot: int | None = None, number: int | None = None, heard: int | None = None) -> None:
        """Acknowledge what is held, unless a test claims something else."""
        if self.active is None:
            return
        of, covered = self.held if self.held[1] else (self.active.boot, 0)
        body = messages.AckBody(self.active.channel.heard if heard is None else heard)
        self.seal(
            FrameKind.ACK,
            encode_body(body),
            boot=of if boot is None else boot,
            number=covered if number is None else number,
        )

    def command(self, order: Any, command_id: int | None = None, boot: int | None = None) -> int:
        """Send a command, whole or malformed, and return its id."""
        if command_id is None:
            self._next_command += 1
            command_id = self._next_command
        self.seal(FrameKind.COMMAND, encode_body([command_id, order]), boot=boot, number=self.held[1])
        return command_id

    def answers(self, command_id: int, place: int = 0) -> list[FrameCame]:
        return [
            one
            for one in self.came[place:]
            if isinstance(one.body, messages.AnswerBody) and one.body.command_id == command_id
        ]

    async def answer(self, command_id: int, place: int = 0) -> messages.AnswerBody:
        """Wait for the answer to a command, starting at an index."""
        found = await self.wait_for(
            lambda: next(iter(self.answers(command_id, place)), None), "a command was not answered", MOTION
        )
        answer: messages.AnswerBody = found.body
        return answer

    async def order(self, order: Any, command_id: int | None = None) -> messages.AnswerBody:
        place = len(self.came)
        return await self.answer(self.command(order, command_id), place)

    def reports(self, place: int = 0) -> list[FrameCame]:
        return [one for one in self.came[place:] if one.frame.kind == FrameKind.REPORT and one.body is not None]

    async def cause(self, number: int) -> None:
        """Make the device report `number` self-tests."""
        for _ in range(number):
            answer = await self.order(messages.RunSelfTestOrder())
            if not answer.done:
                self.cannot(
                    f"the device does not run its self-test ({answer.reason}), so that it has nothing to report"
                )

    # -- what comes ------------------------------------------------------------------------------------------------

    def _beat(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(BEAT, self._beat)
        if self.beats:
            self.ack()

    def _receive(self, data: bytes) -> None:
        for frame in self.reader.receive(data):
            self._take(frame)
        self._news.set()

    def _take(self, frame: Frame) -> None:
        if frame.kind in CLEAR or len(frame.body) < COUNTER.size:
            self.came.append(FrameCame(self.now, frame, 0, frame.body, body_of(frame.kind, frame.body)))
            return
        (counter,) = COUNTER.unpack(frame.body[: COUNTER.size])
        for attempt in (self.active, self.coming):
            opened = attempt.channel.open(frame) if attempt is not None else None
            if opened is not None:
                if attempt is self.coming and attempt is not None:
                    self.active, self.coming = attempt, None
                    self.sent_counter = 0
                    self.linked_at = len(self.came)
                came = FrameCame(self.now, frame, counter, opened.body, body_of(frame.kind, opened.body))
                self.came.append(came)
                self._acknowledge(came)
                return
        came = FrameCame(self.now, frame, counter, b"", None)
        self.came.append(came)
        if self.active is not None and self.coming is None:
            self.strange.append(came)

    def _acknowledge(self, came: FrameCame) -> None:
        if came.frame.kind != FrameKind.REPORT or not self.acknowledges:
            return
        boot, number = came.frame.boot, came.frame.number
        due = self._held_of(boot) + 1
        if number <= due or isinstance(came.body, messages.ReportsLostReport) or came.body is None:
            self.held = (boot, number) if number >= due else self.held
            self.ack()
