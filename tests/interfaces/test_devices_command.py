"""`cardshoe devices`: connected devices, identity, configuration to paste, and pairing without a key on the wire."""

from __future__ import annotations

import io
import json
import os
import socketserver
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from controller.commands.devices import section
from controller.commands.main import main
from controller.commands.reader_lines import LearnedTable, write_new
from controller.daemon.sections import DeviceSection
from firmware_bridge.card_table import read_card_table
from firmware_bridge.cards import DECK
from firmware_bridge.device_keys import key_from_typed, read_device_keys, typed_form, write_device_keys
from firmware_bridge.discovery import Lists
from firmware_bridge.drivers.line_reader import LineReader
from firmware_bridge.errors import KeyFileError, TransportUnavailableError
from simulators.driver_conformance.every_driver import texts_of
from simulators.ports.in_process import simulated_key, simulated_serial
from tests.end_to_end.stage import short_folder
from tests.protocol.community import setting
from tests.support.as_user import NEEDS_ROOT, open_to

SIMULATED = "sim:///shuffler?seed=7"
SERIAL = simulated_serial("shuffler")
PORT = SimpleNamespace(
    device="/dev/ttyACM3", serial_number="CARDSHOE-0042", vid=0x1209, pid=0x0001, description="Example Three"
)
CONVERTER = SimpleNamespace(device="/dev/ttyUSB0", serial_number="A1", vid=0x0403, pid=0x6001, description="FT232R")


def devices(*arguments: str, ports: tuple[Any, ...] = ()) -> Result:
    lists = Lists(lambda: ports, lambda: (), lambda: ())
    return CliRunner().invoke(main, ["devices", *arguments], obj=lists)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "device.keys"
    write_device_keys(path, {SERIAL: simulated_key(SERIAL)})
    return path


def section_in(text: str) -> DeviceSection:
    """Read the configuration to paste as the daemon would."""
    lines = [line.strip() for line in text.splitlines()]
    first = lines.index("[device]")
    last = next(n for n in range(first + 1, len(lines) + 1) if n == len(lines) or " = " not in lines[n])
    found = msgspec.toml.decode(
        "\n".join(lines[first:last]), type=dict[str, DeviceSection], dec_hook=lambda kind, value: Path(value)
    )
    return found["device"]


# -- connected devices ------------------------------------------------------------------------------------------------


def test_a_plugged_in_device_is_listed_with_driver_and_configuration() -> None:
    done = devices(ports=(PORT, CONVERTER))
    assert done.exit_code == 0, done.output
    assert "driver cardlink: this project's own protocol" in done.output
    assert "cardshoe devices pair CARDSHOE-0042 --key-file device.keys" in done.output
    assert "unknown driver: try the one for the protocol that its maker names" in done.output
    section = section_in(done.output)
    assert (section.url, section.serial) == ("serial:///dev/cardshoe/CARDSHOE-0042", "CARDSHOE-0042")
    assert section.key_file == Path("device.keys")


def test_without_a_device_the_output_explains_the_urls() -> None:
    assert "--url" in devices().output


def test_paired_devices_are_listed_whether_they_are_there_or_not(keys: Path) -> None:
    done = devices("--key-file", str(keys), ports=(PORT,))
    assert f"{SERIAL}: not seen" in done.output
    assert simulated_key(SERIAL).hex() not in done.output


def test_a_listing_error_is_a_problem_and_hides_nothing() -> None:
    def fails() -> tuple[Any, ...]:
        raise TransportUnavailableError("libusb does not start.", "Install it.", "usb-library")

    done = CliRunner().invoke(main, ["devices"], obj=Lists(lambda: (PORT,), fails, lambda: ()))
    assert done.exit_code == 0
    assert "libusb does not start. Install it." in done.output.partition("Problems")[2]
    assert "CARDSHOE-0042" in done.output


# -- identity ---------------------------------------------------------------------------------------------------------


def test_a_queried_device_proves_itself_and_lists_its_limits(keys: Path) -> None:
    done = devices("--url", SIMULATED, "--key-file", str(keys))
    assert done.exit_code == 0, done.output
    assert f"serial {SERIAL} (proven by its key)" in done.output
    assert "dispenses sets, for 52 cards\n  SIMULATED\n" in done.output
    assert "No memory without power" in done.output
    assert f"{SERIAL}: there" in done.output
    section = section_in(done.output)
    assert (section.url, section.serial) == (SIMULATED, SERIAL)
    assert section.firmware_digests == ("0" * 64,)
    assert section.policy.firmware_digests == ("0" * 64,)


