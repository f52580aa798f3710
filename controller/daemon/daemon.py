"""The daemon of one table: creates all parts, and starts and stops them in the right order."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, suppress
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import structlog

from controller.api.people import People
from controller.api.screen_port import WebSetting
from controller.api.server import ApiServer
from controller.api.tcp_listener import TcpListener
from controller.api.unix_socket import check_path
from controller.api.view import LinkView
from controller.daemon.captures import recorder_of
from controller.daemon.checking import check_beside
from controller.daemon.clock_doubt import ClockDoubt
from controller.daemon.configuration import Configuration
from controller.daemon.device_guards import open_real_device
from controller.daemon.disk_pace import DiskPace, waits_in_kernel
from controller.daemon.host import HostClock, SystemdNotifier, guard_memory, host_boot_id, start_id
from controller.daemon.journal_keeper import keeper_of
from controller.daemon.journal_start import open_journal
from controller.daemon.logs import LogLines
from controller.daemon.metrics_page import MetricsPage, disk_of
from controller.daemon.record import record_of
from controller.daemon.reloading import Reloading
from controller.daemon.starting import FoldReport, Origin, Stop, StoppedError
from controller.daemon.table_service import Fault, TableService
from controller.daemon.witnessing import Witnessing
from controller.floor.topics import TablePlace
from controller.journal.signing import fingerprint
from controller.table.inputs import DaemonStarted
from controller.table.state import TableState
from firmware_bridge.captures.recorder import CaptureRecorder
from firmware_bridge.card_table import read_card_table
from firmware_bridge.device_image import read_image
from firmware_bridge.device_keys import DeviceKeys, read_device_keys
from firmware_bridge.drivers.base import Driver
from firmware_bridge.drivers.memory import LinkMemory
from firmware_bridge.drivers.registry import load_driver
from firmware_bridge.drivers.setting import ApprovedImage, DriverSetting, FrameKeys
from firmware_bridge.errors import error_fields
from firmware_bridge.hotplug import watch
from firmware_bridge.link_keeper import LinkKeeper
from firmware_bridge.messages import Message
from firmware_bridge.transports.registry import open_transport

if TYPE_CHECKING:
    from controller.floor.publisher import Publisher

HOUR_NS: Final = 3600 * 10**9


class RunningDaemon(NamedTuple):
    """The running parts. `signing_key` is the fingerprint of the key that signs the journal."""

    signing_key: str
    service: TableService
    people: People
    server: ApiServer


async def run_daemon(configuration: Configuration, origin: Origin) -> None:
    """Run until SIGTERM or SIGINT. Raise JournalError, BridgeError or OSError if it cannot start."""
    stop = Stop()
    origin.hang_ups.listen()
    notifier = SystemdNotifier(dict(os.environ))
    asyncio.get_running_loop().set_exception_handler(_log_stray)
    if not configuration.table.simulated:
        guard_memory()
    table = configuration.table
    log = structlog.get_logger()
    async with AsyncExitStack() as stack:
        stack.callback(notifier.close)
        try:
            started = await _start(configuration, origin, notifier, stop, stack)
        except StoppedError:
            log.info("daemon.stopped_early", table=table.name)
            return
        log.info(
            "daemon.started",
            version=version("cardshoe"),
            table=table.name,
            simulated=table.simulated,
            socket=str(configuration.api.socket),
            signing_key=started.signing_key,
        )
        gc.freeze()  # permanent objects are excluded from garbage collection, whose pauses would delay the deal
        notifier.tell("READY=1", f"STATUS=table {table.name}")
        admit = partial(_admit, started)
        reloading = Reloading(origin, configuration, started.service, started.people, admit, notifier, log)
        _keep(stack, reloading.run(), "configuration")
        await stop.asked()
        notifier.tell("STOPPING=1")
    log.info("daemon.stopped", table=table.name)


async def _start(
    configuration: Configuration, origin: Origin, notifier: SystemdNotifier, stop: Stop, stack: AsyncExitStack
) -> RunningDaemon:
    loop = asyncio.get_running_loop()
    recorder = recorder_of(configuration, loop.time, structlog.get_logger(table=configuration.table.name))
    if recorder is not None:
        stack.callback(recorder.close)
    # first, so that a bad file is reported before anything else starts
    make_driver = _driver_maker(configuration, recorder)
    clock = HostClock()
    report = FoldReport(notifier, loop.time, lambda: stop.is_asked)
    writer, saved, newest = await stop.unless_asked(open_journal(configuration, clock, report))
    stack.push_async_callback(writer.close)
    memory = LinkMemory(saved.link)
    witnessing = _witnessing(configuration, stack)
    publisher: Publisher | None = None
    server: ApiServer | None = None
    logs = origin.logs
    log = structlog.get_logger(table=configuration.table.name)
    pace = DiskPace(writer.work, loop.time, waits_in_kernel, log)
    doubted = ClockDoubt(newest, clock)
    if doubted.warning is not None:
        log.warning("clock.doubted", sentence=str(doubted.warning))
    journal_keeper = keeper_of(
        configuration, writer, saved, clock, lambda: _warnings(doubted, witnessing, publisher, pace, logs, server)
    )
    check_path(configuration.api.socket)
    screens = _screens(configuration, stack)
    people = People(configuration.people, configuration.readers)
    keeper: LinkKeeper | None = None

    def link_view() -> LinkView:
        return _link_view(keeper)

    table = configuration.table
    service = TableService(table.name, saved.table, writer, clock, link_view, journal_keeper, pace)
    publisher = _publisher(configuration, service, people, clock)
    stack.push_async_callback(lambda: journal_keeper.stop(service.state))
    stack.callback(service.close)
    service.shifts.length_ns = _shift_ns(configuration)
    started = DaemonStarted(
        table.name,
        table.simulated,
        configuration.settings,
        start_id(),
        host_boot_id(),
        record_of(configuration, origin.program),
    )
    await service.begin(started, writer.doubts)
    keeper = LinkKeeper(
        configuration.device_url,
        make_driver=lambda now: make_driver(_held(service.state), memory, now),
        deliver=service.hear,
        clock=loop.time,
        random=secrets.SystemRandom(),
        recorder=recorder,
        simulated=table.simulated,
        open_transport=open_transport if table.simulated else open_real_device,
        policy=configuration.device.policy,
    )
    service.device = keeper
    _keep(stack, service.run(), "table")
    # the end of the link comes with the stop, and must be recorded before the state is saved
    stack.push_async_callback(service.rest)
    server = ApiServer(
        service,
        people,
        configuration.api.socket,
        clock.now,
        by_people=not table.simulated,
        screens=screens,
        metrics=MetricsPage(
            service,
            link_view,
            disk_of(writer.folder),
            clock,
            publisher,
            lambda: service.view().warnings,
            lambda: 0 if logs is None else logs.lost,
        ),
    )
    await server.start()
    stack.push_async_callback(server.close)
    if screens is not None:
        structlog.get_logger().info("daemon.screens", table=table.name, port=screens.listener.port)
    _keep(stack, keeper.run(), "link")
    _keep(stack, watch(configuration.device_url, keeper.try_now), "hot-plug")
    if notifier.interval is not None:
        _keep(stack, _feed_watchdog(server, notifier, notifier.interval), "watchdog")
    _keep(stack, _check_journal(configuration, service), "check")
    if publisher is not None:
        _keep(stack, publisher.run(), "floor")
    return RunningDaemon(fingerprint(writer.public_key), service, people, server)


def _publisher(
    configuration: Configuration, service: TableService, people: People, clock: HostClock
) -> Publisher | None:
    section = configuration.floor
    if section is None:
        return None
    from controller.floor.publisher import CURSOR_NAME, Publisher, Sending  # here, because most tables have no broker
    from controller.floor.reporting import ReportedTable, Reporting

    name, folder = configuration.table.name, configuration.journal.folder
    place = TablePlace(section.site, section.pit, name)
    table = ReportedTable(service.view, service.shown_by, people.names)
    return Publisher(
        Sending(place, section.found_broker, section.repeat_minutes, section.most_per_second),
        folder,
        folder / CURSOR_NAME,
        Reporting(place, table, clock, version("cardshoe")),
        service.feed.news,
        clock,
        secrets.SystemRandom(),
        structlog.get_logger(table=name),
    )


def _warnings(
    *beside: ClockDoubt | Witnessing | Publisher | DiskPace | LogLines | ApiServer | None,
) -> Iterator[Message]:
    """Return the warnings of the parts that follow the journal elsewhere, about the clock, its disk, the log and the
    socket.
    """
    return (one.warning for one in beside if one is not None and one.warning is not None)


def _screens(configuration: Configuration, stack: AsyncExitStack) -> WebSetting | None:
    """Open the port before anything is recorded. Raise `PortRefusedError` if it cannot be opened."""
    http = configuration.api.http
    if http is None:
        return None
    listener = TcpListener(http.port)
    stack.callback(listener.close)
    return WebSetting(listener, configuration.table.name, http.hosts)


def _admit(started: RunningDaemon, configuration: Configuration) -> None:
    """Apply the parts of a reloaded configuration that take effect immediately."""
    started.server.admit_again(configuration.api.http.hosts if configuration.api.http is not None else ())
    started.service.shifts.length_ns = _shift_ns(configuration)


def _shift_ns(configuration: Configuration) -> int:
    http = configuration.api.http
    return http.shift_hours * HOUR_NS if http is not None else 0


async def _check_journal(configuration: Configuration, service: TableService) -> None:
    """Check the whole journal once, while the table runs."""
    found = await check_beside(configuration.journal.folder, structlog.get_logger())
    if found.code:
        service.end_after_round(Fault(found.code, found.sentence, found.hint))


def _witnessing(configuration: Configuration, stack: AsyncExitStack) -> Witnessing | None:
    section = configuration.journal
    if section.witness is None:
        return None
    clock = asyncio.get_running_loop().time
    witnessing = Witnessing(section.folder, section.witness, clock, structlog.get_logger())
    _keep(stack, witnessing.run(), "witness")
    return witnessing


def _held(state: TableState) -> tuple[int, int]:
    return state.device.boot, state.device.last_report


def _driver_maker(
    configuration: Configuration, recorder: CaptureRecorder | None
) -> Callable[[tuple[int, int], LinkMemory, float], Driver]:
    """Return a function that makes a link's driver from the journal's data and the time. Raise BridgeError for an
    invalid file.
    """
    device = configuration.device
    url = configuration.device_url
    make = load_driver(url.driver)
    cards = read_card_table(device.card_table) if device.card_table is not None else {}
    image = read_image(device.image) if device.image is not None else None

    def read_keys() -> DeviceKeys:
        return read_device_keys(device.key_file) if device.key_file is not None else DeviceKeys()

    def note_keys(keys: FrameKeys) -> None:
        if recorder is not None:
            recorder.link_keys(keys)

    def make_driver(held: tuple[int, int], memory: LinkMemory, now: float) -> Driver:
        keys = read_keys()  # a device may have been paired since
        simulated = configuration.table.simulated
        nonce = secrets.token_bytes(16)
        if recorder is not None:
            recorder.driver_made(nonce, held)
        setting = DriverSetting(
            nonce, url.line, keys.get, held, cards, simulated, policy=device.policy, memory=memory, note_keys=note_keys,
            next_key_of=keys.next.get,
            image=None if image is None else ApprovedImage(image, secrets.token_bytes(32)),
        )  # fmt: skip
        return make(setting, now)

    read_keys()
    return make_driver


def _link_view(keeper: LinkKeeper | None) -> LinkView:
    if keeper is None:
        return LinkView()
    health = keeper.health
    age = health.silent_for(asyncio.get_running_loop().time())
    return LinkView(
        state=health.state,
        age=None if age is None else round(age, 3),
        links=health.link,
        code=health.code,
        sentence=health.sentence,
        hint=health.hint,
    )


def _keep(stack: AsyncExitStack, work: object, name: str) -> None:
    """Run a part for as long as the daemon runs. If a part ends, the daemon ends."""
    task = asyncio.ensure_future(work)  # type: ignore[call-overload]  # any coroutine
    task.set_name(name)
    main = asyncio.current_task()
    assert main is not None

    def ended(done: asyncio.Future[object]) -> None:
        if not done.cancelled() and (error := done.exception()) is not None:
            log = structlog.get_logger()
            log.error("daemon.part_failed", part=name, **error_fields(error))
            main.cancel()

    task.add_done_callback(ended)

    async def cancel() -> None:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task

    stack.push_async_callback(cancel)


def _log_stray(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an exception that nothing awaited, by type and place: its text may contain anything."""
    error = context.get("exception")
    structlog.get_logger().error("daemon.stray_error", **({} if error is None else error_fields(error)))


async def _feed_watchdog(server: ApiServer, notifier: SystemdNotifier, interval: float) -> None:
    """Feed the watchdog only when the API, the decision loop and the journal's thread have answered; the device does
    not matter.

    The connection is made once: other clients cannot take its place, and asking needs no descriptor.
    """
    reader, writer = await asyncio.open_connection(sock=await server.own_connection())
    try:
        while True:
            await asyncio.sleep(interval)
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: table\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            found = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
            assert found is not None
            await reader.readexactly(int(found[1]))
            if head.startswith(b"HTTP/1.1 200 "):
                notifier.tell("WATCHDOG=1")
    finally:
        writer.close()
