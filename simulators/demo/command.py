"""`cardshoe demo`: the product at work, from the deck to the last chip."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from controller.api.client import ApiClient
from controller.commands.main import BadInputError, ProblemError
from controller.commands.narration import tell
from controller.commands.vocabulary import words_of
from controller.games.specification import Unit
from simulators.cli.simulate import playable
from simulators.demo.account import Account
from simulators.demo.scenario_text import scenario_lines
from simulators.demo.stage import Stage, StageError
from simulators.people.plan import plan_rounds
from simulators.scenarios import load
from simulators.scenarios.format import BadScenarioError
from simulators.scenarios.player import DifferenceError

DEVICES: Final = {"shuffler": Unit.SETS, "shoe": Unit.SINGLES}
NOT_REPEATABLE: Final = frozenset({"utc_ns", "boot", "start", "host_boot", "commitment", "salt"})


class Asked(msgspec.Struct, frozen=True):
    game_id: str
    rounds: int
    fast: bool
    seed: int
    unit: Unit
    on_removal: bool
    stages: bool
    wagers: bool
    as_json: bool
    full: bool


@click.command()
@click.option("--game", "game_id", metavar="GAME", default="NC", show_default=True, help="TP, RTP, NC, P3 or F3.")
@click.option("--scenario", metavar="FILE", help="Play this file instead, or a packaged one like nc/i12-exposed.")
@click.option("--rounds", type=click.IntRange(1, 100_000), default=5, show_default=True, help="How many to play.")
@click.option("--fast", is_flag=True, help="Wait for nobody.")
@click.option("--seed", type=int, default=7, show_default=True, help="Decks, boxes, mishaps and choices.")
@click.option("--device", type=click.Choice(list(DEVICES)), default="shuffler", show_default=True,
              help="A shuffler that deals sets, or a shoe that deals single cards.")  # fmt: skip
@click.option("--on-removal", is_flag=True, help="A shuffler that forms the next set when one is lifted.")
@click.option("--no-stages", is_flag=True, help="A shuffler that keeps no set waiting before bets close.")
@click.option("--wagers", is_flag=True, help="The people bet, and every round is settled.")
@click.option("--json", "as_json", is_flag=True, help="Print events, one JSON object a line; the same for a seed.")
@click.option("--full", is_flag=True, help="With --json: also wall times, boots, commitments and salts.")
def demo(game_id: str, scenario: str | None, rounds: int, fast: bool, seed: int, device: str, on_removal: bool,
         no_stages: bool, wagers: bool, as_json: bool, full: bool) -> None:  # fmt: skip
    """Play a simulated table of any game and watch it.

    A simulated device and the daemon run as separate processes over a pseudo-terminal; simulated people play, err and
    decide. At the end it says whether the daemon raised exactly the irregularities that the seed had planned.

    With --scenario a table alone plays a file step by step, and says whether everything came out as the file expects.
    """
    if scenario is not None:
        _tell_scenario(scenario)
        return
    if device == "shoe" and (on_removal or no_stages):
        raise BadInputError("A shoe forms no sets.", "Use --on-removal and --no-stages with --device shuffler.")
    rules = playable(game_id, on_removal=on_removal)
    asked = Asked(rules.id, rounds, fast, seed, DEVICES[device], on_removal, not no_stages, wagers, as_json, full)
    try:
        account = asyncio.run(_play(asked))
    except StageError as error:
        raise ProblemError(str(error), "Report it with the game, the device and the seed.") from error
    except KeyboardInterrupt:
        raise click.Abort from None
    click.echo(account.summary(), err=as_json)
    if account.differences:
        raise ProblemError("The run was not as planned: " + "; ".join(account.differences[:5]) + ".")


def _tell_scenario(name: str) -> None:
    try:
        for line in scenario_lines(load(name)):
            click.echo(line)
    except BadScenarioError as error:
        raise BadInputError(str(error), "docs/scenarios.md lists the words of a file and the packaged ones.") from error
    except DifferenceError as error:
        raise ProblemError(str(error), "Correct the expectation, or look up what the clause says.") from error


async def _play(asked: Asked) -> Account:
    plan = plan_rounds(
        asked.seed, asked.unit, asked.rounds, game_id=asked.game_id, stages=asked.stages, wagers=asked.wagers
    )
    account = Account(plan)
    options = [*(["--fast"] if asked.fast else []), *(["--on-removal"] if asked.on_removal else [])]
    options += [*([] if asked.stages else ["--no-stages"]), *(["--wagers"] if asked.wagers else [])]
    with tempfile.TemporaryDirectory(prefix="cardshoe-demo-") as name:
        stage = Stage(
            Path(name), unit=asked.unit, seed=asked.seed, rounds=asked.rounds, options=options, game_id=asked.game_id
        )
        async with stage, ApiClient(stage.socket) as client:
            await _follow(asked, stage, client, account)
    return account


async def _follow(asked: Asked, stage: Stage, client: ApiClient, account: Account) -> None:
    """Show events until the entry at which the simulated people were done; the device stays, so nothing follows."""
    live = not asked.as_json and sys.stdout.isatty()
    stop = asyncio.Event()
    drawing = asyncio.create_task(_draw(client, stop)) if live else None
    taken = Taken()
    taking = asyncio.create_task(_take_events(client, account, taken, None if live else asked))
    try:
        end = await stage.finished_at()
        while taken.entry < end and not taking.done():
            taken.news.clear()
            waiting = asyncio.create_task(taken.news.wait())
            await asyncio.wait({waiting, taking}, return_when="FIRST_COMPLETED")
            waiting.cancel()
        if taken.entry < end:
            await stage.fail("run")
    finally:
        stop.set()
        if drawing is not None:
            await drawing
        taking.cancel()
        with suppress(asyncio.CancelledError):
            await taking


class Taken:
    """How far the events have been followed."""

    def __init__(self) -> None:
        self.entry = 0
        self.news = asyncio.Event()


async def _take_events(client: ApiClient, account: Account, taken: Taken, printed: Asked | None) -> None:
    async for event in client.events():
        if event is not None:
            account.take(event)
            if printed is not None:
                _print(event, printed)
            taken.entry = event["entry"]
            taken.news.set()


async def _draw(client: ApiClient, stop: asyncio.Event) -> None:
    from controller.commands.watch import show_live

    await show_live(client, 0, stop)


def _print(event: dict[str, Any], asked: Asked) -> None:
    if asked.as_json:
        shown = event if asked.full else _repeatable(event)
        click.echo(json.dumps(shown, separators=(",", ":")))
    elif line := tell(event, words_of(asked.game_id)):
        click.echo(line)


def _repeatable(value: Any) -> Any:
    """What depends on the seed alone."""
    if isinstance(value, dict):
        return {key: _repeatable(part) for key, part in value.items() if key not in NOT_REPEATABLE}
    return [_repeatable(part) for part in value] if isinstance(value, list) else value