def test_an_unpaired_device_is_reported_with_exit_code_3() -> None:
    done = devices("--url", SIMULATED)
    assert done.exit_code == 3
    assert "device-unknown-serial" in done.output
    assert "1 of 1 devices did not answer" in done.output


def test_a_missing_port_is_reported_and_the_next_one_is_tried(keys: Path, tmp_path: Path) -> None:
    done = devices("--url", f"serial://{tmp_path}/none", "--url", SIMULATED, "--key-file", str(keys))
    assert done.exit_code == 3
    assert "port-missing" in done.output
    assert "proven by its key" in done.output


def test_an_unknown_device_is_never_opened() -> None:
    done = devices("--ask", ports=(CONVERTER,))
    assert done.exit_code == 0
    assert "Asked" not in done.output


def test_an_explicitly_named_device_is_opened(tmp_path: Path) -> None:
    """This machine does not have such a node, so the attempt shows as a fault."""
    done = devices("--ask", ports=(PORT,))
    assert done.exit_code == 3
    assert "Asked: serial:///dev/cardshoe/CARDSHOE-0042" in done.output


def test_json_contains_everything_but_keys(keys: Path) -> None:
    done = devices("--url", SIMULATED, "--key-file", str(keys), "--json", ports=(PORT, CONVERTER))
    found = json.loads(done.output)
    assert [device["driver"] for device in found["devices"]] == ["cardlink", ""]
    assert found["asked"][0]["account"]["identity"]["serial"] == SERIAL
    assert found["asked"][0]["account"]["cannot"]
    assert found["paired"] == [SERIAL]
    assert found["problems"] == []
    assert simulated_key(SERIAL).hex() not in done.output


def test_a_url_that_cannot_exist_is_bad_input() -> None:
    done = devices("--url", "nowhere")
    assert done.exit_code == 2
    assert "is not a device URL" in done.output


# -- pairing ----------------------------------------------------------------------------------------------------------


def test_pairing_makes_a_key_that_only_the_owner_reads_and_prints_it_once(tmp_path: Path) -> None:
    path = tmp_path / "device.keys"
    done = devices("pair", "CARDSHOE-0042", "--key-file", str(path))
    assert done.exit_code == 0, done.output
    key = "\n".join(done.output.splitlines()[:2])
    assert read_device_keys(path) == {"CARDSHOE-0042": key_from_typed(key)}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "service menu" in done.output
    assert "cardshoe devices --ask" in done.output
    assert done.output.count(key) == 1


def test_a_key_is_printed_as_a_qr_code_of_what_people_type(tmp_path: Path) -> None:
    import segno

    path = tmp_path / "k"
    done = devices("pair", "CARDSHOE-0042", "--key-file", str(path), "--qr")
    assert done.exit_code == 0, done.output
    drawn = io.StringIO()
    segno.make(typed_form(read_device_keys(path)["CARDSHOE-0042"]), error="m").terminal(drawn, compact=True)
    assert drawn.getvalue() in done.output


def test_without_a_package_for_qr_codes_no_key_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "segno", None)
    done = devices("pair", "CARDSHOE-0042", "--key-file", str(tmp_path / "k"), "--qr")
    assert done.exit_code != 0
    assert "A QR code cannot be printed" in done.output
    assert "/requirements-qr.txt`." in done.output
    assert not list(tmp_path.iterdir())


def enter(key: str, path: Path) -> Result:
    arguments = ["devices", "pair", "CARDSHOE-0042", "--key-file", str(path), "--enter"]
    return CliRunner().invoke(main, arguments, input=f"{key}\n")


def test_a_printed_key_can_be_typed_at_another_host_in_any_case_and_spacing(tmp_path: Path) -> None:
    key = bytes(range(1, 33))
    assert enter(typed_form(key).lower().replace("-", " "), tmp_path / "k").exit_code == 0
    assert read_device_keys(tmp_path / "k") == {"CARDSHOE-0042": key}


@pytest.mark.parametrize("place", range(0, 80, 7))
def test_a_mistyped_digit_is_found_and_its_group_named(tmp_path: Path, place: int) -> None:
    typed = typed_form(bytes(range(1, 33))).replace("-", "").replace(" ", "")
    wrong = typed[:place] + ("0" if typed[place] != "0" else "1") + typed[place + 1 :]
    done = enter(wrong, tmp_path / "k")
    assert done.exit_code == 2
    assert f'Group {place // 10 + 1} of the key is mistyped (cardlink, "Proofs")' in done.output
    assert not list(tmp_path.iterdir())


