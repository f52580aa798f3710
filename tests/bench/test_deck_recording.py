"""Decks of simulated shufflers that a bench records: the content of the file, and what stops the recording."""

from __future__ import annotations

import asyncio
import math
import re
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
import pytest_mock
from click.testing import CliRunner
from msgspec.structs import replace

from controller.problems import BadInputError, DeviceProblemError, ProblemError
from firmware_bridge.capabilities import Capabilities
from firmware_bridge.cards import DECK
from shuffle_audit.commands.command import audit
from shuffle_audit.evidence import ShuffleEvidence
from shuffle_audit.orders import DeckOrders, orders_of_decks
from shuffle_audit.procedures import examine
from simulators.bench.command import bench
from simulators.bench.deck_recording import DeckRecording, RecordingError, name_of, record_decks
from simulators.devices.armed_faults import ArmedFault
from simulators.devices.base import LoggedReport, Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.people.bench_person import BenchPerson
from simulators.ports import in_process
from tests.bench.promised import in_virtual_time
from tests.end_to_end.processes import Child

NEW = tuple(name_of(card) for card in DECK)
URL = "sim:///shuffler?seed=7"
SERIAL = in_process.simulated_serial("shuffler")
KEYS = {SERIAL: in_process.simulated_key(SERIAL)}
LEAST = 1e-4  # the chance of a false alarm at which a shuffler fails


def decks_in(file: Path) -> list[DeckOrders]:
    return [msgspec.json.decode(line, type=DeckOrders) for line in file.read_bytes().splitlines()]


# -- over a pseudo-terminal, in separate processes -------------------------------------------------------------------


@pytest.fixture
async def start() -> AsyncIterator[Callable[..., Child]]:
    """Yield a function that starts processes which end with the test."""
    started: list[Child] = []

    def make(module: str, *arguments: str) -> Child:
        started.append(Child(module, *arguments))
        return started[-1]

    yield make
    for child in started:
        child.abandon()


@pytest.mark.parametrize(("model", "fails"), [("shelves:10", True), ("uniform", False)])
async def test_a_shuffler_is_audited_by_its_recorded_decks(
    model: str, fails: bool, start: Callable[..., Child], tmp_path: Path
) -> None:
    """Ten shelves fail by two decks, with each method. For a fair shuffle two decks are too few for a verdict."""
    keys, file = str(tmp_path / "keys"), tmp_path / "decks.jsonl"
    device = start(
        "controller", "simulate", "--load", "--person", "--fast", "--no-console", "--shuffle", model,
        "--link", str(tmp_path / "device"), "--key-file", keys,
    )  # fmt: skip
    url = await device.until(lambda: device.out[:1])
    recording = start(
        "simulators.bench.command", "--device", *url, "--device-keys", keys, "--shuffles", "2", "--decks", str(file)
    )
    assert await recording.ended() == 0, recording.err
    assert recording.out == [f"2 decks are in {file}."]
    decks = decks_in(file)
    assert (decks[0].before, decks[1].before) == (NEW, decks[0].after)
    orders = orders_of_decks(decks)
    evidence = ShuffleEvidence()
    evidence.add(orders)
    assert (min(one.adjusted for one in examine(orders)) < LEAST) is fails
    assert (evidence.log > -math.log(LEAST)) is fails
    audited = CliRunner().invoke(audit, ["run", str(file)])
    assert (audited.exit_code, audited.output.split(":")[0]) == ((1, "BAD") if fails else (2, "NO VERDICT"))


# -- in memory, without waiting ---------------------------------------------------------------------------------------

Prepare = Callable[[SimulatedDevice], None]
ABLE = full_capabilities("shuffler")


def record(
    monkeypatch: pytest.MonkeyPatch, asked: DeckRecording, prepare: Prepare = lambda device: None, *,
    person: bool = True, capabilities: Capabilities = ABLE, kind: Any = "shuffler",
) -> list[str]:  # fmt: skip
    """Record decks from a simulated shuffler with a person who operates it. Return the output."""
    said: list[str] = []

    def make(*_: object) -> SimulatedDevice:
        people: list[BenchPerson] = []

        def see(line: LoggedReport) -> None:
            for one in people:
                one.see(line)

        device = SimulatedDevice(
            Profile(kind, SERIAL, capabilities),
            key=KEYS[SERIAL], random=Random(7), fresh=Random(8), clock=asyncio.get_running_loop().time, pace=Tempo(0),
            log=see,
        )  # fmt: skip
        if person:
            people.append(BenchPerson(device.mechanism, asyncio.get_running_loop().call_soon))
        prepare(device)
        device.mechanism.load(list(DECK), deck=1)
        return device

    monkeypatch.setattr(in_process, "_make", make)

    async def run() -> None:
        await record_decks(URL, KEYS, {}, asked, said.append)

    in_virtual_time(run)
    return said


