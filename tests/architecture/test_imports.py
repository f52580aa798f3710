"""Who may import whom: firmware_bridge <- controller <- simulators, and the rules of the table know no I/O."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import PACKAGES, Module, called, imported, modules

IO_MODULES = frozenset(
    {
        "aiohttp", "asyncio", "click", "concurrent", "ctypes", "datetime", "fcntl", "getpass", "io", "json", "logging",
        "multiprocessing", "os", "pathlib", "random", "rich", "secrets", "select", "selectors", "serial", "shutil",
        "signal", "socket", "sqlite3", "ssl", "structlog", "subprocess", "tempfile", "termios", "threading", "time",
        "tty", "urllib", "usb", "uuid",
    }
)  # fmt: skip
IO_BUILTINS = frozenset({"open", "print", "input", "exec", "eval", "__import__"})
PURE_ROOMS = ("controller.games", "controller.rules", "controller.table")
WRITES_A_PAGE = {"controller.table.states_document"}  # a tool for maintainers that no module imports
DRIVERS = "firmware_bridge.drivers"
ABOVE = {
    "firmware_bridge": ("controller", "simulators", "tests", "benchmarks"),
    "controller": ("simulators", "tests", "benchmarks"),
    "simulators": ("tests", "benchmarks"),
}


def top(name: str) -> str:
    return name.partition(".")[0]


def offences(rooms: tuple[Module, ...], forbidden: frozenset[str] | tuple[str, ...]) -> list[str]:
    return [f"{module.name} imports {name}" for module in rooms for name in imported(module) if top(name) in forbidden]


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_go_one_way(package: str) -> None:
    assert not offences(modules(package), ABOVE[package])


def test_the_rooms_of_the_controller_know_nothing_of_those_above_them() -> None:
    below = {
        "controller.games": ("controller.table", "controller.journal", "controller.daemon", "controller.api"),
        "controller.rules": ("controller.table", "controller.journal", "controller.daemon", "controller.api"),
        "controller.table": ("controller.journal", "controller.daemon", "controller.api", "controller.commands"),
        "controller.journal": ("controller.table", "controller.daemon", "controller.api", "controller.commands"),
    }
    for room, others in below.items():
        for module in modules(room.replace(".", "/")):
            wrong = [
                name for name in imported(module) if any(name == one or name.startswith(f"{one}.") for one in others)
            ]
            assert not wrong, f"{module.name} imports {wrong}"


@pytest.mark.parametrize("room", PURE_ROOMS)
def test_the_rules_of_the_table_import_no_io_no_clock_and_no_chance(room: str) -> None:
    rooms = modules(room.replace(".", "/"))
    allowed = {f"{name} imports sys.stdout" for name in WRITES_A_PAGE}
    assert not set(offences(rooms, IO_MODULES)) - allowed
    assert len(rooms) > 1


@pytest.mark.parametrize("room", [*PURE_ROOMS, DRIVERS])
def test_nothing_is_opened_printed_or_evaluated_where_decisions_are_made(room: str) -> None:
    for module in modules(room.replace(".", "/")):
        if module.name not in WRITES_A_PAGE:
            wrong = [f"line {line}: {name}" for line, name in called(module) if name in IO_BUILTINS]
            assert not wrong, f"{module.name}: {wrong}"


def test_the_module_that_writes_a_page_is_imported_by_nobody() -> None:
    wrong = [
        module.name
        for module in modules(*PACKAGES)
        for name in imported(module)
        if any(name.startswith(page) for page in WRITES_A_PAGE)
    ]
    assert not wrong


def test_drivers_turn_bytes_into_observations_and_do_no_io() -> None:
    allowed = {f"{DRIVERS}.registry"}  # reads the keys of devices where a driver is made
    rooms = tuple(module for module in modules(DRIVERS.replace(".", "/")) if module.name not in allowed)
    assert not offences(rooms, IO_MODULES - {"json"})
    assert len(rooms) > 3


def test_only_what_the_project_declares_is_imported() -> None:
    declared = {
        "aiohttp", "click", "cryptography", "libusb_package", "msgspec", "serial", "usb", "rich", "structlog",
        "transitions",
        "pytest", "pytest_asyncio",  # the bench is a plug-in
        *PACKAGES,
    }  # fmt: skip
    foreign = {
        f"{module.name} imports {top(name)}"
        for module in modules(*PACKAGES)
        for name in imported(module)
        if top(name) not in declared and top(name) not in sys.stdlib_module_names
    }
    assert not foreign


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import os.path as p", ["os.path"]),
        ("from a.b import c, d", ["a.b.c", "a.b.d"]),
        ("from . import x", ["room.x"]),
        ("from .y import x", ["room.y.x"]),
        ("from .. import x", ["x"]),
        ("def f():\n    import late", ["late"]),
        ("if TYPE_CHECKING:\n    from typed import only", ["typed.only"]),
    ],
)
def test_the_reader_of_imports_sees_every_form(text: str, names: list[str]) -> None:
    module = Module("room.file", Path("room/file.py"), text, ast.parse(text))
    assert [name.lstrip(".") for name in imported(module)] == names