def test_groups_in_another_order_or_missing_are_refused(tmp_path: Path) -> None:
    groups = typed_form(bytes(range(1, 33))).split()
    swapped = [groups[1], groups[0], *groups[2:]]
    assert "Group 1 of the key is mistyped" in enter(" ".join(swapped), tmp_path / "k").output
    assert "has 7 groups; 8 are needed" in enter(" ".join(groups[:7]), tmp_path / "k").output


@NEEDS_ROOT
@pytest.mark.parametrize(("mode", "readable"), [(0o750, True), (0o755, False), (0o770, False)])
def test_keys_paired_by_root_go_to_the_group_of_the_daemons_folder(tmp_path: Path, mode: int, readable: bool) -> None:
    """Otherwise the daemon could not read it, and would refuse the device as not paired."""
    daemon, stranger = (64001, 64001), (64002, 64002)
    with short_folder() as short:
        short.chmod(0o755)
        folder = short / "cardshoe"
        folder.mkdir()
        os.chown(folder, 0, daemon[1])
        folder.chmod(mode)
        path = folder / "device.keys"
        done = devices("pair", "CARDSHOE-0042", "--key-file", str(path))
        assert done.exit_code == 0, done.output
        found = path.stat()
        expected = (0, daemon[1], 0o640) if readable else (0, 0, 0o600)
        assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == expected
        assert open_to(*daemon, path) == ({path} if readable else set())
        assert not open_to(*stranger, path)
        assert devices("pair", "CARDSHOE-0043", "--key-file", str(path)).exit_code == 0
        assert path.stat().st_gid == expected[1], "what it is stays"


def test_pairing_points_to_the_daemon_that_has_the_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("controller.commands.devices.INSTALLED", tmp_path)
    (tmp_path / "NC-01").mkdir()
    done = devices("pair", "CARDSHOE-0042", "--key-file", str(tmp_path / "NC-01/device.keys"))
    shown = "systemctl restart cardshoe@NC-01, then cardshoe status --socket /run/cardshoe/NC-01/api.sock"
    assert f"See that it holds: {shown};" in done.output


def test_pairing_shows_who_may_read_the_keys(tmp_path: Path) -> None:
    done = devices("pair", "CARDSHOE-0042", "--key-file", str(tmp_path / "k"))
    assert "Only" in done.output
    (tmp_path / "k").chmod(0o640)
    assert "and the group" in devices("pair", "CARDSHOE-0043", "--key-file", str(tmp_path / "k")).output


def test_a_second_device_is_added_and_the_rest_of_the_file_stays(keys: Path) -> None:
    keys.write_text("# of pit 3\n" + keys.read_text().rstrip("\n"))
    keys.chmod(0o640)
    before = keys.read_text()
    assert devices("pair", "CARDSHOE-0042", "--key-file", str(keys)).exit_code == 0
    assert keys.read_text().startswith(before + "\n")
    assert set(read_device_keys(keys)) == {SERIAL, "CARDSHOE-0042"}
    assert stat.S_IMODE(keys.stat().st_mode) == 0o640, "a group that may read it still may"
    assert [path.name for path in keys.parent.iterdir()] == ["device.keys"]


def test_two_pairings_never_make_the_same_key(tmp_path: Path) -> None:
    for serial in ("A", "B"):
        devices("pair", serial, "--key-file", str(tmp_path / "k"))
    assert len(set(read_device_keys(tmp_path / "k").values())) == 2


def test_a_key_is_replaced_only_when_asked_to(keys: Path) -> None:
    before = keys.read_text()
    done = devices("pair", SERIAL, "--key-file", str(keys))
    assert done.exit_code == 2
    assert "--replace" in done.output
    assert keys.read_text() == before
    assert devices("pair", SERIAL, "--key-file", str(keys), "--replace").exit_code == 0
    assert list(read_device_keys(keys)) == [SERIAL]
    assert keys.read_text() != before


