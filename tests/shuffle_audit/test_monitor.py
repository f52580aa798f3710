"""The monitor of a live table: its output after each deck, its alarms, and its files."""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from prometheus_client.parser import text_string_to_metric_families

from shuffle_audit.commands.command import audit
from shuffle_audit.evidence import ShuffleEvidence, ratios_of
from shuffle_audit.face_evidence import FaceEvidence
from shuffle_audit.faces import Faces
from shuffle_audit.following import DeckCame, GrowingFile, GrowingJournal, SourceError, follow
from shuffle_audit.journal_orders import STANDARD
from shuffle_audit.models.named import model_named
from shuffle_audit.models.shuffle_model import LogRatios
from shuffle_audit.monitor import OF_FACES, DeckWatched, Monitor, ShuffleAlarm
from shuffle_audit.monitor_meters import DEFINITIONS, written
from shuffle_audit.order_files import json_line
from shuffle_audit.orders import DeckOrders
from shuffle_audit.shown import ShownFaces, shown_of
from tests.shuffle_audit.decks import NEW_DECK, first_seen, shuffled, without_the_order_in
from tests.shuffle_audit.journals import DealingTable, shuffled_new
from tests.shuffle_audit.machines import MACHINES, decks_of

NOW = 1_795_400_000 * 10**9


def watched(decks: list[DeckOrders], monitor: Monitor) -> tuple[list[DeckWatched], list[ShuffleAlarm]]:
    found = [monitor.take(DeckCame(f"line {at}", deck), NOW + at) for at, deck in enumerate(decks, start=1)]
    return [one for one, _ in found], [alarm for _, alarm in found if alarm is not None]


# -- output and alarms ------------------------------------------------------------------------------------------------


def test_the_evidence_after_each_deck_and_one_alarm_at_the_limit() -> None:
    decks = first_seen(shuffled("shelves:10", 12), 24)
    monitor = Monitor("machine 7")
    lines, alarms = watched(decks, monitor)
    evidence = ShuffleEvidence()
    orders = model_named("shelves:10").shuffle(np.random.default_rng(1), 12, 52)[:, :24].argsort().argsort()
    faces, by_faces = FaceEvidence(), []
    for deck in decks:
        faces.add(shown(deck))
        by_faces.append(math.log(OF_FACES) + faces.log)
    course = np.logaddexp(math.log(1 - OF_FACES) + evidence.add(orders), by_faces) / math.log(10)
    assert [one.evidence_log10 for one in lines] == pytest.approx(list(course))
    assert [one.highest_log10 for one in lines] == pytest.approx(list(np.maximum.accumulate(np.maximum(course, 0))))
    first = int(np.argmax(course >= 3)) + 1
    assert [(one.deck, one.counted, one.where, one.utc_ns) for one in alarms] == [
        (first, first, f"line {first}", NOW + first)
    ]
    assert 1 < first < 12
    assert (alarms[0].likeliest, alarms[0].in_part) == ("a shelf shuffler", first)
    assert "partly known decks do not show how many shelves" in alarms[0].text
    assert (monitor.counted, monitor.last_ns) == (12, NOW + 12)


def shown(deck: DeckOrders) -> Faces:
    found = shown_of([DeckOrders((), deck.after)])
    assert isinstance(found, ShownFaces)
    row: Faces = found.out[0]
    return row


def test_every_bet_on_faces_gains_nothing_on_average() -> None:
    """Over all rotations of a deck each card comes to each place once, as often as under uniform orders. A place that
    is not shown changes nothing.
    """
    values = []
    for turn in range(52):
        evidence = FaceEvidence()
        evidence.add(np.where(np.arange(52) < 30, np.roll(np.arange(52), turn), -1))
        values.append(math.exp(evidence.log))
    assert np.mean(values) == pytest.approx(1.0)
    unseen = FaceEvidence()
    unseen.add(np.full(52, -1))
    assert unseen.log == pytest.approx(0.0)


