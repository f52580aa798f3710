"""Runs searches: `python -m tests.search --help`."""

from __future__ import annotations

import argparse
import sys

from controller.games import GAMES
from controller.games.specification import Unit
from tests.search import cases, page
from tests.search.cases import Case
from tests.search.explore import Search

SHOWN = 10  # violations


def main() -> int:
    asked = _arguments()
    if asked.write:
        searches = [(case, _run(case, 0)) for case in cases.COUNTED]
        page.write([page.row(case, search) for case, search in searches])
    else:
        chosen = [
            Case(
                game_id,
                unit,
                asked.boxes,
                asked.wagers,
                asked.irregularities,
                asked.wide,
                asked.every_start,
                asked.corrections,
            )
            for game_id in asked.games
            for unit in map(Unit, asked.units)
        ]
        searches = [(case, _run(case, asked.most)) for case in chosen]
    return int(any(search.broken for _, search in searches))


def _run(case: Case, most: int) -> Search:
    search = cases.run(case, most)
    complete = not most or len(search.states) < most
    wrong = search.wrong() if complete else search.broken
    number = "" if case.irregularities == 1 else f", {case.irregularities} irregularities"
    _say(f"{case.name}{number}: {len(search.states)} states, {search.transitions} transitions, {search.seconds:.1f} s")
    _say(f"  farthest: {' / '.join(search.path(search.deepest))}")
    if not complete:
        _say(f"  incomplete: it stopped at {most} states, so paths to the next round were not checked")
    for broken in wrong[:SHOWN]:
        _say(f"  WRONG: {broken}")
    if len(wrong) > SHOWN:
        _say(f"  and {len(wrong) - SHOWN} more")
    return search


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.search", description="Search the states of small tables.")
    parser.add_argument("--games", nargs="+", default=list(GAMES), choices=list(GAMES))
    parser.add_argument(
        "--units", nargs="+", default=[unit.value for unit in Unit], choices=[unit.value for unit in Unit]
    )
    parser.add_argument("--boxes", type=int, default=1, choices=(1, 2, 3))
    parser.add_argument("--irregularities", type=int, default=1, choices=(0, 1, 2))
    parser.add_argument(
        "--wagers", action=argparse.BooleanOptionalAction, default=True, help="a main wager on each box"
    )
    parser.add_argument("--wide", action="store_true", help="open irregularities in any order, not the oldest first")
    parser.add_argument(
        "--every-start", action="store_true", help="F3: try every place at which the deal may begin, not one only"
    )
    parser.add_argument("--corrections", action="store_true", help="one bet of each round may be corrected")
    parser.add_argument("--most", type=int, default=0, help="stop at so many states; 0: search completely")
    parser.add_argument(
        "--write",
        action="store_true",
        help="run the searches of docs/testing.md completely, and write their numbers there",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