def test_the_key_of_a_device_is_changed_in_two_steps(keys: Path) -> None:
    """Both keys are valid from the first step to the second, and the device's section says which one it has."""
    old = simulated_key(SERIAL)
    assert devices("pair", SERIAL, "--next", "--key-file", str(keys)).exit_code == 0
    found = read_device_keys(keys)
    assert found == {SERIAL: old}
    (new,) = found.next.values()
    asked = devices("--url", SIMULATED, "--key-file", str(keys))
    assert "(proven by its old key)" in asked.output
    again = devices("pair", SERIAL, "--next", "--key-file", str(keys))
    assert again.exit_code == 2
    assert "already has a next key" in again.output
    done = devices("forget", SERIAL, "--only", "old", "--key-file", str(keys))
    assert done.exit_code == 0, done.output
    found = read_device_keys(keys)
    assert (found, found.next) == ({SERIAL: new}, {})
    assert keys.read_text() == f"{SERIAL} {new.hex()}\n"


def test_a_change_of_the_key_is_cancelled(keys: Path) -> None:
    before = keys.read_text()
    devices("pair", SERIAL, "--next", "--key-file", str(keys))
    assert devices("pair", SERIAL, "--next", "--replace", "--key-file", str(keys)).exit_code == 0
    assert keys.read_text().startswith(before), "the present key stays"
    assert len(keys.read_text().splitlines()) == 2
    assert devices("forget", SERIAL, "--only", "next", "--key-file", str(keys)).exit_code == 0
    assert keys.read_text() == before
    assert "has only one key" in devices("forget", SERIAL, "--only", "old", "--key-file", str(keys)).output
    devices("pair", SERIAL, "--next", "--key-file", str(keys))
    assert devices("forget", SERIAL, "--key-file", str(keys)).exit_code == 0
    assert keys.read_text() == "", "both are removed"
    assert "has no key" in devices("pair", SERIAL, "--next", "--key-file", str(keys)).output


@pytest.mark.parametrize("serial", ["", "two words", "#1", "naïve"])
def test_a_serial_number_that_no_line_can_begin_with(tmp_path: Path, serial: str) -> None:
    done = devices("pair", "--key-file", str(tmp_path / "k"), "--", serial)
    assert done.exit_code == 2
    assert "cannot be used as a serial number" in done.output
    assert not (tmp_path / "k").exists()


def test_a_broken_key_file_is_not_touched(keys: Path) -> None:
    keys.write_text("nonsense\n")
    done = devices("pair", "CARDSHOE-0042", "--key-file", str(keys))
    assert done.exit_code == 2
    assert "Line 1" in done.output
    assert keys.read_text() == "nonsense\n"


@pytest.mark.parametrize("parent", ["missing", "file"])
def test_what_is_no_folder_is_named(tmp_path: Path, parent: str) -> None:
    (tmp_path / "file").touch()
    done = devices("pair", "CARDSHOE-0042", "--key-file", str(tmp_path / parent / "k"))
    assert done.exit_code == 2
    assert f"cannot be written: {tmp_path / parent} is not a folder" in done.output


@pytest.mark.parametrize("there", [True, False], ids=["the file is there", "the link dangles"])
def test_a_symbolic_link_stays_and_its_file_is_written(tmp_path: Path, there: bool) -> None:
    """Two names of one file of keys keep the same keys."""
    kept = tmp_path / "safe" / "device.keys"
    kept.parent.mkdir()
    if there:
        kept.touch(0o600)
    link = tmp_path / "device.keys"
    link.symlink_to("safe/device.keys")
    for command in ("pair", "forget"):
        done = devices(command, SERIAL, "--key-file", str(link))
        assert done.exit_code == 0, done.output
        assert link.is_symlink()
        assert list(read_device_keys(kept)) == ([SERIAL] if command == "pair" else [])
    write_device_keys(link, {SERIAL: bytes(range(1, 33))})
    assert link.is_symlink()
    assert list(read_device_keys(kept)) == [SERIAL]


def test_a_symbolic_link_to_itself_is_named(tmp_path: Path) -> None:
    link = tmp_path / "device.keys"
    link.symlink_to("device.keys")
    done = devices("pair", SERIAL, "--key-file", str(link))
    assert done.exit_code == 2
    assert f"{link} is a symbolic link to itself" in done.output


def test_forgetting_removes_one_key(keys: Path) -> None:
    devices("pair", "CARDSHOE-0042", "--key-file", str(keys))
    done = devices("forget", SERIAL, "--key-file", str(keys))
    assert done.exit_code == 0, done.output
    assert "unplug the device" in done.output
    assert list(read_device_keys(keys)) == ["CARDSHOE-0042"]
    again = devices("forget", SERIAL, "--key-file", str(keys))
    assert again.exit_code == 2
    assert "CARDSHOE-0042" in again.output