@pytest.mark.parametrize("known", [24, 52])
def test_a_machine_that_looks_at_faces_raises_the_alarm_without_an_order_in(known: int) -> None:
    """The first card is always a picture. Good decks that come before do not hide it."""
    decks = without_the_order_in(first_seen(decks_of(MACHINES["picture-first"], np.random.default_rng(3), 40), known))
    monitor = Monitor("machine 7")
    lines, alarms = watched([*without_the_order_in(shuffled("uniform", 50)), *decks], monitor)
    assert [(one.likeliest, one.counted > 50) for one in alarms] == [
        ("a machine that looks at faces (a picture at place 1, too often)", True)
    ]
    assert {(one.left_out, one.by_faces) for one in lines} == {("order-in-not-known", True)}
    assert (monitor.counted, monitor.by_faces) == (0, 90)
    good = Monitor("machine 8")
    assert watched(without_the_order_in(first_seen(shuffled("uniform", 200), known)), good)[1] == []
    assert good.highest < 1


def test_a_deck_with_too_few_known_cards_is_evidence_on_faces_like_one_without_an_order_in() -> None:
    """A copied line counts once."""
    decks = first_seen(decks_of(MACHINES["picture-first"], np.random.default_rng(3), 40), 3)
    monitor, without = Monitor("machine 7"), Monitor("machine 7")
    lines, alarms = watched(decks, monitor)
    expected_lines, expected = watched(without_the_order_in(decks), without)
    assert {(one.left_out, one.by_faces) for one in lines} == {("too-few-cards", True)}
    assert [one.evidence_log10 for one in lines] == [one.evidence_log10 for one in expected_lines]
    assert [one.deck for one in alarms] == [one.deck for one in expected] == [15]
    skipping = Monitor("machine 7", skip=1)
    seen = DeckOrders((*NEW_DECK[:3], *["?"] * 49), shuffled("uniform", 1)[0].after)
    again, _ = watched([decks[0], seen, seen], skipping)
    assert [(one.left_out, one.by_faces) for one in again] == [
        ("too-few-cards", False), ("too-few-cards", True), ("too-few-cards", False),
    ]  # fmt: skip
    assert skipping.by_faces == 1


def test_a_deck_that_does_not_count_is_reported_with_its_reason() -> None:
    (whole,) = shuffled("uniform", 1)
    decks = [*without_the_order_in([whole]), *first_seen([whole], 5), whole, DeckOrders(NEW_DECK, NEW_DECK[1:])]
    monitor = Monitor("machine 7", skip=3)
    lines, alarms = watched(decks, monitor)
    spoilt, _ = monitor.take(DeckCame("line 5", None, "not-json", "This is not JSON."), NOW)
    codes = ["order-in-not-known", "too-few-cards", "skipped", "card-missing", "not-json"]
    assert [one.left_out for one in [*lines, spoilt]] == codes
    assert [one.known for one in [*lines, spoilt]] == [52, 5, 52, 0, 0]
    assert spoilt.why == "This is not JSON."
    assert (monitor.decks, monitor.counted, monitor.evidence_log10, alarms) == (5, 0, 0.0, [])
    assert monitor.left_out == dict.fromkeys(codes, 1)


@pytest.mark.parametrize(
    ("small", "skip", "left_out"),
    [({0}, 0, {1}), ({0}, 1, {0}), ({2}, 0, {2}), ({0, 1}, 0, {2}), ({2, 4}, 0, {2, 4}), ({3, 4}, 0, {3, 5})],
)
def test_one_odd_deck_does_not_exclude_all_that_follow(small: set[int], skip: int, left_out: set[int]) -> None:
    """A few decks of 51 cards are among those of 52."""
    decks = [shuffled("uniform", 1, at, 51 if at in small else 52)[0] for at in range(7)]
    lines, _ = watched(decks, Monitor("machine 7", skip=skip))
    assert {line.deck - 1 for line in lines if line.left_out} == left_out
    found = {line.why for line in lines if line.left_out == "mixed-decks"}
    assert all(re.match(r"This deck has 5[12] cards, and the one in line \d, has 5[12]\.$", why) for why in found)


