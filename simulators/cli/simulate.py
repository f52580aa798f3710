"""`cardshoe simulate`: runs a simulated device in its own process, with or without people around its table."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random, SystemRandom
from typing import IO, Final, Literal, NamedTuple, cast

import click
import msgspec

from controller.commands.language import language_option
from controller.commands.text import say, write_out
from controller.daemon.configuration import ConfigurationError, read_configuration
from controller.daemon.host import HostClock
from controller.games.specification import Unit
from controller.language import Speaker
from controller.problems import BadInputError, ConfigurationProblemError, ProblemError
from firmware_bridge.device_keys import DeviceKeys, read_device_keys, write_device_keys
from firmware_bridge.errors import KeyFileError
from firmware_bridge.messages import counted, message
from firmware_bridge.plain_text import whole_number
from simulators.cli.device_options import UNIFORM, Shuffles, check_shuffler_options, playable, read_shuffle
from simulators.cli.fault_options import FaultOptions, read_fault_options, running
from simulators.demo.stage import played
from simulators.devices.base import LoggedReport, Tempo
from simulators.devices.fault_injection import PRESETS, FaultInjector
from simulators.devices.faults import Side, explained
from simulators.devices.line_reader import write_card_table
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.one_way_shoes import ONE_WAY_SHOES, draw_all
from simulators.devices.simulated_device import SimulatedDevice
from simulators.people.bench_person import BenchPerson
from simulators.people.crew import CREW, Crew, CrewError, crew_of
from simulators.people.dealer import ForeignRoundError, PinNotKnownError, SimulatedDealer, SimulationError
from simulators.people.physical_table import PhysicalTable
from simulators.people.plan import plan_rounds
from simulators.people.supervisor import PATIENCE, Patience
from simulators.people.visitor import VisitorsHands
from simulators.ports.outlets import Place
from simulators.ports.usbip import PORT as USBIP_PORT
from simulators.usb.control import UsbPlan

HUMAN_PACE = 0.22  # waits as a share of real ones; a demonstration of five rounds then ends within a minute
MOST_SEED: Final = 1_000_000  # the highest seed that is chosen here, so that people can type it
IN_STATE: Final = "Default: $XDG_STATE_HOME/cardshoe/"  # in the help of options, before the name of a file


class Simulation(msgspec.Struct, frozen=True):
    """The options of `cardshoe simulate`. `dealer` is the socket of the daemon at whose table people play."""

    kind: Literal["shuffler", "shoe"]
    serial: str
    seed: int
    place: Place
    key_file: Path
    on_removal: bool
    stages: bool
    pace: float
    log: Path | None
    dealer: Path | None
    crew: Crew
    game_id: str
    rounds: int
    wagers: bool
    hands: bool
    supervisor_after: float
    language: str
    stay: bool
    load: bool
    shuffles: Shuffles
    person: bool
    options: FaultOptions
    fresh_seed: bool = False
    program: bytes | None = None


class OneWaySimulation(msgspec.Struct, frozen=True):
    """The options of `cardshoe simulate` for a one-way shoe."""

    driver: str
    serial: str
    seed: int
    place: Place
    log: Path | None
    draw_every: float
    card_table: Path
    options: FaultOptions
    fresh_seed: bool = False


def in_state_folder(name: str) -> Path:
    """Return the path of a file that no option names: in the user's state folder, which is created, never in the
    working directory. Raise `BadInputError` if the folder cannot be created.
    """
    home = os.environ.get("XDG_STATE_HOME", "")
    folder = (Path(home) if Path(home).is_absolute() else Path("~/.local/state").expanduser()) / "cardshoe"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(
            message("The folder {folder} cannot be made: {why}.", folder=str(folder), why=error.strerror or str(error)),
            message("Name files with --link, --key-file, --card-table."),
        ) from error
    return folder / name


@click.command()
@click.option("--driver", type=click.Choice(["cardlink", *ONE_WAY_SHOES]), default="cardlink", show_default=True,
              help="What the device speaks; all but cardlink are shoes.")  # fmt: skip
@click.option("--kind", type=click.Choice(["shuffler", "shoe"]), default="shuffler", show_default=True)
@click.option("--serial", default="CARDSHOE-SIM-1", show_default=True, help="The device's serial number.")
@click.option(
    "--seed",
    type=int,
    help="The seed of the decks and of everything else that is random.  [default: another one at each start]",
)
@click.option("--link", type=click.Path(path_type=Path), help=f"The path at which the device appears. {IN_STATE}device")
@click.option("--tcp", metavar="[HOST:]PORT", help="Listen there instead, as a serial server; HOST is this machine.")
@click.option("--usbip", metavar="[HOST:]PORT", is_flag=False, flag_value=str(USBIP_PORT),
              help=f"Be a USB device instead, which any Linux machine attaches by USB/IP. Without HOST this machine's, "
              f"without PORT {USBIP_PORT}.")  # fmt: skip
@click.option("--key-file", type=click.Path(path_type=Path),
              help=f"The device's key, created if there is none. {IN_STATE}device.keys")  # fmt: skip
@click.option("--on-removal", is_flag=True, help="Form the next set when one is lifted, not on a command.")
@click.option(
    "--stages/--no-stages",
    default=True,
    show_default=True,
    help="Whether a set may wait in the tray before bets close.",
)
@click.option("--load", is_flag=True, help="Begin with a deck in the device, as a bench needs it; not with --dealer.")
@click.option("--shuffle", default=UNIFORM, show_default=True, metavar="MODEL",
              help="How a shuffler shuffles, such as riffle:7 or shelves:10; an unknown name lists them "
                  "all.")  # fmt: skip
@click.option("--person", is_flag=True, help="A simulated person lifts each set from a shuffler and puts the deck "
    "back after all of it came out, as `cardshoe bench --shuffles` needs.")  # fmt: skip
@click.option("--program", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="The firmware that a cardlink device shows to run, for a table with [device] image.")  # fmt: skip
@click.option("--fast", is_flag=True, help="Without waiting: motions and people take no time.")
@click.option("--log", type=click.Path(path_type=Path), help="Write every report here, one JSON object a line.")
@click.option("--draw-every", type=click.FloatRange(min=0), default=0.0, metavar="SECONDS",
              help="Draw a card at this interval in seconds until none is left; not for cardlink.")  # fmt: skip
@click.option("--card-table", type=click.Path(path_type=Path),
              help=f"Write the identifiers of a line_reader's cards here. {IN_STATE}device.cards.csv")  # fmt: skip
@click.option("--dealer", type=click.Path(path_type=Path), metavar="FILE",
              help="Play at the table of this configuration, as its people; or at this socket.")  # fmt: skip
@click.option("--pin", "pins", multiple=True, metavar="ID=PIN", help="The PIN of a person in that configuration.")
@click.option("--game", "game_id", metavar="GAME", help="The game at that socket.  [default: NC]")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="The number of rounds, with --dealer."
)
@click.option("--wagers", is_flag=True, help="The people bet, with --dealer.")
@click.option("--hands", is_flag=True, help="With --dealer: a person at the console deals; the simulated people move "
              "the cards, and say what lies on the table.")  # fmt: skip
@click.option("--supervisor-after", type=click.FloatRange(min=0), default=PATIENCE, show_default=True,
              metavar="SECONDS", help="With --hands: when a simulated supervisor comes.")  # fmt: skip
@language_option
@click.option("--stay", is_flag=True, help="Keep the device plugged in after the last round, until interrupted.")
@click.option("--fault", "faults", multiple=True, metavar="NAME@N", help="Arm a fault, such as jam@5 or loss=0.01; "
    "`list` explains them. May be repeated.")  # fmt: skip
@click.option("--preset", type=click.Choice(list(PRESETS)), help="Plan the faults of every deck by this mix.")
@click.option("--console/--no-console", default=None, help="Read commands from standard input; `help` lists them. "
              "The default in a terminal.")  # fmt: skip
def simulate(driver: str, draw_every: float, card_table: Path | None, kind: Literal["shuffler", "shoe"], serial: str,
             seed: int | None, link: Path | None, tcp: str | None, usbip: str | None,
             key_file: Path | None, on_removal: bool, stages: bool,
             load: bool, shuffle: str, person: bool, program: Path | None, fast: bool, log: Path | None,
             dealer: Path | None,
             pins: tuple[str, ...], game_id: str | None,
             rounds: int, wagers: bool, hands: bool, supervisor_after: float, language: str,
             stay: bool, faults: tuple[str, ...], preset: str | None,
             console: bool | None) -> None:  # fmt: skip
    """Run a simulated shuffler or shoe on a pseudo-terminal, a TCP port or USB/IP, and print where it is.

    With --dealer, simulated people play planned rounds at the daemon's table and the command ends with the last one.
    Without, it runs until it is interrupted.
    """
    if "list" in faults:
        write_out("\n".join(explained(cast("Side", kind if driver == "cardlink" else driver))))
        return
    is_fresh = seed is None
    if seed is None:
        seed = SystemRandom().randrange(MOST_SEED)
    if tcp is not None and usbip is not None:
        raise BadInputError(
            message("--tcp and --usbip are two places for one device."), message("Leave one of them out.")
        )
    place = Place(
        (link or in_state_folder("device")).absolute(), _listening(tcp, "--tcp"), _listening(usbip, "--usbip")
    )
    options = read_fault_options(faults, preset, console if dealer is None else bool(console))
    if dealer is not None and options.of_cards:
        raise BadInputError(
            message("The simulated people of --dealer can handle only the mishaps of their own plan."),
            message(
                "Leave out --console, --preset and every --fault but the line's; or deal by hand, without --dealer."
            ),
        )
    if dealer is not None and load:
        raise BadInputError(
            message("The simulated people of --dealer put the deck in themselves."),
            message("Leave {option} out.", option="--load"),
        )
    check_shuffler_options(shuffle, person, (driver, kind), dealer)
    if driver != "cardlink":
        cards = card_table or in_state_folder("device.cards.csv")
        _simulate_one_way(
            OneWaySimulation(driver, serial, seed, place, log, draw_every, cards, options, is_fresh), dealer
        )  # fmt: skip
        return
    keys = key_file or in_state_folder("device.keys")
    table = _table(dealer, pins, game_id)
    asked = Simulation(
        kind, serial, seed, place, keys, on_removal, stages, 0.0 if fast else HUMAN_PACE, log,
        table.socket, table.crew, playable(table.game_id, on_removal=on_removal).id, rounds, wagers, hands,
        supervisor_after, language, stay, load, read_shuffle(shuffle), person, options, is_fresh,
        None if program is None else program.read_bytes(),
    )  # fmt: skip
    try:
        asyncio.run(run_simulation(asked))
    except (KeyFileError, ForeignRoundError, PinNotKnownError) as error:
        raise BadInputError(error) from error
    except SimulationError as error:
        hint = message("Report it with the seed {seed}; the device's log (--log) helps.", seed=seed)
        raise ProblemError(message("The simulated people cannot continue: {why}.", why=str(error)), hint) from error
    except OSError as error:
        raise _startup_problem(asked, error) from error


class _Table(NamedTuple):
    socket: Path | None
    crew: Crew
    game_id: str


def _table(path: Path | None, pins: tuple[str, ...], game_id: str | None) -> _Table:
    """Return the table at which people play: that of a configuration, or of a socket with the simulators' own people.
    Raise `ProblemError`.
    """
    if path is None or not path.is_file():
        if pins:
            raise BadInputError(
                message("--pin is for a person in a configuration."), message("Name its file with --dealer.")
            )
        return _Table(path, CREW, game_id or "NC")
    try:
        configuration = read_configuration(path)
        known = dict(pin.partition("=")[::2] for pin in pins)
        crew = crew_of(configuration.people, os.getuid(), known)
    except ConfigurationError as error:
        raise ConfigurationProblemError(error) from error
    except CrewError as error:
        raise BadInputError(message("{path}: {what}", path=str(path), what=error.message), error.hint) from error
    plays = configuration.table.game
    if game_id is not None and game_id.strip().upper() != plays:
        raise BadInputError(
            message("{path} is a table of {game}, not {other}.", path=str(path), game=plays, other=game_id),
            message("Leave {option} out.", option="--game"),
        )
    return _Table(configuration.api.socket, crew, plays)


def _listening(where: str | None, option: str) -> tuple[str, int] | None:
    """Parse where to listen. Raise `BadInputError`."""
    if where is None:
        return None
    host, _, written = where.rpartition(":")
    port = whole_number(written, 65535)
    if port is None:
        raise BadInputError(
            message("'{text}' is not a port.", text=where),
            message("Write {option} HOST:PORT or {option} PORT; port 0: any free one.", option=option),
        )
    return host.strip("[]") or "127.0.0.1", port


def _startup_problem(asked: Simulation | OneWaySimulation, error: OSError) -> BadInputError:
    """Return the error for a failed start: an output file, a port, or the path of the terminal."""
    why = error.strerror or str(error)
    files = (asked.log, asked.key_file if isinstance(asked, Simulation) else asked.card_table)
    if any(file is not None and str(file) == str(error.filename) for file in files):
        return BadInputError(
            message("{path} cannot be written: {why}.", path=str(error.filename), why=why),
            message("Name files in a folder that you may write to."),
        )
    for listening, option in ((asked.place.usbip, "--usbip"), (asked.place.tcp, "--tcp")):
        if listening is not None:
            host, port = listening
            return BadInputError(
                message("The device cannot appear at {place}: {why}.", place=f"{host}:{port}", why=why),
                message("Name another port with {option}.", option=option),
            )
    hint = message("Name a path in a folder that you may write to with --link.")
    said = message("The device cannot appear at {place}: {why}.", place=str(asked.place.link), why=why)
    return BadInputError(said, hint)


def _simulate_one_way(asked: OneWaySimulation, dealer: Path | None) -> None:
    if dealer is not None:
        raise BadInputError(
            message("Simulated people can only play with a device that speaks cardlink."),
            message("Leave --dealer or --driver out."),
        )
    try:
        asyncio.run(run_one_way(asked))
    except OSError as error:
        raise _startup_problem(asked, error) from error


async def run_one_way(asked: OneWaySimulation) -> None:
    """Run a one-way shoe until SIGTERM or SIGINT."""
    with ExitStack() as stack:
        log = stack.enter_context(asked.log.open("w")) if asked.log else None
        random = Random(f"{asked.seed}/device")
        device = ONE_WAY_SHOES[asked.driver](
            serial=asked.serial, random=random, log=lambda line: _write_line(log, line)
        )
        if asked.driver == "line_reader":
            write_card_table(asked.card_table)

        async def people() -> None:
            await draw_all(device, asked.draw_every)
            await asyncio.Event().wait()

        clock = asyncio.get_running_loop().time
        usb = UsbPlan() if asked.place.usbip else None
        injector = FaultInjector(device, driver=asked.driver, seed=asked.seed, clock=clock, usb=usb)
        async with running(injector, asked.options, asked.place) as found:
            _print_place(f"{found.url}?driver={asked.driver}", found.hint, asked)
            await _until_interrupted(people())


async def run_simulation(asked: Simulation) -> None:
    """Run until the last round, or until SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    random = Random(f"{asked.seed}/device")
    key = _key(asked, random)
    capabilities = full_capabilities(asked.kind, on_removal=asked.on_removal, stages=asked.stages)
    with ExitStack() as stack:
        log = stack.enter_context(asked.log.open("w")) if asked.log else None
        pace = Tempo(asked.pace)
        seeing: list[Callable[[LoggedReport], None]] = [lambda line: _write_line(log, line)]

        def see(line: LoggedReport) -> None:
            for one in seeing:
                one(line)

        device = SimulatedDevice(
            Profile(asked.kind, asked.serial, capabilities, program=asked.program),
            key=key,
            random=random,
            fresh=SystemRandom(),
            clock=loop.time,
            pace=pace,
            log=see,
            shuffles=asked.shuffles,
        )
        if asked.person:
            seeing.append(BenchPerson(device.mechanism, loop.call_soon).see)
        usb = UsbPlan() if asked.place.usbip else None
        injector = FaultInjector(device, seed=asked.seed, clock=loop.time, usb=usb)
        async with running(injector, asked.options, asked.place) as found:
            if asked.load:
                device.mechanism.load(device.mechanism.next_deck(), deck=1)
            _print_place(found.url, found.hint, asked)
            if asked.options.console and sys.stdin.isatty():  # a program does not need an explanation of its input
                takes = message("`lift` takes a set" if asked.kind == "shuffler" else "`draw` draws a card")
                write_out(
                    message(
                        "Type here what is done to the device: `load` puts a deck in, {takes}, `help` lists all.",
                        takes=takes,
                    )
                )
            await _until_interrupted(_people(asked, device, pace))


