"""The running table: each input in turn is decided, made durable, and only then shown, acknowledged or obeyed.

    link keeper ─┐                                        ┌─ acknowledgement to the device
    API ─────────┼─ queue ─ decide ─ journal.append ─ new state ─ published events
    start ───────┘                                        └─ commands to the device

At most one decision is not yet committed. When a commit fails the decision is dropped and the table is out of service
until a supervisor returns it; nothing uncommitted is ever acted on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, Protocol

import msgspec
import structlog

from controller.api.bodies import OperationAnswer, OperationRequest
from controller.api.callers import Caller
from controller.api.feed import EventFeed, ProcessorShare
from controller.api.people import Acting
from controller.api.view import LinkView, TableView, view_of
from controller.daemon.device_guards import CODE, MOST_WAITING, OF_A_LINK, SENTENCE, ReportBudget
from controller.daemon.disk_pace import DiskPace
from controller.daemon.journal_kinds import of_decision, published
from controller.daemon.kept_times import NoticedTimes, Shifts
from controller.daemon.meter_definitions import DECISION
from controller.daemon.meters import Meters
from controller.daemon.recalling import ID_USED, answer_recall, is_repeat
from controller.journal import JournalError
from controller.journal.codec import Clock
from controller.journal.pages import Pages
from controller.journal.pinning import Doubt
from controller.journal.store import Committed
from controller.journal.writer import JournalWriter
from controller.roles import Role
from controller.table import inputs
from controller.table.decide import decide
from controller.table.decision import Decided
from controller.table.events import AnyEvent, CommandIssued, DeviceLost, IrregularityRaised
from controller.table.inputs import AnyInput, DaemonStarted, DamageFound
from controller.table.model import Answer, PinLock
from controller.table.next_step import return_by
from controller.table.offers import Offer, offers
from controller.table.operations import DealerOn, RecallCards, ReturnToService, SignOn, TakeOver
from controller.table.record import ConfigurationRecord
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge.commands import AnyCommand
from firmware_bridge.drivers import base
from firmware_bridge.drivers.base import Heard
from firmware_bridge.errors import error_fields
from firmware_bridge.messages import AnyText, Message, message, sentences
from firmware_bridge.observations import NotUnderstood


class Fault(NamedTuple):
    """The reason why nothing can be decided or recorded."""

    code: str
    sentence: AnyText
    hint: AnyText
    returned_by: Role = Role.PIT_SUPERVISOR  # or a person of a higher rank

    @property
    def with_hint(self) -> Message:
        """Return the description of the fault and what to do."""
        return message("{parts:sentences}", parts=(self.sentence, self.next_step))

    @property
    def next_step(self) -> Message:
        """Return what to do, and then whom to call."""
        return message("{parts:sentences}", parts=(self.hint, return_by(self.returned_by)))


NO_ROOM: Final = Fault(
    "journal-full",
    message("The disk with the journal has no room left for another round."),
    message("Free space on that disk."),
)


def fault_of(doubts: Sequence[Doubt]) -> Fault:
    """Return all that a start found in doubt as one fault: the highest rank among them returns the table."""
    first = next((doubt for doubt in doubts if doubt.of_shift), doubts[0])
    returned_by = Role.SHIFT_MANAGER if first.of_shift else Role.PIT_SUPERVISOR
    return Fault(first.code, sentences(*(doubt.sentence for doubt in doubts)), first.hint, returned_by)


def inputs_of(started: DaemonStarted, doubts: Sequence[Doubt]) -> list[AnyInput]:
    """Return the inputs of a start with its doubts."""
    for doubt in doubts[:1]:
        started = msgspec.structs.replace(
            started, doubt=doubt.code, doubt_sentence=doubt.sentence, doubt_keys=doubt.keys
        )
    return [started, *(DamageFound(doubt.code, doubt.sentence, doubt.keys) for doubt in doubts[1:])]


class DeviceLink(Protocol):
    """The part of the link keeper that the table needs."""

    def acknowledge(self, boot: int, number: int) -> None: ...

    def command(self, command_id: int, command: AnyCommand) -> bool: ...

    def drop(self, code: str, sentence: AnyText, *, refused: bool = False) -> None: ...


class Keeper(Protocol):
    """The part of the journal's keeper that the table needs (`controller.daemon.journal_keeper`). Nothing raises."""

    @property
    def warnings(self) -> tuple[Message, ...]: ...

    def remember(self, given: AnyInput) -> None: ...

    async def committed(self, given: AnyInput, before: TableState, after: TableState) -> None: ...

    async def between_rounds(self, state: TableState) -> AnyInput | None: ...