def test_a_repeated_deck_counts_once() -> None:
    """A repeat of six known cards occurs by chance."""
    (whole,) = shuffled("uniform", 1)
    many, few = first_seen([whole], 24), first_seen([whole], 6)
    monitor = Monitor("machine 7")
    lines, _ = watched([whole, whole, *many, *few, *few, *many], monitor)
    assert [line.left_out for line in lines] == ["", "deck-twice", "", "", "", "deck-twice"]
    numbered = Monitor("machine 7")
    taken = [numbered.take(DeckCame("", whole, number=number), NOW)[0] for number in ("1", "2", "2", "", "3")]
    assert [line.left_out for line in taken] == ["", "", "deck-twice", "deck-twice", "deck-twice"]
    assert lines[1].why.startswith("its orders in and out are those of an earlier deck")
    assert (monitor.counted, monitor.left_out["deck-twice"]) == (4, 2)


def test_an_alarm_has_its_meaning_certainty_and_remedy() -> None:
    _, (alarm,) = watched(shuffled("riffle:1", 1), Monitor("T-1", level=1e-4))
    assert alarm.text == (
        "One deck of T-1 speaks against the shuffle. A shuffle that makes every order equally likely ever raises this "
        "alarm with a chance of at most 0.0001, however often one looks: a false alarm is possible. Of the suspected "
        "shuffles, one riffle fits best; another one, which is not among them, may fit better still. "
        "The round in progress is not touched: play it to its end. Then take the shuffler out of service, call its "
        "technician, and keep the decks and these records. A person decides whether the shuffler is bad."
    )
    assert alarm.limit_log10 == pytest.approx(4)


def since_any_deck(ratios: LogRatios) -> LogRatios:
    """Return the evidence after each deck (axis 1) by its formula, one start after another."""
    decks, models = ratios.shape[1:]
    parts = [np.broadcast_to(-np.log(np.arange(2.0, decks + 2)), ratios.shape[:2])]
    for s in range(1, decks + 1):
        part = np.full(ratios.shape[:2], -np.inf)
        course = ratios[:, s - 1 :].cumsum(axis=1)
        part[:, s - 1 :] = np.logaddexp.reduce(course, axis=2) - math.log(s * (s + 1) * models)
        parts.append(part)
    found: LogRatios = np.logaddexp.reduce(np.stack(parts), axis=0)
    return found


def test_the_evidence_is_its_formula_and_begins_with_1() -> None:
    evidence = ShuffleEvidence()
    assert (evidence.log, evidence.lately) == (0, 0)
    orders = model_named("riffle:7").shuffle(np.random.default_rng(4), 30, 52)
    found = np.concatenate([evidence.add(orders[:7]), evidence.add(orders[7:7]), evidence.add(orders[7:])])
    assert found == pytest.approx(since_any_deck(ratios_of(orders)[None])[0])


def test_the_evidence_is_1_on_average_over_all_orders() -> None:
    """The average is over the 576 pairs of orders of two decks of four cards."""
    orders = np.array(list(permutations(range(4))))
    values = [math.exp(ShuffleEvidence().add(np.stack(pair))[-1]) for pair in product(orders, orders)]
    assert np.mean(values) == pytest.approx(1)


def test_a_machine_that_becomes_bad_after_300_good_decks() -> None:
    monitor = Monitor("machine 7")
    _, alarms = watched([*shuffled("uniform", 300, seed=5), *shuffled("shelves:10", 4, seed=6)], monitor)
    assert [(one.deck, one.counted, one.lately, one.in_part) for one in alarms] == [(302, 302, 2, 0)]
    assert alarms[0].text.startswith(
        "Of 302 decks of machine 7 that counted, the last 2 decks speak most against the shuffle. "
    )
    assert re.fullmatch(r"a shelf shuffler with (8|10|15) shelves", alarms[0].likeliest)