@pytest.mark.parametrize("on_removal", [False, True])
def test_decks_are_kept_with_their_order_in(on_removal: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """This includes a device that forms sets of three itself and leaves one card over."""
    file = tmp_path / "decks"
    able = full_capabilities("shuffler", on_removal=on_removal)
    said = record(monkeypatch, DeckRecording(3, file, goes_on=False, turned=False), capabilities=able)
    decks = decks_in(file)
    assert [deck.before for deck in decks] == [NEW, decks[0].after, decks[1].after]
    assert all(sorted(deck.after) == sorted(NEW) for deck in decks)
    assert "10H" in decks[0].after
    assert said[:4] == [
        "Deck 1 is assumed to be in the device as a new one: clubs, diamonds, hearts, spades, each from ace to king, "
        "the ace of clubs on top. If it is not, stop now.",
        "Deck 1 of 3 is dealt out. Lift each set, and keep the order of the cards.",
        "Deck 1 of 3 is kept.",
        "Put it in again, with the card that came first on top.",
    ]
    assert said[-1] == "Deck 3 of 3 is kept."


def test_a_later_run_continues_with_turned_decks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "decks"
    record(monkeypatch, DeckRecording(1, file, goes_on=False, turned=False))
    said = record(monkeypatch, DeckRecording(2, file, goes_on=True, turned=True, run="b"))
    assert said[0] == (
        f"Deck 1 is assumed to be in the device as the last one of {file} came out, reversed. If it is not, stop now."
    )
    decks = decks_in(file)
    assert [deck.before for deck in decks] == [NEW, decks[0].after[::-1], decks[1].after[::-1]]
    numbers = [msgspec.json.decode(line)["deck"] for line in file.read_bytes().splitlines()]
    assert numbers == [f"{SERIAL} {run}" for run in ("1 1", "b 1", "b 2")]


def test_a_later_run_with_a_new_deck_warns_of_existing_decks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "decks"
    record(monkeypatch, DeckRecording(1, file, goes_on=False, turned=False))
    said = record(monkeypatch, DeckRecording(1, file, goes_on=False, turned=False))
    assert said[0] == f"{file} already has decks, the last one in line 1. The new ones follow them."


def armed(*faults: ArmedFault) -> Prepare:
    def arm(device: SimulatedDevice) -> None:
        device.mechanism.faults.named += faults

    return arm


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (ArmedFault("missing-card", 9), "The device counted 51 cards, 1 missing."),
        (ArmedFault("extra-card", 9), "The device counted 53 cards, 1 extra."),
        (ArmedFault("duplicate-card", 9), "The device counted 52 cards, 1 duplicate."),
        (ArmedFault("unreadable", 9), "The device counted 52 cards, 1 unreadable."),
        (ArmedFault("jam", 9), "The device reported: jammed."),
        (ArmedFault("drop", 9), "Card 7 came after card 5."),
        (ArmedFault("unseen-card", 9), "The device refuses to form a set: empty."),
        (ArmedFault("reset", 9), "The device has been silent for 3 s."),
    ],
    ids=lambda value: value.name if isinstance(value, ArmedFault) else "",
)
def test_a_deck_with_a_mishap_is_not_kept(
    fault: ArmedFault, why: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "decks"
    with pytest.raises(RecordingError) as stopped:
        record(monkeypatch, DeckRecording(2, file, goes_on=False, turned=False), armed(fault))
    assert str(stopped.value) == f"Deck 1 of 2 is not kept. {why}"
    assert stopped.value.hint.startswith("Put a new deck in: clubs, diamonds")
    assert decks_in(file) == []


def test_a_set_that_no_one_lifts_ends_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "decks"
    with pytest.raises(RecordingError, match=re.escape("not kept. The set was not lifted within 120 s")):
        record(monkeypatch, DeckRecording(2, file, goes_on=False, turned=False), person=False)


def test_a_deck_that_no_one_puts_in_again_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def leave_it(device: SimulatedDevice) -> None:
        load = device.mechanism.load
        monkeypatch.setattr(device.mechanism, "load", lambda cards, deck=None: load(cards, deck) if deck else None)

    file = tmp_path / "decks"
    with pytest.raises(RecordingError, match=re.escape("Deck 1 of 2 is kept. It was not put in again within 120 s")):
        record(monkeypatch, DeckRecording(2, file, goes_on=False, turned=False), leave_it)
    assert len(decks_in(file)) == 1


def test_a_device_without_a_fresh_deck_is_not_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def empty(device: SimulatedDevice) -> None:
        monkeypatch.setattr(device.mechanism, "load", lambda cards, deck=None: None)

    with pytest.raises(RecordingError, match="The device refuses to shuffle: no fresh deck") as stopped:
        record(monkeypatch, DeckRecording(1, tmp_path / "decks", goes_on=False, turned=False), empty)
    assert stopped.value.hint.endswith("the ace of clubs on top, and begin again.")


@pytest.mark.parametrize(
    ("kind", "capabilities", "why"),
    [
        ("shoe", full_capabilities("shoe"), "It does not shuffle."),
        ("shuffler", replace(ABLE, recognises_cards=False), "It does not read its cards."),
        ("shuffler", replace(ABLE, senses_tray=False), "It does not notice when a set is lifted."),
    ],
)
def test_a_device_without_the_needed_capabilities_is_not_recorded(
    kind: str, capabilities: Capabilities, why: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = DeckRecording(1, tmp_path / "decks", goes_on=False, turned=False)
    with pytest.raises(RecordingError) as refused:
        record(monkeypatch, asked, capabilities=capabilities, kind=kind)
    assert str(refused.value) == f"The decks of {SERIAL} cannot be recorded. {why}"


@pytest.mark.parametrize("written", [b"", b"no deck\n", b'{"before": [], "after": ["AS", "AS"]}\n'])
def test_a_run_cannot_continue_without_a_whole_deck(
    written: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "decks"
    file.write_bytes(written)
    with pytest.raises(RecordingError, match="decks is not a whole deck: "):
        record(monkeypatch, DeckRecording(1, file, goes_on=True, turned=False))


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--shuffles", "2"], "Decks are recorded with --shuffles and --decks."),
        (["--decks", "decks"], "Decks are recorded with --shuffles and --decks."),
        (["--turned"], "Decks are recorded with --shuffles and --decks."),
        (["--shuffles", "2", "--decks", "decks.jsonl", "--strict"], "--shuffles runs no tests."),
        (["--shuffles", "2", "--decks", "decks.jsonl"], "At sim:///shuffler there is no person who lifts the sets."),
    ],
)
def test_incompatible_options_are_refused(words: list[str], sentence: str) -> None:
    with pytest.raises(BadInputError) as refused:
        bench.main(words, standalone_mode=False)
    assert str(refused.value) == sentence
    assert refused.value.hint


def test_a_missing_device_is_reported_in_one_sentence(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.touch(mode=0o600)
    device = ["--device", f"serial://{tmp_path}/none", "--device-keys", str(keys)]
    result = CliRunner().invoke(bench, [*device, "--shuffles", "2", "--decks", str(tmp_path / "decks.jsonl")])
    assert result.exit_code == DeviceProblemError.exit_code
    assert "cannot be put on the bench" in result.output
    assert not (tmp_path / "decks.jsonl").exists()


def test_decks_are_written_as_the_audit_reads_them(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.touch(mode=0o600)
    device = ["--device", "tcp://127.0.0.1:1/", "--device-keys", str(keys)]
    result = CliRunner().invoke(bench, [*device, "--shuffles", "2", "--decks", str(tmp_path / "decks.csv")])
    assert result.exit_code == BadInputError.exit_code
    assert "decks.csv is not a file for decks.\n  Name one that ends with .jsonl or .ndjson." in result.output
    assert not (tmp_path / "decks.csv").exists()


def test_a_missing_numpy_is_one_sentence(mocker: pytest_mock.MockerFixture, tmp_path: Path) -> None:
    mocker.patch.dict(sys.modules, {"simulators.bench.deck_recording": None})
    keys = tmp_path / "keys"
    keys.touch(mode=0o600)
    device = ["--device", "tcp://127.0.0.1:1/", "--device-keys", str(keys)]
    result = CliRunner().invoke(bench, [*device, "--shuffles", "2", "--decks", "decks.jsonl"])
    assert result.exit_code == ProblemError.exit_code
    assert "/requirements-report.txt`." in result.output