OF_THE_DOOR: Final = (inputs.PinTried, inputs.RefusedAtDoor)


def input_of(heard: Heard) -> AnyInput:
    """Return the table's input for an event from the link keeper."""
    match heard:
        case base.Reported():
            return inputs.DeviceReported(heard.boot, heard.number, heard.uptime_ms, heard.observation, heard.evidence)
        case base.StatusHeard():
            return inputs.StatusReceived(heard.status, heard.unanswered, heard.moves_too_long)
        case base.Answered():
            return inputs.CommandAnswered(heard.command_id, heard.done, heard.reason)
        case base.LinkReady():
            return inputs.DeviceConnected(heard.identity, heard.status, heard.nonce, heard.key, heard.image)
        case base.ReportsGone():
            return inputs.ReportsMissing(heard.boot, heard.first, heard.last, heard.withheld, heard.newest)
        case base.Contradicted():
            return inputs.DeviceContradicted(heard.what, heard.boot, heard.number, heard.evidence)
        case base.LinkOver():
            return inputs.DeviceGone(heard.code, heard.sentence, heard.refused, heard.evidence)


ANSWER_WITHIN: Final = 5.0  # seconds for the decision loop to answer; after that the watchdog is not fed

SIGNS_ON: Final = (SignOn, DealerOn, TakeOver)


class QueuedInput(NamedTuple):
    """An input in the queue, with the future of its outcome. If `given` is None, the caller only waits for its turn."""

    given: AnyInput | None
    done: asyncio.Future[bool] | None = None  # whether it was recorded


SETTINGS_DUE: Final = message("The configuration has changed: the table's settings change with the next round.")
AFTER_ROUND: Final = message("After this round the table goes out of service.")