def _print_place(url: str, hint: str, asked: Simulation | OneWaySimulation) -> None:
    """Print only the URL on the first line, where a program reads it."""
    click.echo(url)
    if asked.fresh_seed:
        say(message("The seed is {seed}: --seed {seed} repeats these decks.", seed=asked.seed))
    if hint:
        write_out(message("Attach it as root, with the module vhci_hcd loaded: {command}", command=hint))


async def _until_interrupted(doing: Coroutine[None, None, None]) -> None:
    """Run until the people have finished, or the command is interrupted."""
    people = asyncio.create_task(doing)
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, people.cancel)
    with suppress(asyncio.CancelledError):
        await people


async def _people(asked: Simulation, device: SimulatedDevice, pace: Tempo) -> None:
    if asked.dealer is None:
        await asyncio.Event().wait()
        return
    unit = Unit.SETS if asked.kind == "shuffler" else Unit.SINGLES
    plan = plan_rounds(asked.seed, unit, asked.rounds, game_id=asked.game_id, stages=asked.stages, wagers=asked.wagers)
    table = PhysicalTable(device.mechanism, pace)
    random = Random(f"{asked.seed}/people")
    if asked.hands:
        dealer: SimulatedDealer = VisitorsHands(
            device, table, asked.dealer, plan, random, click.echo, Speaker(asked.language),
            Patience(asyncio.get_running_loop().time, asked.supervisor_after, lambda: HostClock().now().utc_ns),
        )  # fmt: skip
    else:
        dealer = SimulatedDealer(device, table, asked.dealer, plan, random, asked.crew)
    last = await dealer.play()
    write_out(played(counted("1 round", "{count} rounds", len(plan)), last))
    if asked.stay:
        await asyncio.Event().wait()


def _key(asked: Simulation, random: Random) -> bytes:
    """Return the key in the file, or write a new key."""
    if asked.key_file.exists():
        keys = read_device_keys(asked.key_file)
        if asked.serial in keys:
            return keys[asked.serial]
    else:
        keys = DeviceKeys()
    keys[asked.serial] = random.randbytes(32)
    write_device_keys(asked.key_file, keys)
    return keys[asked.serial]


def _write_line(log: IO[str] | None, line: LoggedReport) -> None:
    if log is not None:
        log.write(msgspec.json.encode(line).decode() + "\n")
        log.flush()
