"""`cardshoe demo`: shows the product at work, from the deck to the last chip.

Modules for playing are imported after the first sentence, so that a person sees immediately that it has begun.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import click

from controller.commands.language import language_option
from controller.commands.text import say as say_aside
from controller.commands.text import write_out
from controller.games import GAMES
from controller.games.specification import Game, Unit
from controller.language import ENGLISH, Speaker
from controller.problems import BadInputError, ProblemError
from firmware_bridge.messages import Message, counted, message
from simulators.cli.device_options import check_dispensing, playable

DEVICES: Final = {"shuffler": Unit.SETS, "shoe": Unit.SINGLES}
DEVICE_NAMES: Final = {"shuffler": message("shuffler"), "shoe": message("shoe")}
SECONDS_A_ROUND: Final = 10  # seconds, including people's waits
SECONDS_A_FAST_ROUND: Final = 0.3  # two processes and a journal, on a small PC
PORT: Final = 8095  # the same for each run, so that a browser is enrolled once
ENDLESS: Final = 1000  # rounds for a visitor who does not say how many
INTERRUPTED: Final = 130  # exit code that a shell uses for Ctrl-C
ENDS: Final = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


@click.command()
@click.option("--game", "game_id", metavar="GAME", default="NC", show_default=True,
              help=f"{', '.join(GAMES)}.")  # fmt: skip
@click.option("--scenario", metavar="FILE", help="Play this file instead, or a packaged one like nc/i12-exposed; "
              "`list` names them, `words` explains how a file is written.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(1, 100_000), default=5, show_default=True,
              help="The number of rounds. With --play, by default as many as you like.")  # fmt: skip
@click.option("--fast", is_flag=True, help="Without waiting: motions and people take no time.")
@click.option("--seed", type=int, default=7, show_default=True, help="The seed of decks, boxes, mishaps and choices.")
@click.option("--device", type=click.Choice(list(DEVICES)), default="shuffler", show_default=True,
              help="A shuffler that deals sets, or a shoe that deals single cards.")  # fmt: skip
@click.option("--on-removal", is_flag=True, help="A shuffler that forms the next set when one is lifted.")
@click.option("--no-stages", is_flag=True, help="A shuffler that keeps no set in the tray before bets close.")
@click.option("--wagers", is_flag=True, help="The people bet, and every round is settled.")
@click.option("--open", "console", is_flag=True, help="Also open the console, in which the people deal, in a browser.")
@click.option("--play", "visitor", is_flag=True, help="You are the dealer, in the browser; the rest is simulated.")
@click.option("--supervisor-after", type=click.FloatRange(min=0), default=90.0, show_default=True, metavar="SECONDS",
              help="With --play: when a simulated supervisor comes and decides open matters.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True,
              help="The console's port; another one if it is in use. 0: any.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print events, one JSON object a line; the same for a seed.")
@click.option("--full", is_flag=True, help="With --json: also wall times, boots, commitments and salts.")
@language_option
def demo(game_id: str, scenario: str | None, rounds: int, fast: bool, seed: int, device: str, on_removal: bool,
         no_stages: bool, wagers: bool, console: bool, visitor: bool, supervisor_after: float, port: int,
         as_json: bool, full: bool, language: str) -> None:  # fmt: skip
    """Play a simulated table of any game and watch it.

    A simulated device and the daemon run as separate processes over a pseudo-terminal; simulated people play, make
    mistakes and decide. At the end it reports whether the daemon raised exactly the irregularities that the seed had
    planned.

    With --play you are the dealer: the console opens in a browser, the cards move by themselves, and what only your
    eyes could see is printed in the terminal. You sign a supervisor's decisions with the supervisor's PIN, or a
    simulated supervisor comes and decides.

    With --scenario a table without device and daemon plays a file step by step; it reports whether all came out as the
    file expects.
    """
    if scenario is not None:
        _play_scenario(scenario, game_id if _given("game_id") else "")
        return
    if full and not as_json:
        raise BadInputError(message("--full only adds to --json."), message("Add --json, or leave --full out."))
    if visitor and (as_json or wagers):
        raise BadInputError(message("With --play a person deals."), message("Leave --json and --wagers out."))
    if device == "shoe" and (on_removal or no_stages):
        raise BadInputError(
            message("A shoe forms no sets."), message("Use --on-removal and --no-stages with --device shuffler.")
        )
    endless = visitor and not _given("rounds")
    rounds = ENDLESS if endless else rounds
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets background processes ignore it
    for number in ENDS - {signal.SIGINT}:  # a closed terminal must not leave processes behind either
        signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        rules = GAMES.get(game_id.strip().upper()) or playable(game_id, on_removal=on_removal)
        check_dispensing(rules, on_removal=on_removal)
        with _interrupts_blocked():
            if visitor:
                say = Speaker(language)
                many = message("rounds until Ctrl-C") if endless else counted("1 round", "{count} rounds", rounds)
                said = message(
                    "{title}: you deal {rounds} with a simulated {device}.",
                    title=rules.title, rounds=many, device=DEVICE_NAMES[device],
                )  # fmt: skip
                click.echo(say(said))
                starts = message(
                    "Starting the simulated {device} and the table. The address of the console follows.",
                    device=DEVICE_NAMES[device],
                )
                click.echo(say(starts))
            else:
                click.echo(introduction(rules, rounds, device, fast=fast, language=language), err=as_json)
            playable(rules.id, on_removal=on_removal)
        _play(rules.id, rounds, fast, seed, DEVICES[device], on_removal, not no_stages, wagers, as_json, full,
              console or visitor, visitor, supervisor_after, port, language)  # fmt: skip
    except KeyboardInterrupt:
        say_aside(message("Interrupted: the demonstration has ended, with its device and its daemon."))
        sys.exit(INTERRUPTED)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C during imports and the first lines.

    An interrupted import may end in any exception, or in the exit code of a signal. A write that is interrupted after
    the terminal has the text is repeated when Python ends.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)


def _given(name: str) -> bool:
    """Return whether a person gave this option."""
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, click.core.ParameterSource.DEFAULT)


def introduction(rules: Game, rounds: int, device: str, *, fast: bool, language: str = ENGLISH) -> str:
    """Return what will be seen, how long it takes, and what the sign on a card means.

    >>> from controller.games import game
    >>> print(introduction(game("NC"), 5, "shuffler", fast=False))
    Non-Commission Three Pictures: 5 rounds with a simulated shuffler.
    It takes about a minute; Ctrl-C ends it.
    The simulated people deal, make mistakes and decide, through the daemon's API.
    ?? is a card that lies face down: the daemon shows it to no one.
    """
    say = Speaker(language)
    lines = (
        message(
            "{title}: {rounds} with a simulated {device}.",
            title=rules.title,
            rounds=counted("1 round", "{count} rounds", rounds),
            device=DEVICE_NAMES[device],
        ),
        message(
            "It takes {lasts}; Ctrl-C ends it.",
            lasts=duration(rounds * (SECONDS_A_FAST_ROUND if fast else SECONDS_A_ROUND)),
        ),
        message("The simulated people deal, make mistakes and decide, through the daemon's API."),
        message("?? is a card that lies face down: the daemon shows it to no one."),
    )
    return "\n".join(map(say, lines))


def duration(seconds: float) -> Message:
    """Return an approximate duration for people.

    >>> [str(duration(seconds)) for seconds in (2, 20, 50, 1000, 7200)]
    ['a few seconds', 'about 20 seconds', 'about a minute', 'about 17 minutes', 'about 2 hours']
    """
    minutes, hours = round(seconds / 60), round(seconds / 3600)
    if seconds < 45:
        return message("a few seconds") if seconds < 10 else message("about {seconds} seconds", seconds=round(seconds))
    if minutes < 90:
        return counted("about a minute", "about {count} minutes", minutes)
    return message("about {hours} hours", hours=hours)


def _play(*options: Any) -> None:
    """Play with the fields of `DemoOptions`. A visitor may deal freely; otherwise the run must follow the plan. Raise
    `ProblemError`.
    """
    with _interrupts_blocked():
        from simulators.demo.play import DemoOptions, play
        from simulators.demo.processes import StageError

    asked = DemoOptions(*options)
    try:
        account = asyncio.run(play(asked))
    except StageError as error:
        raise ProblemError(error, message("Report it with the game, the device and the seed.")) from error
    click.echo(account.summary(Speaker(asked.language), freely=asked.visitor), err=asked.as_json)
    if account.differences and not asked.visitor:
        raise ProblemError(
            message("The run was not as planned: {differences:clauses}.", differences=tuple(account.differences[:5]))
        )


def _play_scenario(name: str, game_id: str) -> None:
    """Play a scenario. `game_id` is the game asked for, or empty. Raise `ProblemError`."""
    from simulators.demo.scenario_text import scenario_lines
    from simulators.scenarios import load, names
    from simulators.scenarios.format import BadScenarioError, vocabulary
    from simulators.scenarios.player import DifferenceError

    unused = [
        option.opts[0]
        for option in demo.params
        if option.name not in ("scenario", "game_id") and _given(option.name or "")
    ]
    if unused:
        raise BadInputError(
            message("{option} has no effect in a scenario.", option=unused[0]),
            message("Leave it out: the file says everything."),
        )
    if name == "list":
        write_out("\n".join(names()))
        return
    if name == "words":
        write_out("\n".join(vocabulary()))
        return
    try:
        scenario = load(name)
        plays = scenario.setting.game
        if game_id and game_id.strip().upper() != plays:
            raise BadInputError(
                message("{name} plays {game}, not {other}.", name=name, game=plays, other=game_id),
                message("Leave --game out, or name another scenario."),
            )
        for line in scenario_lines(scenario):
            write_out(line)
    except BadScenarioError as error:
        raise BadInputError(
            str(error), message("Name a file, or one of those that `cardshoe demo --scenario list` prints.")
        ) from error
    except DifferenceError as error:
        raise ProblemError(str(error), message("Correct the file, or look the clause up.")) from error