class TableService:
    """One table. `run` works until cancelled; everything else may be called meanwhile."""

    def __init__(
        self,
        name: str,
        state: TableState,
        writer: JournalWriter[AnyInput, AnyEvent],
        clock: Clock,
        link_view: Callable[[], LinkView],
        keeper: Keeper,
        disk: DiskPace | None = None,
    ) -> None:
        self._disk = disk
        self.state = state
        pace = ProcessorShare()
        self._old = Pages(writer.folder, of_decision, pace.spent, writer.reader)
        self.feed = EventFeed(self._old.page, pace)
        self.feed.start_after(state.entry)
        self.device: DeviceLink | None = None
        self.shifts = Shifts(clock.now)
        self.meters = Meters(clock)
        self._writer = writer
        self._clock = clock
        self.link_view = link_view
        self._keeper = keeper
        self._queue: asyncio.Queue[QueuedInput] = asyncio.Queue()
        self._fault: Fault | None = None
        self._after_round: Fault | None = None  # takes the table out of service when the round ends
        self.configuration_refused: Message | None = None  # why the reloaded configuration is not in force
        self._gone: inputs.DeviceGone | None = None  # an end of the link that the journal does not hold yet
        self._owed: list[inputs.PinTried | inputs.RefusedAtDoor] = []  # from access control; not yet in the journal
        self._noticed = NoticedTimes()
        self._budget = ReportBudget()
        self._ignores_link = False  # a report was left out, so a later one of the same link would skip it
        self._log = structlog.get_logger(table=name)

    # -- called from outside -------------------------------------------------------------------------------------

    def hear(self, heard: Heard) -> None:
        """Queue an event from the link keeper."""
        given = input_of(heard)
        if self._queue.qsize() >= MOST_WAITING:
            self._budget.spend()
            self._turn_away(given)
        self._queue.put_nowait(QueuedInput(given))

    async def begin(self, started: inputs.DaemonStarted, doubts: Sequence[Doubt] = ()) -> None:
        """Record the start as the first input, before `run` and before the table is shown. Raise `JournalError` if it
        cannot be written.

        `doubts` are those about the journal as it was found, on which a person decides.
        """
        for given in inputs_of(started, doubts):
            await self._commit(given, decide(self.state, given))
        await self._noticed.recall(self.state, self._old)
        await self.shifts.recall(self.state, self._writer.folder)
        if doubts:
            self._fail(fault_of(doubts))
        # so that what has to happen before a round is known before the first operation
        self._queue.put_nowait(QueuedInput(None))

    @property
    def journal(self) -> str:
        """Return the journal's id."""
        return self._writer.identity.id

    @property
    def entry(self) -> int:
        """Return the last entry of the journal."""
        return self.state.entry

    def view(self) -> TableView:
        view = view_of(self.state, self.link_view(), self._noticed.by_id)
        warnings = self._keeper.warnings
        ahead = self._after_round or (NO_ROOM if self._writer.is_full else None)
        if ahead is not None and self._fault is None:
            warnings = (*warnings, message("{parts:sentences}", parts=(ahead.sentence, AFTER_ROUND)))
        if self.configuration_refused is not None:
            warnings = (*warnings, self.configuration_refused)
        if self.state.settings_wait is not None:
            warnings = (*warnings, SETTINGS_DUE)
        view = msgspec.structs.replace(view, warnings=warnings, journal=self.journal)
        if self._fault is not None:
            view = msgspec.structs.replace(
                view,
                service="out_of_service",
                service_cause=self._fault.sentence,
                next_step=self._fault.next_step,
            )
        return view

    def utc_ns(self) -> int:
        return self._clock.now().utc_ns

    def shown_by(self) -> object:
        """Return what view and offers are made from, except the age of the device's last report."""
        link = self.link_view()
        return (
            self.state.entry,
            self._fault,
            self._after_round,
            self._keeper.warnings,
            self.configuration_refused,
            self._writer.is_full,
            link.state,
            link.code,
        )

    def offers(self) -> tuple[Offer, ...]:
        """Return what people can do; after a fault only returning the table to service is allowed."""
        if self._fault is None:
            return offers(self.state)
        faulty = self._faulty()
        return (
            Offer("return_to_service", True, role=self._fault.returned_by, primary=True),
            *(
                msgspec.structs.replace(offer, allowed=False, code=faulty.code, sentence=faulty.sentence, primary=False)
                for offer in offers(self.state)
                if offer.operation != "return_to_service"
            ),
        )

    def end_after_round(self, fault: Fault) -> None:
        """Record that the journal is damaged and end service, once no round is in progress."""
        self._after_round = fault
        self._queue.put_nowait(QueuedInput(None))

    async def configure(self, record: ConfigurationRecord, settings: Settings) -> bool:
        """Record what the daemon has reloaded. Return False if nothing can be recorded.

        When this returns, the settings are in force or wait for the next round.
        """
        if self._fault is not None:
            return False
        await self._ask(inputs.ConfigurationRead(record, settings))
        return self.state.configuration == record and settings in (self.state.settings, self.state.settings_wait)

    def stands_for(self, caller: Caller) -> str:
        """Return the dealer on duty if this user of the machine represents the dealer, or the dealer signed on at the
        screen.

        Return "" otherwise, as after the shift.
        """
        if caller.uid is not None:
            return self.state.duty.dealer if caller.uid == self.state.duty.dealer_uid else ""
        return self.shifts.dealer_at(self.state.screen(caller.screen))

    def pin_lock(self, person: str, caller: Caller) -> PinLock:
        """Return the PIN lock of the person for this caller, including wrong PINs that could not be recorded yet."""
        state = self.state
        for owed in self._owed:
            if isinstance(owed, inputs.PinTried):
                state = decide(state, owed).state
        return state.pin_lock(person, *caller)

    async def pin_tried(self, person: str, caller: Caller, *, right: bool) -> None:
        """Record an attempt. While nothing can be recorded, it is kept and already counts."""
        await self._record(inputs.PinTried(person, caller.uid, right, self._clock.now().utc_ns, caller.screen))

    async def refused_at_door(self, what: str, caller: Caller, count: int) -> None:
        """Record a refusal by access control. While nothing can be recorded, one is kept for each kind and caller."""
        for one in self._owed if self._fault is not None else ():
            if isinstance(one, inputs.RefusedAtDoor) and (one.what, one.uid, one.screen) == (what, *caller):
                self._owed[self._owed.index(one)] = msgspec.structs.replace(one, count=one.count + count)
                return
        await self._record(inputs.RefusedAtDoor(what, caller.uid, count, caller.screen))

    async def _record(self, given: inputs.PinTried | inputs.RefusedAtDoor) -> None:
        self._owed.append(given)
        await self._ask(given)

    async def _ask(self, given: AnyInput | None) -> bool:
        """Queue an input and wait until it was taken. None only waits for its turn. Return whether it was recorded."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(QueuedInput(given, done))
        return await done

    async def operate(self, request: OperationRequest, by: Acting) -> OperationAnswer:
        """Queue a person's operation and return its answer. A repeated request gets the first answer."""
        person, role = by.person, by.role
        after_fault = self._fault is not None
        if after_fault:
            assert self._fault is not None
            if not (isinstance(request.operation, ReturnToService) and role.reaches(self._fault.returned_by)):
                return self._faulty()
            if not await self._has_room():
                return self._faulty()
            self._fault = None  # try again: first the end of a link that is not recorded yet, then this operation
            if self._gone is not None:
                self._queue.put_nowait(QueuedInput(self._gone))  # a closed link does not report its end again
            for owed in self._owed:
                self._queue.put_nowait(QueuedInput(owed))
        given = inputs.PersonActed(
            request.id,
            person,
            role,
            request.round,
            request.operation,
            by.uid,
            by.proven,
            by.screen,
            self._shift_end(request) if by.screen else 0,
            request.as_of,
            request.repeats,
            self._clock.now().utc_ns if by.screen else 0,
            by.witness,
        )
        recorded = await self._ask(given)
        if after_fault:
            self._drop_link(message("the link is restarted after a fault"))  # also where the operation is refused
        answer = self._find_answer(request.id)
        if answer is None:
            return self._faulty()
        try:
            if not (recorded or await is_repeat(given, answer, self._writer.read)):
                return ID_USED
        except JournalError as error:
            return OperationAnswer.refused(error.code, error.with_hint)
        if isinstance(request.operation, RecallCards) and not answer.code:
            return await answer_recall(answer.entry, self._writer.read)
        return OperationAnswer.to_operation(answer.entry, answer.code, answer.sentence)

    def _shift_end(self, request: OperationRequest) -> int:
        """Return when a sign-on that an operation begins will end, or 0."""
        return self._clock.now().utc_ns + self.shifts.length_ns if isinstance(request.operation, SIGNS_ON) else 0

    def _faulty(self) -> OperationAnswer:
        if self._fault is None:
            return OperationAnswer.refused("internal", message("The table could not decide this. Try it again."))
        return OperationAnswer.refused(self._fault.code, self._fault.with_hint)

    def close(self) -> None:
        """Stop reading old events."""
        self._old.close()

    async def rest(self) -> None:
        """When the daemon stops, wait until everything received is decided and recorded, but do not wait for a disk
        that hangs.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_WITHIN):
                await self._ask(None)

    async def answers(self) -> bool:
        """Return whether the decision loop and the writer's thread answer in time. This does not depend on the
        device.
        """
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                await self._ask(None)
                await self._writer.answer()
        except (TimeoutError, JournalError):
            if self._disk is not None and self._disk.goes_on():
                return True  # a slow disk is reported at the table; a restart would not make it faster
            return self._fault is not None  # people see that the disk failed; a restart would not help
        return True

    # -- the loop --------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        while True:
            asked = await self._queue.get()
            before = self.state.entry
            recorded = False
            try:
                if asked.given is not None:
                    await self._take(asked.given)
                recorded = self.state.entry > before
                if not self.state.in_round and self._fault is None:
                    await self._between_rounds()
            finally:
                if asked.done is not None and not asked.done.done():
                    asked.done.set_result(recorded)

    async def _between_rounds(self) -> None:
        if self._after_round is not None:
            fault, self._after_round = self._after_round, None
            await self._take(inputs.DamageFound(fault.code, fault.sentence))
            self._fail(fault)
        elif self._writer.is_full:
            self._fail(NO_ROOM)
        elif (waiting := self._settings_in_time()) is not None:
            await self._take(waiting)
        else:
            begun = self._writer.begun
            due = await self._keeper.between_rounds(self.state)
            if due is not None:
                await self._take(due)
            if self._writer.begun != begun:
                self._check_program()

    def _check_program(self) -> None:
        """With each file of the journal the device has to show its program again, as it does when it connects."""
        if self.device is not None and self.state.device.image and self.state.device.connected:
            said = message("The device is being reconnected, so that it shows which program it runs.")
            self.device.drop("program-check", said)

    def _settings_in_time(self) -> inputs.ConfigurationRead | None:
        """Return waiting settings to bring into force, once errors of the last round can no longer be found."""
        state = self.state
        if state.settings_wait is None or state.window_open or state.configuration is None:
            return None
        return inputs.ConfigurationRead(state.configuration, state.settings_wait)

    async def _take(self, given: AnyInput) -> None:
        if isinstance(given, inputs.DeviceGone | inputs.DeviceConnected):
            self._gone = given if isinstance(given, inputs.DeviceGone) else None
        if self._fault is not None:
            return None  # an unacknowledged report arrives again; inputs from access control are kept
        if isinstance(given, OF_THE_DOOR) and given not in self._owed:
            return None  # queued twice and already recorded
        if isinstance(given, inputs.DeviceConnected):
            self._ignores_link = False
        elif self._ignores_link and isinstance(given, OF_A_LINK):
            return None
        if self._budget.leaves_out(given, self.state):
            return self._turn_away(given)
        try:
            await self._decide(given)
        except JournalError as error:
            self._fail(Fault(error.code, error.message, error.hint))
        except Exception as error:
            self._log.error("table.decision_failed", input=type(given).__name__, **error_fields(error))
            if given in self._owed:
                self._owed.remove(given)  # otherwise it would fail at every return to service
            await self._take_as_not_understood(given)

    async def _decide(self, given: AnyInput) -> None:
        began = self._clock.now()
        decided = decide(self.state, given)
        self.meters.took(DECISION, began, in_round=decided.state.in_round)
        if decided.events and not self._budget.affords(given, self.state, began.boottime_ns / 1e9):
            self._turn_away(given)
        elif decided.events:
            await self._commit(given, decided)
        else:
            self._settle(given)
            self._act(given, (), ())

    def _turn_away(self, given: AnyInput) -> None:
        """Refuse the device: none of its reports is recorded until a person returns the table to service."""
        self._settle(given)
        if self.device is not None:
            self.device.drop(CODE, SENTENCE, refused=True)

    def _settle(self, given: AnyInput) -> None:
        """Note that an input is taken, so that it need not be kept."""
        if given is self._gone:
            self._gone = None
        if given in self._owed:
            self._owed.remove(given)

    async def _take_as_not_understood(self, given: AnyInput) -> None:
        """Record a report that this program fails to process as not understood; otherwise it would arrive again
        forever.
        """
        if isinstance(given, inputs.DeviceReported) and not isinstance(given.observation, NotUnderstood):
            unreadable = NotUnderstood("this program failed on it; the log has the details")
            await self._take(msgspec.structs.replace(given, observation=unreadable))
        else:
            self._fail(
                Fault(
                    "internal",
                    message("The program failed while deciding."),
                    message("Call the maintainer; the log has the details."),
                )
            )

    async def _commit(self, given: AnyInput, decided: Decided) -> None:
        if (ends_with := self._writer.head.number) != self.state.entry:  # otherwise one entry has two numbers
            raise JournalError(
                "journal-state",
                message(
                    "The table is at entry {entry}, and its journal ends with entry {ends_with}.",
                    entry=self.state.entry,
                    ends_with=ends_with,
                ),
                message("Restart the daemon: it reads the journal again. Keep the log for the maintainer."),
            )
        moment = self._clock.now()
        before, ends_round = self.state, self.state.in_round and not decided.state.in_round
        number = decided.state.round.number
        signs = ends_round or isinstance(given, inputs.FilesExpired)

        def show(committed: Committed) -> None:
            """Show the decision immediately, so that followers run before the device's acknowledgement."""
            self.state = decided.state
            self._keeper.remember(given)
            self._noticed.note(moment.utc_ns, committed.events, decided)
            self._settle(given)
            self.feed.publish(published(committed.first, moment.utc_ns, number, committed.published))

        committed = await self._writer.append(
            given, decided.events, round=number, moment=moment, signs=signs, then=show
        )
        self.meters.committed(moment, decided)
        if self._disk is not None:
            self._disk.committed((self._clock.now().boottime_ns - moment.boottime_ns) / 1e9)
        if isinstance(given, inputs.PersonActed) and isinstance(given.operation, ReturnToService):
            await self._writer.accept()
            self._budget.renew()
        self._act(given, committed.events, decided.events)
        await self._keeper.committed(given, before, decided.state)

    async def _has_room(self) -> bool:
        """Return whether there is room for another round; if not, set the fault."""
        try:
            await self._writer.keep_room()
        except JournalError as error:
            self._fault = Fault(error.code, error.message, error.hint)
            return False
        if self._writer.is_full:
            self._fault = NO_ROOM
        return not self._writer.is_full

    def _fail(self, fault: Fault) -> None:
        """Take the table out of service. Drop the link, so that the device repeats what was not acknowledged."""
        self._fault = fault
        self._ignores_link = True
        self._log.error("table.fault", code=fault.code, sentence=str(fault.sentence))
        self._drop_link(fault.sentence)

    def _drop_link(self, sentence: AnyText) -> None:
        if self.device is not None:
            self.device.drop("table-fault", sentence)

    def _act(self, given: AnyInput, numbers: tuple[int, ...], decided: tuple[AnyEvent, ...]) -> None:
        """Do what waited for the commit: send the acknowledgement, and the commands under their entries' numbers."""
        if self.device is None:
            return
        if isinstance(given, inputs.DeviceReported) and self._holds(given):
            self.device.acknowledge(given.boot, given.number)
        for number, event in zip(numbers, decided, strict=True):
            if isinstance(event, CommandIssued):
                self.device.command(number, event.command)
            elif isinstance(event, DeviceLost) and isinstance(given, inputs.PersonActed):
                self._drop_link(event.sentence)
            elif isinstance(event, IrregularityRaised):
                self._log.warning(
                    "irregularity.raised", row=event.row.id, clause=event.row.clause, note=str(event.note)
                )

    def _holds(self, report: inputs.DeviceReported) -> bool:
        """Return whether the journal holds the report. It does not hold those of a device that cannot serve this
        table.
        """
        device = self.state.device
        return report.boot == device.boot and report.number <= device.last_report

    def _find_answer(self, operation_id: str) -> Answer | None:
        return next((answer for answer in self.state.answers if answer.operation_id == operation_id), None)
