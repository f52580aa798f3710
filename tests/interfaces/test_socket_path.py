"""Paths of the daemon's socket: which it accepts, and what it leaves untouched."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_mock

from controller.api import unix_socket
from controller.api.unix_socket import LONGEST_PATH, Listener, SocketRefusedError, check_path
from tests.end_to_end.stage import short_folder


def occupied_by_file(path: Path) -> None:
    path.write_text("keys of a table")


def occupied_by_link(path: Path) -> None:
    path.with_name("precious").write_text("keys of a table")
    path.symlink_to("precious")


def occupied_by_fifo(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("occupy", [occupied_by_file, occupied_by_link, occupied_by_fifo, Path.mkdir])
def test_a_path_that_is_not_a_socket_is_left_untouched(occupy: Callable[[Path], object]) -> None:
    with short_folder() as folder:
        path = folder / "api.sock"
        occupy(path)
        before = {one.name: one.lstat() for one in folder.iterdir()}
        with pytest.raises(SocketRefusedError, match="exists and is not a socket"):
            Listener(path)
        assert {one.name: one.lstat() for one in folder.iterdir()} == before


def test_a_dead_socket_is_replaced() -> None:
    with short_folder() as folder:
        path = folder / "api.sock"
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(path))
        check_path(path)
        listener = Listener(path)
        assert stat.S_ISSOCK(path.lstat().st_mode)
        listener.close()
        assert not path.exists()


@pytest.mark.parametrize("dead", [False, True])
def test_of_two_started_together_one_gets_the_socket(dead: bool, mocker: pytest_mock.MockerFixture) -> None:
    """The other one has begun to listen between this one's check and its own bind."""
    with short_folder() as folder:
        path = folder / "api.sock"
        if dead:
            with socket.socket(socket.AF_UNIX) as left:
                left.bind(str(path))
        check, others = unix_socket._check_in, list[Listener]()

        def check_and_meet(held: int, at: Path) -> object:
            found = check(held, at)
            mocker.stop(patched)
            others.append(Listener(path))
            return found

        check_path(path)
        mocker.patch.object(unix_socket, "check_path")
        patched = mocker.patch.object(unix_socket, "_check_in", check_and_meet)
        with pytest.raises(SocketRefusedError, match="belongs to a program that is running"):
            Listener(path)
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(path))
            others[0].socket.accept()[0].close()
        assert [one.name for one in folder.iterdir()] == ["api.sock"]
        others[0].close()


@pytest.mark.parametrize("backlog", [0, 5])
def test_a_socket_with_a_listening_program_is_left_untouched(backlog: int) -> None:
    """Its queue may be full."""
    with short_folder() as folder:
        path = folder / "api.sock"
        callers = [socket.socket(socket.AF_UNIX) for _ in range(8)]
        with socket.socket(socket.AF_UNIX) as living:
            living.bind(str(path))
            living.listen(backlog)
            for caller in callers:
                caller.setblocking(False)
                caller.connect_ex(str(path))
            with pytest.raises(SocketRefusedError, match="belongs to a program that is running"):
                Listener(path)
            assert path.is_socket()
        for caller in callers:
            caller.close()


def test_a_socket_of_another_kind_is_left_untouched() -> None:
    with short_folder() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(str(folder / "api.sock"))
        with pytest.raises(SocketRefusedError, match="cannot be replaced"):
            Listener(folder / "api.sock")


class Exchanged(socket.socket):
    """A socket that is replaced by a link to the journal's key as soon as it is bound."""

    def bind(self, address: Any) -> None:
        super().bind(address)
        Path(address).unlink()
        Path(address).symlink_to("journal.key")


def test_a_link_in_place_of_the_socket_changes_no_other_file(mocker: pytest_mock.MockerFixture) -> None:
    """The owner of the folder can put a link there."""
    with short_folder() as folder:
        key = folder / "journal.key"
        key.touch(0o600)
        mocker.patch.object(socket, "socket", Exchanged)
        with pytest.raises(SocketRefusedError, match="was replaced"):
            Listener(folder / "api.sock")
        assert stat.S_IMODE(key.stat().st_mode) == 0o600


LISTENS = """
import os, socket, sys
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o600)
listening.listen()
print("listens", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def private() -> Iterator[Path]:
    """Listen at a socket of another program, for its own user only."""
    with short_folder() as folder:
        path = folder / "api.sock"
        words = (sys.executable, "-c", LISTENS, str(path))
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            assert program.stdout is not None
            assert program.stdout.readline()
            yield path
            program.communicate()


def test_another_socket_in_place_of_its_own_is_not_opened_to_others(
    mocker: pytest_mock.MockerFixture, private: Path
) -> None:
    """The owner of the folder can link another socket to that path."""

    class Replaced(socket.socket):
        def bind(self, address: Any) -> None:
            super().bind(address)
            Path(address).unlink()
            os.link(private, address)

    with short_folder() as folder:
        mocker.patch.object(socket, "socket", Replaced)
        with pytest.raises(SocketRefusedError, match="was replaced"):
            Listener(folder / "api.sock")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


def test_a_link_in_place_of_the_folder_makes_no_socket_elsewhere(
    mocker: pytest_mock.MockerFixture,
) -> None:
    """The link appears just before the socket is bound."""
    with short_folder() as folder:
        named, other = folder / "named", folder / "other"
        named.mkdir()
        other.mkdir()

        class Moved(socket.socket):
            def bind(self, address: Any) -> None:
                named.rename(folder / "aside")
                named.symlink_to(other)
                super().bind(address)

        mocker.patch.object(socket, "socket", Moved)
        Listener(named / "api.sock").close()
        assert list(other.iterdir()) == []


def test_a_link_in_place_of_the_folder_deletes_nothing(mocker: pytest_mock.MockerFixture) -> None:
    """The link appears between the discovery of a dead socket and its removal."""
    with short_folder() as folder:
        named, other = folder / "named", folder / "other"
        named.mkdir()
        other.mkdir()
        (other / "journal.db").write_text("precious")
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(named / "journal.db"))

        def check_and_exchange(path: Path) -> None:
            check_path(path)
            named.rename(folder / "aside")
            named.symlink_to(other)

        mocker.patch.object(unix_socket, "check_path", check_and_exchange)
        with pytest.raises(SocketRefusedError, match="is not a socket"):
            Listener(named / "journal.db")
        assert (other / "journal.db").read_text() == "precious"


def test_only_its_own_socket_is_removed() -> None:
    with short_folder() as folder:
        path = folder / "api.sock"
        listener = Listener(path)
        path.rename(folder / "aside")
        path.write_text("of somebody else")
        listener.close()
        assert path.read_text() == "of somebody else"


def test_a_path_has_the_length_that_the_system_takes() -> None:
    with short_folder() as folder:
        longest = folder / ("s" * (LONGEST_PATH - len(str(folder)) - 1))
        Listener(longest).close()
        with pytest.raises(SocketRefusedError, match=f"is {LONGEST_PATH + 1} bytes long, .* at most {LONGEST_PATH}"):
            Listener(longest.with_name(longest.name + "s"))
