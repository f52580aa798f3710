"""`cardshoe journal show`, `list`, `stats`, `export` and `follow` while the table is in play."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from controller.commands.journal.days import CasinoClock
from controller.commands.journal.export import follow_from
from controller.commands.journal.journal_options import JournalRequest
from controller.commands.journal.source import Source
from controller.commands.main import main
from controller.daemon.journal_days import find_zone
from controller.journal.folder import JournalFolder
from controller.roles import Role
from controller.table import operations
from tests.end_to_end import fork_server
from tests.journal_commands.conftest import run
from tests.journal_commands.made import BEGAN, SECOND, evening

EVERY_READER = pytest.mark.parametrize(
    "command", ["list", "show 2", "report", "stats", "export", "report --json", "list --json", "show 3 --json"]
)


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


# -- show ----------------------------------------------------------------------------------------------------------


def test_a_round_shows_who_decided_by_which_clause_and_when(folder: Path) -> None:
    printed = lines(run("show", 1, "--journal", folder))
    assert printed[0] == "Round 1 of table BAC-07 (SIMULATED): concluded"
    assert printed[1] == "23 November 2026, 19:00:26 to 19:02:05 (1 min 39 s), UTC; journal entries 25 to 126"
    assert "I12, box 3: a card exposed in dealing (NC 5.7): every bettor chooses" in printed
    confirmed = "confirmed: a card was exposed in dealing (NC 5.7); by pit-supervisor (pit supervisor)"
    assert f"19:01:26 {confirmed}" in printed
    assert "19:01:32 bob at box 3 chooses to withdraw (NC 5.7.3); by dealer (dealer)" in printed
    assert "box 3      ?? ?? ?? out of play, bets returned (NC 5.7.3)" in printed
    assert "face down before" not in "".join(printed), "the withdrawn hand stays as it lies"
    assert "box 1      AC 2C 3C Plain Six, WON against Plain Four, pays half" in printed


def test_a_void_round_shows_reason_author_and_returned_bets(folder: Path) -> None:
    assert (
        "The round is VOID (NC 5.5.1): a card that does not belong to this deck was found. "
        "Entered by pit-supervisor (pit supervisor); all bets were returned."
    ) in lines(run("show", 3, "--journal", folder))


def test_recalled_cards_are_shown_without_a_face(folder: Path) -> None:
    printed = run("show", 2, "--short", "--journal", folder).partition("Recalled cards")[2]
    assert "pit-manager recalls the cards of box 3 from round 2: the player of box 3 disputes the hand" in printed
    assert "Course" not in printed


def test_a_round_in_progress_and_one_that_did_not_begin(folder: Path) -> None:
    assert "The round had not ended when the journal was read." in run("show", 7, "--journal", folder)
    assert "no card was dealt" in run("show", 6, "--journal", folder)


def test_a_missing_round(folder: Path) -> None:
    assert "The journal has no round 99." in run("show", 99, "--journal", folder, code=2)


def test_times_are_those_of_the_zone(folder: Path) -> None:
    assert "24 November 2026, 03:00:26" in run("show", 1, "--journal", folder, "--zone", "Asia/Singapore")
    refused = run("show", 1, "--journal", folder, "--zone", "Atlantis", code=2)
    assert "does not know the time zone 'Atlantis'" in refused


def test_a_round_as_json(folder: Path) -> None:
    found = json.loads(run("show", 1, "--json", "--journal", folder))
    assert [hand["cards"] for hand in found["hands"]][1] == ["??", "??", "??"]
    (irregularity,) = found["irregularities"]
    assert (irregularity["row"], irregularity["clause"], irregularity["outcome"]) == ("I12", "NC 5.7", "options")
    assert (irregularity["decided_by"], irregularity["decided_role"]) == ("pit-supervisor", "pit supervisor")


# -- list ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ([], [1, 2, 3, 4, 5, 6, 7]),
        (["--void"], [3]),
        (["--irregularity", "I12"], [1]),
        (["--irregularity", "wrong distribution"], [2]),
        (["--irregularity", "NC 5.5"], [2, 3]),
        (["--irregularity", "NC 5.7"], [1]),
        (["--person", "shift-manager"], [4]),
        (["--person", "nobody"], []),
        (["--day", "2026-11-22"], []),
        (["--day", "2026-11-23"], [1, 2, 3, 4, 5, 6, 7]),
        (["--from", "2026-11-23T19:05", "--to", "2026-11-23T19:07"], [4, 5]),
        (["--from", "2026-11-23T19:07"], [6, 7]),
        (["--from", "2026-11-24T03:07", "--zone", "Asia/Singapore"], [6, 7]),
        (["--day", "2026-11-23", "--day-begins", "19:02"], [2, 3, 4, 5, 6, 7]),
    ],
)
def test_the_rounds_that_are_asked_for(folder: Path, asked: list[str], found: list[int]) -> None:
    listed = run("list", "--json", "--journal", folder, *asked).splitlines()
    assert [json.loads(line)["round"] for line in listed] == found
    printed = lines(run("list", "--journal", folder, *asked))
    assert [line.split()[0] for line in printed[1:]] == list(map(str, found))


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (["--day", "yesterday"], "'yesterday' is not a day"),
        (["--day", "2026-11-23", "--from", "2026-11-23"], "--day names a whole day"),
        (["--from", "2026-11-24", "--to", "2026-11-23"], "--from is not before --to"),
        (["--day-begins", "25:00"], "--day-begins"),
    ],
)
def test_an_invalid_time(folder: Path, asked: list[str], sentence: str) -> None:
    assert sentence in run("list", "--journal", folder, *asked, code=2)


def test_a_backup_that_is_not_there(tmp_path: Path) -> None:
    assert "There is no backup at" in run("restore", "--check", tmp_path / "nowhere", code=2)


# -- the choice of the journal --------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["list", "show 7", "export --format csv"])
def test_a_running_table_is_read_by_another_process(command: str, folder: Path, tmp_path: Path) -> None:
    """The journal is open, and its last entries are in the write-ahead log."""
    table = evening(tmp_path / "journal")
    try:
        done = fork_server.run("journal", *command.split(), "--journal", str(table.journal.folder), folder=tmp_path)
    finally:
        table.journal.close()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run(*command.split(), "--journal", folder)


@EVERY_READER
def test_copies_of_a_backup_give_the_same_output(command: str, folder: Path, tmp_path: Path) -> None:
    run("backup", tmp_path / "backup", "--journal", folder)
    assert run(*command.split(), "--journal", folder) == run(*command.split(), "--journal", tmp_path / "backup")


def test_a_single_closed_file(folder: Path) -> None:
    first = folder / "000001.journal"
    assert not first.stat().st_mode & 0o222, "it is closed"
    assert len(run("list", "--journal", first).splitlines()) == 4
    assert run("show", 2, "--journal", first) != ""


@pytest.mark.parametrize(
    ("what", "code", "sentence"),
    [("missing", 4, "No such file"), ("empty", 4, "is not a journal"), ("text", 4, "is not a journal")],
)
def test_a_path_that_is_not_a_journal(tmp_path: Path, what: str, code: int, sentence: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("a letter to the casino, longer than a header of a database has to be")
    assert sentence in run("list", "--journal", tmp_path / what, code=code)


def test_the_journal_is_named_once(folder: Path) -> None:
    assert "Name the journal either by its folder or by a configuration." in run("list", code=2)
    assert "Name the journal either by its folder or by a configuration." in run(
        "list", "--journal", folder, "--config", "table.toml", code=2
    )


def test_a_file_that_was_just_begun(tmp_path: Path, folder: Path) -> None:
    table = evening(tmp_path / "journal")
    table.next_file()
    table.journal.close()
    assert (tmp_path / "journal" / "000003.journal").exists()
    for command in ("show 2", "show 5", "list", "list --json"):
        assert run(*command.split(), "--journal", tmp_path / "journal") == run(*command.split(), "--journal", folder)


def test_a_clock_that_was_wrong_for_some_time(tmp_path: Path) -> None:
    """It jumped a year ahead in the middle of round 4 and was corrected. The rest of the day is still found."""
    table = evening(tmp_path / "journal", wrong=range(320, 340))
    table.journal.close()
    listed = run("list", "--json", "--journal", tmp_path / "journal", "--day", "2026-11-23").splitlines()
    assert [json.loads(line)["round"] for line in listed] == [1, 2, 3, 4, 5, 6, 7]


def test_a_round_that_began_while_the_clock_was_wrong_is_shown_to_its_end(tmp_path: Path) -> None:
    table = evening(tmp_path / "journal", wrong=range(290, 340))
    table.journal.close()
    (listed,) = run("list", "--json", "--journal", tmp_path / "journal", "--day", "2027-11-23").splitlines()
    found = json.loads(listed)
    assert (found["round"], found["ending"], found["dealt"]) == (4, "concluded", 2)
    assert [one["outcome"] for one in found["irregularities"]] == ["ruling"]


# -- export --------------------------------------------------------------------------------------------------------


def published(folder: Path) -> list[dict[str, Any]]:
    """Return the events as the API publishes them."""
    found = []
    for decision in JournalFolder[Any, Any].open_to_read(folder).decisions():
        for entry, event in enumerate(decision.events, decision.first + 1):
            head = {"entry": entry, "utc_ns": decision.utc_ns, "round": decision.round}
            found.append({**head, **json.loads(event)})
    return found


def test_json_lines_equal_the_published_events(folder: Path) -> None:
    assert [json.loads(line) for line in run("export", "--journal", folder).splitlines()] == published(folder)


@pytest.mark.parametrize(
    ("entries", "first", "last"), [("100-120", 100, 120), ("500-", 500, 10**9), ("101", 101, 101), ("-30", 1, 30)]
)
def test_a_range_of_entries(folder: Path, entries: str, first: int, last: int) -> None:
    wanted = [event["entry"] for event in published(folder) if first <= event["entry"] <= last]
    exported = run("export", "--journal", folder, "--entries", entries).splitlines()
    assert [json.loads(line)["entry"] for line in exported] == wanted


@pytest.mark.parametrize("entries", ["x", "9-3", "0-3", "1-2-3"])
def test_an_invalid_range(folder: Path, entries: str) -> None:
    assert "is not a range" in run("export", "--journal", folder, "--entries", entries, code=2)


def test_csv_has_the_words_the_person_and_the_event(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("export", "--journal", folder, "--format", "csv"))))
    assert [json.loads(row["json"]) for row in rows] == published(folder)
    (raised,) = (row for row in rows if row["entry"] == "82")
    assert (raised["by"], raised["clause"], raised["place"]) == ("dealer", "NC 5.7", "B3")
    assert raised["words"].startswith("irregularity at box 3")
    assert raised["time"] == "2026-11-23T19:01:21.000+00:00"


def test_a_spreadsheet_takes_no_text_for_a_formula(tmp_path: Path) -> None:
    table = evening(tmp_path / "journal")
    table.do(operations.PauseTable('=HYPERLINK("http://elsewhere","lunch")'))
    table.do(operations.ReportIrregularity("late_bet", note="=1+1"))  # type: ignore[arg-type]  # as a client writes it
    table.journal.close()
    rows = csv.reader(io.StringIO(run("export", "--journal", tmp_path / "journal", "--format", "csv")))
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]


# -- stats and follow ----------------------------------------------------------------------------------------------


def test_the_counts_are_those_of_the_journal(folder: Path) -> None:
    found = json.loads(run("stats", "--json", "--journal", folder))
    assert (found["entries"], found["rounds"], found["files"]) == (published(folder)[-1]["entry"], 7, 2)
    assert found["days"] == {"2026-11-23": 7}
    assert sum(found["events"].values()) == len(published(folder))
    assert found["first_ns"] == BEGAN + 2 * SECOND


class EnoughError(Exception):
    """Raised when the follower has polled often enough."""


def test_a_follower_sees_each_event_once_also_in_the_next_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = evening(tmp_path / "journal")
    begin = table.state.entry
    steps: Iterator[Callable[[], None]] = iter(
        [
            lambda: table.do(operations.PauseTable("a drop of chips")),
            lambda: None,
            lambda: table.do(operations.ResumeTable()),
            table.next_file,
            lambda: table.do(operations.PauseTable("lunch"), Role.PIT_SUPERVISOR),
        ]
    )

    def wait() -> None:
        step = next(steps, None)
        if step is None:
            raise EnoughError
        step()

    asked = JournalRequest(tmp_path / "journal", CasinoClock(find_zone("UTC"), "UTC"))
    with pytest.raises(EnoughError):
        follow_from(Source(tmp_path / "journal"), begin, asked, as_json=True, wait=wait)
    seen = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert seen == [event for event in published(tmp_path / "journal") if event["entry"] > begin]
    assert [event["event"] for event in seen if "reason" in event] == ["table_paused", "table_paused"]
    table.journal.close()


# -- bad input -----------------------------------------------------------------------------------------------------


def test_damage_is_a_sentence_and_leaves_the_file(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "000001.journal"
    shutil.copy(folder / "000001.journal", copy)
    copy.chmod(0o600)
    with sqlite3.connect(copy) as connection:
        connection.execute("DROP TRIGGER decision_update")
        connection.execute("UPDATE decision SET body = x'00' WHERE last > 100")
    connection.close()
    before = copy.read_bytes()
    done = CliRunner().invoke(main, ["journal", "list", "--journal", str(copy)])
    assert done.exit_code == 4
    assert "is damaged" in done.output
    assert copy.read_bytes() == before


# -- languages -----------------------------------------------------------------------------------------------------


PEOPLE_WROTE = re.compile(
    "a visitor looked|so decided|the player of box 3[a-z ]+|it was box 1's neighbour, who [a-z ]+"
)
NAMES = re.compile(r"/\S+|[0-9a-f]{4,}|[a-z]+[_-][a-z_-]+|ruled|dealer|ann|bob|shift manager")


@pytest.mark.parametrize("command", ["show 1", "show 3", "show 4", "show 6", "list", "report", "stats", "verify"])
def test_the_words_for_people_are_in_their_language(folder: Path, command: str) -> None:
    printed = run(*command.split(), "--journal", folder, "--language", "zh-Hans")
    assert re.findall("[a-z]{2,}", NAMES.sub("", PEOPLE_WROTE.sub("", printed))) == []
    assert "2026年11月23日" in printed or command == "verify"


@pytest.mark.parametrize("command", ["show 1", "list", "report", "stats", "verify", "export"])
def test_json_is_the_same_in_every_language(folder: Path, command: str) -> None:
    json_of = [*command.split(), *(["--json"] if command != "export" else []), "--journal", folder]
    assert run(*json_of, "--language", "zh-Hans") == run(*json_of)


def test_the_language_of_the_locale_is_the_default(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert run("show", 3, "--journal", folder).startswith("牌桌 BAC-07 第3局")