@pytest.mark.parametrize("known", [24, 52])
def test_a_good_machine_that_is_examined_after_each_of_60_decks(known: int) -> None:
    """The test has 1,000 tables at a level of 0.05; the decks of all tables are examined together."""
    tables, decks, level = 1_000, 60, 0.05
    orders = model_named("uniform").shuffle(np.random.default_rng(3), tables * decks, known)
    course = since_any_deck(ratios_of(orders).reshape(tables, decks, -1))
    reached = course.max(axis=1) >= -math.log(level)
    assert 0 < reached.mean() <= level + 3 * math.sqrt(level * (1 - level) / tables)
    monitor = Monitor("table 1", level)
    for deck in orders[:decks]:
        names = [f"c{card}" for card in range(known)]
        monitor.take(DeckCame("", DeckOrders(tuple(names), tuple(names[card] for card in deck))), NOW)
    assert (monitor.alarm is not None) == reached[0]


# -- sources ----------------------------------------------------------------------------------------------------------


def test_lines_of_a_file_come_as_they_end(tmp_path: Path) -> None:
    file = tmp_path / "decks.jsonl"
    first, second = map(json_line, shuffled("uniform", 2))
    file.write_bytes(b"\xef\xbb\xbf" + first + b"\n" + second[:-1])
    source = GrowingFile(file)
    assert [came.where for came in source.look()] == ["line 1"]
    assert list(source.look()) == []
    assert source.unfinished == "line 3"
    with file.open("ab") as out:
        out.write(b"\n\xff\n{\n" + b'{"before": ["a"], "after": ["a"]}\n' + first)
    found = list(source.look())
    assert [(one.where, one.code) for one in found] == [
        ("line 3", ""), ("line 4", "not-text"), ("line 5", "not-json"), ("line 6", ""), ("line 7", ""),
    ]  # fmt: skip
    assert [one.deck is None for one in found] == [False, True, True, False, False]
    assert source.unfinished == ""


@pytest.mark.parametrize("how", ["shortened", "replaced"])
def test_a_file_that_was_replaced(how: str, tmp_path: Path) -> None:
    file = tmp_path / "decks.jsonl"
    content = b"".join(map(json_line, shuffled("uniform", 2)))
    file.write_bytes(content)
    source = GrowingFile(file)
    assert len(list(source.look())) == 2
    if how == "shortened":
        file.write_bytes(content[:-1])
    else:
        (tmp_path / "other").write_bytes(content)
        (tmp_path / "other").replace(file)
    with pytest.raises(SourceError, match="was replaced or shortened"):
        list(source.look())


def test_decks_of_a_journal_come_when_their_rounds_are_over(tmp_path: Path) -> None:
    """A file that is begun meanwhile is read too. Reading again from the beginning gives the same decks."""
    table = DealingTable(tmp_path / "journal")
    source = GrowingJournal(tmp_path / "journal", STANDARD)
    first, second = shuffled_new("uniform", 2)
    assert (source.name, list(source.look())) == ("BAC-07", [])
    name = table.bring_new()
    table.begin(name, first)
    assert list(source.look()) == []
    table.finish()
    table.take_out(name)
    (one,) = source.look()
    assert one.deck is not None
    assert one.deck.before == STANDARD
    table.next_file()
    name = table.bring_new()
    table.play(name, second)
    (two,) = source.look()
    assert list(source.look()) == []
    assert (one.where, two.where) == ("round 1", "round 2")
    assert one.utc_ns < two.utc_ns
    assert list(GrowingJournal(tmp_path / "journal", STANDARD).look()) == [one, two]
    table.journal.close()