@pytest.mark.parametrize("key", [bytes(32), b"\xab" * 32, bytes(range(32))], ids=["zeros", "all equal", "published"])
def test_a_key_that_anyone_can_guess_is_refused(key: bytes, tmp_path: Path) -> None:
    write_device_keys(tmp_path / "device.keys", {SERIAL: key})
    with pytest.raises(KeyFileError, match="anyone can guess") as refused:
        read_device_keys(tmp_path / "device.keys")
    assert f"Remove the line, run cardshoe devices pair {SERIAL} --key-file {tmp_path}" in str(refused.value.hint)


# -- lines of a reader ------------------------------------------------------------------------------------------------


Reader = Callable[[bytes], str]


@pytest.fixture
def reader() -> Iterator[Reader]:
    """Return a function that starts a reader behind a serial server, which sends bytes to each host, and its URL."""
    with ExitStack() as stack:
        yield lambda data: stack.enter_context(_serial_server(data))


@contextmanager
def _serial_server(data: bytes) -> Iterator[str]:
    class Sends(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(data)
            self.request.recv(1)  # until the host hangs up

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Sends) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"tcp://127.0.0.1:{server.server_address[1]}?driver=line_reader"
        server.shutdown()
        serving.join()


def test_the_lines_of_a_reader_are_shown_with_every_byte(reader: Reader) -> None:
    url = reader(b"\x02]C0E280;\r\n\x02]C0E281;\r\nlast")
    done = devices("listen", url, "--lines", "3")
    assert done.exit_code == 0, done.output
    assert done.output.splitlines() == ["<02>]C0E280;<0D><0A>", "<02>]C0E281;<0D><0A>", "last"]


def test_a_card_table_is_learned_from_a_deck_in_order(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "cards.toml"
    url = reader(b"".join(f"E28{number:03}\r\nE28{number:03}\r\n".encode() for number in range(52)))
    done = devices("listen", url, "--learn", str(path))
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[0] == "Draw AC (1 of 52)."
    assert read_card_table(path) == {f"E28{number:03}": card for number, card in enumerate(DECK)}
    again = devices("listen", url, "--learn", str(path))
    assert (again.exit_code, "name a new file" in again.output) == (2, True)


def test_a_card_table_learned_from_lines_without_an_end_says_how_long_they_are(tmp_path: Path) -> None:
    """Otherwise the driver would wait for the end of each line, and understand none."""
    learned, lines = LearnedTable(), [f"\x02E28{number:03}".encode() for number in range(52)]
    for line in lines:
        assert learned.take(line) is None
    write_new(tmp_path / "cards.toml", learned)
    table = read_card_table(tmp_path / "cards.toml")
    assert table.line.length == 6
    reader = LineReader(setting("line_reader", card_table=table), 0.0)
    heard = [text for now, line in enumerate(lines) for text in texts_of(reader.receive(line, float(now)))]
    assert heard == [f"card {card.code}" for card in DECK]


def test_a_card_table_is_learned_into_a_file_that_is_read_as_toml(tmp_path: Path) -> None:
    done = devices("listen", "serial:///dev/none?driver=line_reader", "--learn", str(tmp_path / "cards.csv"))
    assert (done.exit_code, "Name a file that ends in .toml." in done.output) == (2, True)
    assert 'card_table = "cards.toml"' in section("serial:///dev/none", "", "", card_table=True).splitlines()


def test_learning_ends_where_an_identifier_belongs_to_an_earlier_card(reader: Reader, tmp_path: Path) -> None:
    url = reader(b"E1\r\n\xff\r\nE2\r\nE1\r\n")
    done = devices("listen", url, "--learn", str(tmp_path / "cards.toml"))
    assert done.exit_code == 2
    assert "set the reader to plain text" in done.output
    assert "E1 was read for AC before" in done.output
    assert not list(tmp_path.iterdir())


def test_a_line_of_another_length_is_not_learned_as_a_card(reader: Reader, tmp_path: Path) -> None:
    url = reader(b"E1\r\nNOREAD\r\nE2\r\n")
    done = devices("listen", url, "--learn", str(tmp_path / "cards.toml"), "--lines", "3")
    assert "This line has 6 characters and that of AC has 2" in done.output
    assert done.output.splitlines()[-1] == "Draw 3C (3 of 52)."


def test_a_reader_that_is_not_there_is_a_device_problem() -> None:
    done = devices("listen", "serial:///dev/none?driver=line_reader")
    assert done.exit_code == 3, done.output
