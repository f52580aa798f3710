"""A report as one HTML page with plots, which prints on A4 and loads nothing from elsewhere (extra `report`).

The plots are SVG, drawn without a display. The same account gives the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from controller.commands.journal.account import Account
from controller.commands.journal.days import CasinoClock
from controller.commands.journal.report_sections import NOTHING, ReportSection, summary
from controller.commands.pages.page import DARK, Plot, drawn, rendered
from controller.games import GAMES
from controller.games.specification import KINDS, Kind
from controller.language import Speaker
from firmware_bridge.messages import Message, message

FEW_BARS: Final = 12  # fewer bars than this keep the same width
MOST_BARS: Final = 24


def plots_of(account: Account, clock: CasinoClock, say: Speaker) -> list[Plot]:
    """Return the plots that have something to show."""
    made: list[Plot] = []
    if account.hours:
        labels = [f"{clock.local(hour):%H}" for hour in account.hours]
        counts = list(account.hours.values())
        says = message("Rounds begun in each hour, at most {number}.", number=max(counts))
        made.append(_bars(say(message("Rounds begun, by hour")), say(says), labels, counts, say(message("hour"))))
    if account.groups:
        times = Counter[str]()
        words = account.table.words
        for group in account.groups:
            times[say(words.own(KINDS[Kind(group.kind)]))] += len(group.rounds)
        shown = times.most_common(MOST_BARS)
        says = message("Frequencies: {rows:list}.", rows=tuple(f"{name} {count}" for name, count in shown))
        names, counts = [name for name, _ in shown], [count for _, count in shown]
        made.append(_named_bars(say(message("Irregularities, by kind")), say(says), names, counts))
    if any(account.lengths):
        says = message(
            "How long rounds lasted: {least} to {most} seconds.", least=min(account.lengths), most=max(account.lengths)
        )
        heading = message("How long rounds lasted")
        made.append(_histogram(say(heading), say(says), account.lengths, say(message("seconds"))))
    return made


def _bars(title: str, says: str, labels: Sequence[str], counts: Sequence[int], what: str) -> Plot:
    def draw(axes: Axes) -> None:
        axes.bar(range(len(counts)), counts, color=DARK, width=0.7)
        axes.set_xticks(range(len(labels)), labels)
        axes.set_xlim(-0.6, max(len(labels), FEW_BARS) - 0.4)
        axes.set_xlabel(what)

    return Plot(title, says, _drawn(title, draw))


def _named_bars(title: str, says: str, names: Sequence[str], counts: Sequence[int]) -> Plot:
    """Return bars that lie, each with its name at the left and its count at its end."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        bars = axes.barh(range(len(counts)), counts, color=DARK, height=0.7)
        axes.bar_label(bars, padding=3)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(0, max(counts) * 1.1)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))

    return Plot(title, says, drawn(title, draw, (7.2, 0.7 + 0.25 * len(names))))


def _histogram(title: str, says: str, seconds: Sequence[int], what: str) -> Plot:
    def draw(axes: Axes) -> None:
        axes.hist(seconds, bins=20, range=(0, max(seconds)), color=DARK, rwidth=0.9)
        axes.set_xlabel(what)

    return Plot(title, says, _drawn(title, draw))


def _drawn(title: str, draw: Callable[[Axes], None]) -> bytes:
    def draw_counts(figure: Figure) -> None:
        axes = figure.subplots()
        draw(axes)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))

    return drawn(title, draw_counts)


TEMPLATE: Final = Path(__file__).with_name("journal_report.html")


def page_of(
    account: Account, made: Sequence[ReportSection], clock: CasinoClock, say: Speaker, mark: Message | None = None
) -> str:
    """Return the page, with `mark` at its head. Texts of people and devices are escaped."""
    table = account.table
    game = GAMES[table.game].title if table.game in GAMES else table.title
    return rendered(
        TEMPLATE,
        lang=say.language,
        title=say(message("Table {table}, {span}", table=table.name, span=account.span.name)),
        heading=say(message("Table {table}", table=table.name)),
        simulated=say(message("SIMULATED")) if table.simulated else "",
        about=say(message("{game}; {span}; times in {zone}.", game=game, span=account.span.name, zone=clock.zone_name)),
        mark=say(mark or ""),
        summary=say(summary(account)),
        sections=[
            (say(one.title), [say(column) for column in one.columns], [[say(cell) for cell in row] for row in one.rows])
            for one in made
        ],
        plots=plots_of(account, clock, say),
        nothing=say(NOTHING),
        signed_by=[say(message("Shift manager")), say(message("Surveillance")), say(message("Date"))],
    )
