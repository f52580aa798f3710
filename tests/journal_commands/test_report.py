"""`cardshoe journal report`: its numbers agree with the rounds, and the page loads and runs nothing."""

from __future__ import annotations

import base64
import json
import re
import sys
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import pytest

from controller.games.specification import Kind
from controller.journal.file import connect_reader
from controller.journal.signing import fingerprint
from controller.table import operations
from controller.table.inputs import DeviceConnected
from tests.journal_commands.conftest import run
from tests.journal_commands.made import IDENTITY, SIGNER, JournaledTable, evening

pytestmark = pytest.mark.usefixtures("fonts")


class Page(HTMLParser):
    """The elements that a browser acts on, and the text of each table."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.headings: list[str] = []
        self.cells: list[str] = []
        self._in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action", "data")]
        assert not [name for name, _ in attrs if name.startswith("on")]
        self._in = tag

    def handle_data(self, data: str) -> None:
        if self._in == "h2":
            self.headings.append(data.strip())
        elif self._in == "td":
            self.cells.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._in = ""


def sections_of(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part in text.split("\n\n")[1:]:
        title, *rows = part.splitlines()
        found[title] = [" ".join(row.split()) for row in rows]
    return found


def test_the_sections_of_an_evening(folder: Path) -> None:
    text = run("report", "--journal", folder)
    assert text.splitlines()[0].endswith(": 6 rounds, 1 void; 8 hands; 4 irregularities.")
    found = sections_of(text)
    assert "VOID 1" in found["Rounds"]
    assert {"won 5", "lost 0", "tied 0"} <= set(found["Rounds"])
    assert "the house lost by the settled wagers 205" in found["Rounds"]
    assert found["Void rounds"][1] == (
        "3 19:04:44 NC 5.5.1 pit-supervisor (pit supervisor) a card that does not belong to this deck was found"
    )
    assert (
        "I12 NC 5.7 1 0 1 every bettor has chosen a card exposed in dealing; rounds: 1"
        in found["Irregularities by clause"]
    )
    decided = found["Irregularities by the person who decided"]
    assert "shift-manager (shift manager) 1 by a ruling" in decided
    assert any(row.startswith("pit-supervisor (pit supervisor) 1 every bettor has chosen") for row in decided)
    assert found["Not decided"] == ["None."]
    noted = found["Corrections, recalled cards, decks, journal, the program in the device"]
    assert [row.split()[2] for row in noted[1:]] == ["289", "302", "444"]
    assert "pit-manager pit manager 1 0 0 0 1 0 0" in found["People"]


def test_a_device_that_has_shown_its_program_is_noted(tmp_path: Path) -> None:
    """A device that was not asked for its program is not."""
    table = JournaledTable(tmp_path / "journal")
    table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
    table.connect()
    table.lose_link()
    table.give(DeviceConnected(table.device.identity, table.device.status, image="ab" * 32))
    table.journal.close()
    noted = sections_of(run("report", "--journal", table.journal.folder))[
        "Corrections, recalled cards, decks, journal, the program in the device"
    ]
    assert [row.endswith("it runs the approved program abababababababab") for row in noted[1:]] == [True]


def test_the_head_is_the_one_that_covers_the_time(folder: Path) -> None:
    """A person who notes it can compare the journal with it later."""
    whole = json.loads(run("report", "--json", "--journal", folder))
    number, _, hash_ = whole["head"]["head"].partition(":")
    assert (whole["head"]["good"], _ends(folder)[int(number)]) == (True, hash_)
    assert int(number) < whole["last"], "a round is in progress"
    early = json.loads(run("report", "--json", "--journal", folder, "--to", "2026-11-23T19:01"))
    assert int(early["head"]["head"].partition(":")[0]) == 126, "the end of round 1"
    assert early["last"] <= 126
    assert whole["head"]["key"] == fingerprint(SIGNER.public_key)


def _ends(folder: Path) -> dict[int, str]:
    """Return the hash of each decision by its last entry."""
    found: dict[int, str] = {}
    for path in sorted(folder.glob("*.journal")):
        with closing(connect_reader(path)) as connection:
            found |= {last: hash_.hex() for last, hash_ in connection.execute("SELECT last, hash FROM decision")}
    return found


def test_rounds_and_irregularities_agree_with_the_list(folder: Path) -> None:
    report = json.loads(run("report", "--json", "--journal", folder))
    listed = [json.loads(line) for line in run("list", "--json", "--journal", folder).splitlines()]
    assert sum(report["rounds"].values()) == len(listed)
    assert sum(len(group["rounds"]) for group in report["irregularities"]) == sum(
        len(one["irregularities"]) for one in listed
    )
    assert [one["round"] for one in report["voids"]] == [one["round"] for one in listed if one["void"]]


def test_a_shift_counts_the_rounds_that_began_in_it(folder: Path) -> None:
    shifts = [
        json.loads(run("report", "--json", "--journal", folder, *span))
        for span in (["--to", "2026-11-23T19:05"], ["--from", "2026-11-23T19:05"])
    ]
    whole = json.loads(run("report", "--json", "--journal", folder))
    for number in ("hands", "refused", "removed"):
        assert sum(shift[number] for shift in shifts) == whole[number]
    assert shifts[0]["last"] < shifts[1]["first"]


def test_a_day_on_which_nothing_happened(folder: Path) -> None:
    found = sections_of(run("report", "--journal", folder, "--day", "2020-01-01"))
    assert found["Irregularities by clause"] == ["None."]
    assert "rounds 0" in found["Rounds"]


# -- the page ------------------------------------------------------------------------------------------------------


def page_of(folder: Path, at: Path, *more: str) -> tuple[str, Page]:
    run("report", "--journal", folder, "--html", at, *more)
    text = at.read_text("utf-8")
    page = Page()
    page.feed(text)
    return text, page


def test_the_page_has_every_section_and_cell_of_the_text(folder: Path, tmp_path: Path) -> None:
    _, page = page_of(folder, tmp_path / "report.html")
    text = run("report", "--journal", folder)
    assert page.headings == list(sections_of(text))
    cells = {cell for cell in page.cells if cell.strip()}
    assert len(cells) > 50
    assert not [cell for cell in cells if " ".join(cell.split()) not in " ".join(text.split())]


def test_nothing_is_loaded_and_nothing_runs(folder: Path, tmp_path: Path) -> None:
    text, page = page_of(folder, tmp_path / "report.html")
    assert {link.partition(",")[0] for link in page.links} == {"data:image/svg+xml;base64"}
    assert "script" not in page.tags
    assert "@import" not in text
    assert "url(" not in text
    assert "default-src 'none'" in text
    for link in page.links:
        svg = base64.b64decode(link.partition(",")[2]).decode()
        assert not re.findall(r'(?:href|src)="(?!#)', svg)
        assert "<script" not in svg


def test_the_plots_have_words_for_those_who_cannot_see_them(folder: Path, tmp_path: Path) -> None:
    text, _ = page_of(folder, tmp_path / "report.html")
    found = re.search(r'alt="Frequencies: (.*?)\."', text)
    assert found is not None
    assert "a card exposed in dealing 1" in found[1].split(", ")
    assert not re.search(r"\bI\d\d\b", found[1])
    assert text.count("<img") == 3


def test_the_same_report_is_the_same_page(folder: Path, tmp_path: Path) -> None:
    assert page_of(folder, tmp_path / "1.html")[0] == page_of(folder, tmp_path / "2.html")[0]


def test_peoples_text_is_escaped(tmp_path: Path) -> None:
    table = evening(tmp_path / "journal")
    table.report(Kind.DROPPED_CARD, "B1", note="<script>alert(1)</script><img src=x onerror=alert(2)>")
    table.do(operations.QuarantineDeck("", "<b>marked</b> & bent"))
    table.journal.close()
    text, page = page_of(tmp_path / "journal", tmp_path / "report.html")
    assert "script" not in page.tags
    assert "b" not in page.tags
    assert "&lt;b&gt;marked&lt;/b&gt; &amp; bent" in text


def test_the_page_is_in_the_language_of_the_reader(folder: Path, tmp_path: Path) -> None:
    text, page = page_of(folder, tmp_path / "report.html", "--language", "zh-Hans")
    assert '<html lang="zh-Hans">' in text
    assert page.headings[0] == "局数"
    assert "2026年11月23日" in text
    assert '<html lang="en">' in page_of(folder, tmp_path / "english.html")[0]


def test_without_the_extra_the_text_remains(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("controller.commands.journal.report_html", "controller.commands.pages.page"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    refused = run("report", "--journal", folder, "--html", tmp_path / "report.html", code=1)
    assert "A page cannot be made" in refused
    assert "/requirements-report.txt`." in refused
    assert not (tmp_path / "report.html").exists()
    assert run("report", "--journal", folder)


def test_a_place_that_cannot_be_written(folder: Path, tmp_path: Path) -> None:
    assert "cannot be written" in run("report", "--journal", folder, "--html", tmp_path / "no" / "folder.html", code=2)