def test_following_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    file = tmp_path / "decks.jsonl"
    lines = list(map(json_line, shuffled("uniform", 3)))
    file.write_bytes(lines[0])
    taken: list[str] = []

    def wait() -> bool:
        with file.open("ab") as out:
            out.write(lines[len(taken)] if len(taken) < 3 else b"")
        return len(taken) == 3

    def take(came: DeckCame) -> bool:
        taken.append(came.where)
        return len(taken) == 5

    follow(GrowingFile(file), take, wait)
    assert taken == ["line 1", "line 2", "line 3"]
    follow(GrowingFile(file), take, wait)
    assert taken[3:] == ["line 1", "line 2"]


# -- metrics ----------------------------------------------------------------------------------------------------------


def samples(text: str) -> dict[tuple[str, str], float]:
    return {
        (one.name, one.labels.get("code", "")): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def test_metrics_have_their_definitions_and_values() -> None:
    monitor = Monitor('the "new" one')
    before = samples(written(monitor, NOW).decode())
    assert {name for name, _ in before} == {one.name for one in DEFINITIONS}
    assert before["cardshoe_shuffle_last_deck_timestamp_seconds", ""] == 0
    watched([*shuffled("riffle:1", 2), *without_the_order_in(shuffled("cut", 1))], monitor)
    text = written(monitor, NOW).decode()
    assert r'source="the \"new\" one"' in text
    found = samples(text)
    assert found["cardshoe_shuffle_alarm", ""] == 1
    assert found["cardshoe_shuffle_decks_total", ""] == 2
    assert found["cardshoe_shuffle_decks_left_out_total", "order-in-not-known"] == 1
    assert found["cardshoe_shuffle_evidence_log10", ""] == pytest.approx(monitor.evidence_log10)
    assert found["cardshoe_shuffle_evidence_limit_log10", ""] == 3
    assert found["cardshoe_shuffle_monitor_timestamp_seconds", ""] == NOW / 1e9


@pytest.mark.tool("promtool")
def test_promtool_accepts_the_file() -> None:
    monitor = Monitor("table 7")
    watched(shuffled("riffle:1", 1), monitor)
    done = subprocess.run(["promtool", "check", "metrics"], input=written(monitor, NOW), capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*arguments: str) -> Result:
    """Run a command, and restore the signal handlers afterwards."""
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    done = CliRunner().invoke(audit, ("monitor", *arguments), prog_name="cardshoe audit")
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    return done


def test_lines_for_people_and_the_exit_code() -> None:
    decks = [*without_the_order_in(shuffled("cut", 1)), *first_seen(shuffled("riffle:1", 1), 24), *shuffled("cut", 1)]
    decks += first_seen(shuffled("cut", 1), 3)
    Path("m.jsonl").write_bytes(b"".join(map(json_line, decks)))
    done = call("m.jsonl", "--once", "--name", "machine 7")
    assert (done.exit_code, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert re.fullmatch(
        r"deck 1 \(line 1\): order in not known, 52 cards, by their faces alone; evidence \S+, highest \S+, "
        "limit 1,000.00",
        lines[0],
    )
    assert re.fullmatch(
        r"deck 2 \(line 2\): 24 of 52 cards known; evidence ([\d,]+|more than a billion), highest \1, limit 1,000.00",
        lines[1],
    )
    assert lines[2].startswith("ALARM: One deck of machine 7 speaks against the shuffle. ")
    assert lines[3].startswith("deck 3 (line 3): 52 cards; evidence ")
    by_faces = "3 of 52 cards known before and after, too few for their order, by their faces alone"
    assert lines[4].startswith(f"deck 4 (line 4): {by_faces}; evidence ")
    assert len(lines) == 5


def test_without_a_countable_deck_there_is_no_verdict() -> None:
    first, second = map(json_line, shuffled("uniform", 2))
    Path("m.jsonl").write_bytes(first + second[:-1])
    done = call("m.jsonl", "--once", "--skip", "1")
    assert done.exit_code == 2
    assert done.stderr == (
        "cardshoe: Line 2 has no end yet and was not read.\n"
        "cardshoe: No deck of m.jsonl counted: nothing can be said about the shuffle.\n  Left out: 1 skipped.\n"
    )
    assert call("m.jsonl", "--once").exit_code == 0
    Path("m.jsonl").write_bytes(b"")
    empty = call("m.jsonl", "--once")
    assert (empty.exit_code, empty.stderr.splitlines()[1]) == (2, "  There was no deck.")


def test_a_machine_that_repeats_itself_is_not_a_good_one() -> None:
    deck = json_line(shuffled("uniform", 1)[0])
    Path("m.jsonl").write_bytes(deck * 3)
    done = call("m.jsonl", "--once")
    assert (done.exit_code, done.stderr.splitlines()[0]) == (
        2, "cardshoe: 2 decks of m.jsonl have the same orders as an earlier one.",
    )  # fmt: skip
    Path("m.jsonl").write_bytes(b"".join(deck.replace(b"{", b'{"deck":%d,' % number) for number in (1, 2, 3)))
    assert call("m.jsonl", "--once").exit_code == 0


def test_events_are_appended_and_metrics_replaced() -> None:
    Path("m.jsonl").write_bytes(json_line(shuffled("riffle:1", 1)[0]))
    options = ("m.jsonl", "--once", "--json", "--events", "events.jsonl", "--metrics", "m.prom")
    Path("m.prom").write_text("what was there")
    first = call(*options)
    watched_line, alarm = map(json.loads, first.stdout.splitlines())
    assert (watched_line["event"], alarm["event"]) == ("deck_watched", "shuffle_alarm")
    call(*options)
    kept = [json.loads(line) for line in Path("events.jsonl").read_text().splitlines()]
    assert kept[0] == alarm
    assert [(one["deck"], one["again"]) for one in kept] == [(1, False), (1, True)]
    assert samples(Path("m.prom").read_text())["cardshoe_shuffle_alarm", ""] == 1
    assert sorted(path.name for path in Path().iterdir()) == ["events.jsonl", "m.jsonl", "m.prom"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("gone.jsonl",), 2, "gone.jsonl cannot be used: No such file or directory."),
        (("m.csv",), 2, "m.csv is not a file that a bench appends to; such files end with .jsonl or .ndjson."),
        (("m.jsonl", "--new-deck", "standard"), 2, "A file of decks has the order that went in."),
        (("m.jsonl", "--metrics", "gone/m.prom"), 2, "gone/m.prom cannot be written: No such file or directory."),
        (("m.jsonl", "--events", "gone/e.jsonl"), 2, "gone/e.jsonl cannot be written: No such file or directory."),
        (("m.jsonl", "--events", "./m.jsonl"), 2, "SOURCE, --events and --metrics name the same file."),
        (("m.jsonl", "--events", "m.csv"), 2, "m.csv has lines that are not alarms."),
        (("m.jsonl", "--events", "folder"), 2, "Invalid value for '--events'"),
        (("m.jsonl", "--events", "/dev/null"), 2, "/dev/null is not a file."),
        (("m.jsonl", "--metrics", "m.csv"), 2, "The name of a metrics file ends with .prom; m.csv does not."),
        (("m.jsonl", "--metrics", "null.prom"), 2, "null.prom is not a file."),
        (("folder",), 4, "folder"),
    ],
)
def test_unusable_input_is_refused(arguments: tuple[str, ...], code: int, said: str) -> None:
    for name in ("m.jsonl", "m.csv"):
        Path(name).write_bytes(json_line(shuffled("uniform", 1)[0]))
    Path("folder").mkdir()
    Path("null.prom").symlink_to("/dev/null")
    before = {path: path.read_bytes() for path in Path().glob("m.*")}
    done = call(*arguments, "--once")
    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr
    assert {path: path.read_bytes() for path in Path().glob("m.*")} == before
