"""The monitor's files: an alarm is not lost, and the right file is named."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import msgspec
import pytest

from controller.daemon.host import HostClock
from controller.problems import BadInputError
from shuffle_audit.commands.monitor import Watching
from shuffle_audit.commands.monitor_files import EventsFile, MetricsFile
from shuffle_audit.following import DeckCame
from shuffle_audit.monitor import Monitor, ShuffleAlarm
from shuffle_audit.monitor_meters import written
from tests.shuffle_audit.decks import shuffled


def alarm_of(source: str = "T-1") -> ShuffleAlarm:
    _, alarm = Monitor(source).take(DeckCame("line 1", shuffled("riffle:1", 1)[0]), 1)
    assert alarm is not None
    return alarm


def kept(file: Path) -> list[tuple[str, bool]]:
    return [(one["source"], one["again"]) for one in map(json.loads, file.read_text().splitlines()[1:])]


def test_alarms_begin_a_line_and_are_marked_if_repeated(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_bytes(b'{"event": "shuffle_al')
    for source in ("T-1", "T-2", "T-1"):
        EventsFile(file).add(alarm_of(source))
    assert kept(file) == [("T-1", False), ("T-2", False), ("T-1", True)]
    others = msgspec.structs.replace(alarm_of("T-1"), evidence_log10=4.0)
    assert not EventsFile(file).add(others).again, "of other decks"


def test_an_alarm_that_cannot_be_written_is_written_later(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Metrics and output still appear."""
    folder, prom = tmp_path / "events", tmp_path / "m.prom"
    folder.mkdir()
    events = EventsFile(folder / "e.jsonl")
    (folder / "e.jsonl").unlink()
    folder.rmdir()
    watching = Watching(Monitor("T-1"), HostClock(), events, MetricsFile(prom, "T-1"), as_json=False)
    watching.take(DeckCame("line 1", shuffled("riffle:1", 1)[0]))
    assert 'cardshoe_shuffle_alarm{source="T-1"} 1.0' in prom.read_text()
    said = capsys.readouterr()
    assert "ALARM: One deck of T-1" in said.out
    sentence = (
        f"cardshoe: {folder / 'e.jsonl'} cannot be written: No such file or directory. The program tries again.\n"
    )
    assert said.err == sentence
    folder.mkdir()
    assert watching.rest(threading.Event(), once=True)
    assert json.loads((folder / "e.jsonl").read_text())["source"] == "T-1"
    watching.rest(threading.Event(), once=True)
    assert len((folder / "e.jsonl").read_text().splitlines()) == 1


def test_metrics_that_cannot_be_written_end_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "metrics"
    folder.mkdir()
    metrics = MetricsFile(folder / "m.prom", "T-1")
    folder.rmdir()
    metrics.write(b"1\n")
    metrics.write(b"2\n")
    sentence = f"cardshoe: {folder / 'm.prom'} cannot be written: No such file or directory. The program tries again.\n"
    assert capsys.readouterr().err == sentence
    folder.mkdir()
    metrics.write(b"3\n")
    assert (folder / "m.prom").read_bytes() == b"3\n"


def test_two_programs_that_write_one_file_of_metrics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, other = tmp_path / "m.prom", tmp_path / "other"
    metrics = MetricsFile(file, "T-1")
    metrics.write(b"1\n")
    metrics.write(b"2\n")
    assert capsys.readouterr().err == ""
    for _ in range(2):
        other.write_bytes(b"another's\n")
        other.replace(file)
        metrics.write(b"3\n")
    sentence = f"cardshoe: {file} is also written by another program. Give each monitor a file of its own.\n"
    assert capsys.readouterr().err == sentence
    assert [path.name for path in tmp_path.iterdir()] == ["m.prom"]


def test_metrics_are_written_once_the_past_has_been_read(tmp_path: Path) -> None:
    prom = tmp_path / "m.prom"
    prom.write_text("of the run before\n")
    good = [DeckCame(f"line {at}", deck) for at, deck in enumerate(shuffled("uniform", 3), start=1)]
    watching = Watching(Monitor("T-1"), HostClock(), None, MetricsFile(prom, "T-1"), as_json=False)
    watching.take(good[0])
    assert prom.read_text() == "of the run before\n"
    watching.rest(threading.Event(), once=True)
    assert 'cardshoe_shuffle_decks_total{source="T-1"} 1.0' in prom.read_text()
    watching.take(good[1])
    assert 'cardshoe_shuffle_decks_total{source="T-1"} 2.0' in prom.read_text()


@pytest.mark.parametrize("name", ["machine.jsonl", 'say "7"\\', "机器"])
def test_two_monitors_of_one_name_are_not_one_series(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    first = MetricsFile(tmp_path / "a.prom", name)
    second = MetricsFile(tmp_path / "b.prom", name)  # nothing is written yet
    first.write(written(Monitor(name), 0))
    first.write(written(Monitor(name), 1))
    assert capsys.readouterr().err == ""
    second.write(written(Monitor(name), 2))
    assert capsys.readouterr().err == (
        f"cardshoe: {tmp_path / 'a.prom'} has the metrics of another monitor of {name}. Give each monitor a name of "
        "its own with --name.\n"
    )
    with pytest.raises(BadInputError, match=r"a\.prom has the metrics of another monitor"):
        MetricsFile(tmp_path / "c.prom", name)
    MetricsFile(tmp_path / "c.prom", f"{name}2")
    (tmp_path / "b.prom").unlink()
    MetricsFile(tmp_path / "a.prom", name)
