"""Which paths the daemon takes for its socket, and what it leaves as it is."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.api.door import LONGEST_PATH, Listener, SocketRefusedError, check_path
from tests.end_to_end.stage import short_folder


def occupied_by_file(path: Path) -> None:
    path.write_text("keys of a table")


def occupied_by_link(path: Path) -> None:
    path.with_name("precious").write_text("keys of a table")
    path.symlink_to("precious")


def occupied_by_fifo(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("occupy", [occupied_by_file, occupied_by_link, occupied_by_fifo, Path.mkdir])
def test_what_is_no_socket_is_left_as_it_is(occupy: Callable[[Path], object]) -> None:
    with short_folder() as folder:
        path = folder / "api.sock"
        occupy(path)
        before = {one.name: one.lstat() for one in folder.iterdir()}
        with pytest.raises(SocketRefusedError, match="is there already and is no socket"):
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


@pytest.mark.parametrize("backlog", [0, 5])
def test_a_socket_at_which_a_program_listens_is_left_alone(backlog: int) -> None:
    """Also where so many wait for it that one more is not taken."""
    with short_folder() as folder:
        path = folder / "api.sock"
        callers = [socket.socket(socket.AF_UNIX) for _ in range(8)]
        with socket.socket(socket.AF_UNIX) as living:
            living.bind(str(path))
            living.listen(backlog)
            for caller in callers:
                caller.setblocking(False)
                caller.connect_ex(str(path))
            with pytest.raises(SocketRefusedError, match="the socket of a program that runs"):
                Listener(path)
            assert path.is_socket()
        for caller in callers:
            caller.close()


def test_a_socket_of_another_kind_is_left_alone() -> None:
    with short_folder() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(str(folder / "api.sock"))
        with pytest.raises(SocketRefusedError, match="cannot be replaced"):
            Listener(folder / "api.sock")


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
