"""The floor on one terminal screen: what is urgent, open matters, then the tables in as much detail as fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from controller.commands.floor.telling import JOINT, Telling
from controller.floor.floor_view import Floor, Matter, TableRow, by_pit
from controller.floor.follower import FloorFollower
from controller.floor.page_stream import story_lines
from controller.floor.topics import TablePlace
from controller.table.phases import Phase

STYLES: Final = {"red": "bold red", "amber": "yellow", "plain": "", "quiet": "dim"}
SIGNS: Final = {"red": "■", "amber": "▲", "plain": " ", "quiet": " "}
HEADLINE: Final = {"red": "bold white on red", "amber": "black on yellow", "plain": "bold"}
LONG_AGE: Final = 60_000  # ms: shorter ages are hidden, so that a calm floor does not change
CELL: Final = 30  # columns of a table with its round and its age
SMALL_CELL: Final = 20
MATTERS: Final = 3  # at least every third line is for matters

Line = Text


class FloorScreen:
    """The screen of a floor. With `story` it shows the events at the tables if there is space."""

    def __init__(self, follower: FloorFollower, telling: Telling, *, story: bool) -> None:
        self._follower = follower
        self._floor: Floor = follower.floor
        self._telling = telling
        self._say = telling.say
        self._story = story
        self._is_one_site = False

    def render(self, width: int, height: int) -> Text:
        """Draw the floor in `height` lines or fewer."""
        rows = self._floor.rows
        self._is_one_site = len({row.site for row in rows}) == 1
        head = [*self._head(rows, width)]
        room = max(1, height - len(head))
        grid = self._grid(rows, width, max(1, room - len(self._floor.matters)), max(1, room * (MATTERS - 1) // MATTERS))
        matters = self._matters(rows, width, max(1, room - len(grid)))
        lines = [*head, *matters, *grid]
        if self._story:
            lines += self._happened(width, height - len(lines))
        return Text("\n", no_wrap=True, overflow="ellipsis").join(lines[:height])

    # -- the head and the matters

    def _head(self, rows: Sequence[TableRow], width: int) -> Iterator[Line]:
        sentence, tone = self._telling.headline(self._floor)
        line = Text()
        if rows and all(row.simulated for row in rows):
            line.append(f" {self._say('bar.simulated')} ", "black on yellow")
            line.append(" ")
        line.append(f" {sentence} ", HEADLINE[tone])
        site = f"{rows[0].site}{JOINT}" if self._is_one_site else ""
        line.append(f" {site}{self._say('top.tables', n=len(rows))}")
        yield _cut(line, width)
        for note in self._telling.notes(self._floor):
            yield _cut(Text(note, "yellow"), width)

    def _matters(self, rows: Sequence[TableRow], width: int, room: int) -> list[Line]:
        """Draw a line for each matter, and a second one for the awaited act if all of them fit."""
        found, named = self._floor.matters, {row.key: row for row in rows}
        acts = 2 * len(found) <= room
        shown = found if len(found) <= room else found[: max(0, room - 1)]
        lines: list[Line] = []
        for matter in shown:
            lines.append(_cut(self._matter(matter, named), width))
            if acts and (act := self._telling.act(matter)):
                lines.append(_cut(Text(f"    {act}", "cyan"), width))
        if more := len(found) - len(shown):
            lines.append(Text(self._say("open.more", n=more), "yellow"))
        return lines

    def _matter(self, matter: Matter, named: dict[str, TableRow]) -> Line:
        row = named[matter.row]
        age = self._say.age(self._floor.now_ms, matter.since)
        line = Text(f"{SIGNS[matter.tone]} ", STYLES[matter.tone])
        line.append(f"{row.pit} {row.table}", "bold")
        line.append(f" {age}" if age else "")
        line.append(f"{JOINT}{self._telling.about(matter)}", STYLES[matter.tone])
        return line

    # -- the tables

    def _grid(self, rows: Sequence[TableRow], width: int, roomy: int, least: int) -> list[Line]:
        """Draw the tables in the most detailed form that leaves `roomy` lines for all matters; if none does, in
        `least` lines.
        """
        room, sizes = max(roomy, least), [len(tables) for _, tables in by_pit(rows)]
        forms: tuple[tuple[int, Callable[[Sequence[TableRow], int], list[Line]]], ...] = (
            (1, self._listed),
            (max(1, width // CELL), self._cells),
            (max(1, width // SMALL_CELL), self._small),
        )
        for each, form in forms:
            if sum(1 + ceil(size / each) for size in sizes) <= room:
                return form(rows, width)
        found = self._pits(rows, width)
        if len(found) <= room:
            return found
        return [*found[: room - 1], Text(self._say("open.more", n=len(found) - room + 1), "dim")]

    def _listed(self, rows: Sequence[TableRow], width: int) -> list[Line]:
        """Draw a line for each table."""
        lines: list[Line] = []
        for (site, pit), tables in by_pit(rows):
            lines.append(Text(self._pit(site, pit), "bold"))
            names = max(cell_len(row.table) for row in tables)
            lines += [_cut(self._whole(row, min(names, width // 3)), width) for row in tables]
        return lines

    def _whole(self, row: TableRow, names: int) -> Line:
        table = self._floor.tables[TablePlace(row.site, row.pit, row.table)]
        device = self._say("tile.ready", device=self._say.device(row.device)) if row.device else ""
        report = table.table
        parts = [
            self._state(row),
            "" if row.phase == "closed" or row.trouble == "device" else device,
            row.dealer or self._say("bar.no_dealer"),
            "" if report is None or row.trouble in ("lost", "stopped") else self._telling.speaker(report.next_step),
        ]
        line = Text(f"{SIGNS[row.tone]} {set_cell_size(row.table, names)} {self._round(row):<6} ", STYLES[row.tone])
        line.append(JOINT.join(filter(None, parts)), STYLES[row.tone])
        return line

    def _cells(self, rows: Sequence[TableRow], width: int) -> list[Line]:
        return self._in_cells(rows, width, CELL, lambda row: f"{row.table} {self._round(row)} {self._state(row)}")

    def _small(self, rows: Sequence[TableRow], width: int) -> list[Line]:
        return self._in_cells(rows, width, SMALL_CELL, lambda row: f"{row.table} {self._state(row)}")

    def _in_cells(self, rows: Sequence[TableRow], width: int, cell: int, text: Callable[[TableRow], str]) -> list[Line]:
        lines: list[Line] = []
        for (site, pit), tables in by_pit(rows):
            lines.append(Text(self._pit(site, pit), "bold"))
            for some in batched_rows(tables, max(1, width // cell)):
                line = Text()
                for row in some:
                    line.append(set_cell_size(f"{SIGNS[row.tone]} {text(row)}", cell - 1) + " ", STYLES[row.tone])
                lines.append(_cut(line, width))
        return lines

    def _pits(self, rows: Sequence[TableRow], width: int) -> list[Line]:
        """Draw a line for each pit: the tables that need a person by name, the others by count."""
        lines: list[Line] = []
        for (site, pit), tables in by_pit(rows):
            line = Text(f"{self._pit(site, pit)} ", "bold")
            line.append(f"{self._say('top.tables', n=len(tables))}  ")
            for row in sorted(tables, key=lambda one: one.tone != "red"):
                if row.tone in ("red", "amber"):
                    line.append(f"{SIGNS[row.tone]} {row.table} {self._state(row)}  ", STYLES[row.tone])
            phases = Counter(self._say.phase(row.phase) for row in tables if row.tone in ("plain", "quiet"))
            known = dict.fromkeys([*map(self._say.phase, Phase), *phases])  # in the order of a round
            line.append(", ".join(f"{one} {phases[one]}" for one in known if phases[one]), "dim")
            lines.append(_cut(line, width))
        return lines

    def _pit(self, site: str, pit: str) -> str:
        """Return the pit's name, with its site if there are several sites."""
        return pit if self._is_one_site else f"{site}{JOINT}{pit}"

    def _state(self, row: TableRow) -> str:
        """Return what needs a person apart from irregularities, else the phase, with its age if that is a minute or
        more.
        """
        troubled = row.trouble and row.trouble != "warning"
        word = self._say(f"tile.{row.trouble}") if troubled else self._say.phase(row.phase)
        age = self._say.age(self._floor.now_ms, row.trouble_since if troubled else row.since, LONG_AGE)
        return f"{word} {age}".rstrip()

    def _round(self, row: TableRow) -> str:
        return self._say("tile.round", round=row.round) if row.round else ""

    # -- the story

    def _happened(self, width: int, room: int) -> Iterable[Line]:
        if room < 2:
            return
        yield Text(self._say("story.happened"), "bold")
        found = [line for place in self._floor.tables for line in self._story_of(place)]
        for line in sorted(found, key=lambda one: -one[0])[: room - 1]:
            yield _cut(Text(line[1]), width)

    def _story_of(self, place: TablePlace) -> Iterator[tuple[int, str]]:
        for line in story_lines(self._follower, place, self._telling.speaker):
            yield line.utc_ns, f"{self._telling.time(line.utc_ns, seconds=True)} {line.text}"


def batched_rows(rows: Sequence[TableRow], count: int) -> Iterator[Sequence[TableRow]]:
    return (rows[at : at + count] for at in range(0, len(rows), count))


def _cut(line: Text, width: int) -> Text:
    line.truncate(width, overflow="ellipsis")
    return line
