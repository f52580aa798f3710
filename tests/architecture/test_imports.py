"""The permitted imports: firmware_bridge <- controller <- shuffle_audit <- simulators; the table's rules use no I/O."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import PACKAGES, Module, called, circles, import_graph, imported, modules

IO_MODULES = frozenset(
    {
        "aiohttp", "asyncio", "click", "concurrent", "ctypes", "datetime", "fcntl", "getpass", "io", "json", "logging",
        "multiprocessing", "os", "pathlib", "random", "rich", "secrets", "select", "selectors", "serial", "shutil",
        "signal", "socket", "sqlite3", "ssl", "structlog", "subprocess", "tempfile", "termios", "threading", "time",
        "tty", "urllib", "usb", "uuid",
    }
)  # fmt: skip
IO_BUILTINS = frozenset({"open", "print", "input", "exec", "eval", "__import__"})
PURE_PACKAGES = ("controller.games", "controller.rules", "controller.table")
DRIVERS = "firmware_bridge.drivers"
MAIN = "controller.__main__"  # `python -m controller`; `main` finds the other commands by their names
ABOVE = {
    "firmware_bridge": ("controller", "shuffle_audit", "simulators", "tests", "benchmarks", "tools"),
    "controller": ("shuffle_audit", "simulators", "tests", "benchmarks", "tools"),
    "shuffle_audit": ("simulators", "tests", "benchmarks", "tools"),
    "simulators": ("tests", "benchmarks", "tools"),
}


def top(name: str) -> str:
    return name.partition(".")[0]


def offences(inspected: tuple[Module, ...], forbidden: frozenset[str] | tuple[str, ...]) -> list[str]:
    return [
        f"{module.name} imports {name}" for module in inspected for name in imported(module) if top(name) in forbidden
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_have_one_direction(package: str) -> None:
    assert not offences(modules(package), ABOVE[package])


def test_controller_packages_import_only_lower_ones() -> None:
    below = {
        "controller.games": ("controller.table", "controller.journal", "controller.daemon", "controller.api"),
        "controller.rules": ("controller.table", "controller.journal", "controller.daemon", "controller.api"),
        "controller.table": ("controller.journal", "controller.daemon", "controller.api", "controller.commands"),
        "controller.journal": ("controller.table", "controller.daemon", "controller.api", "controller.commands"),
    }
    for package, others in below.items():
        for module in modules(package.replace(".", "/")):
            wrong = [
                name for name in imported(module) if any(name == one or name.startswith(f"{one}.") for one in others)
            ]
            assert not wrong, f"{module.name} imports {wrong}"


def test_a_table_does_not_import_the_programs_that_read_the_floor() -> None:
    readers = ("floor_view", "follower", "page_server", "page_stream", "store", "stories")
    names = tuple(f"controller.floor.{name}" for name in readers)
    allowed = ("controller.floor", "controller.commands.floor")
    wrong = [
        f"{module.name} imports {name}"
        for module in modules("controller")
        if not module.name.startswith(allowed)
        for name in imported(module)
        if name.startswith(names)
    ]
    assert wrong == []


@pytest.mark.parametrize("package", PURE_PACKAGES)
def test_games_rules_and_table_import_no_io_no_clock_and_no_randomness(package: str) -> None:
    inspected = modules(package.replace(".", "/"))
    assert not offences(inspected, IO_MODULES)
    assert len(inspected) > 1


@pytest.mark.parametrize("package", [*PURE_PACKAGES, DRIVERS])
def test_nothing_is_opened_printed_or_evaluated_in_pure_modules(package: str) -> None:
    for module in modules(package.replace(".", "/")):
        wrong = [f"line {line}: {name}" for line, name in called(module) if name in IO_BUILTINS]
        assert not wrong, f"{module.name}: {wrong}"


def test_drivers_turn_bytes_into_observations_and_do_no_io() -> None:
    allowed = {f"{DRIVERS}.registry"}  # reads the keys of devices where a driver is made
    inspected = tuple(module for module in modules(DRIVERS.replace(".", "/")) if module.name not in allowed)
    assert not offences(inspected, IO_MODULES - {"json"})
    assert len(inspected) > 3


def test_only_a_replay_accepts_a_device_without_its_proof() -> None:
    found = {module.name for module in modules(*PACKAGES) if "replayed=True" in module.text.replace(" = ", "=")}
    assert found == {"firmware_bridge.captures.replay"}


def test_only_what_the_project_declares_is_imported() -> None:
    declared = {
        "aiohttp", "click", "cryptography", "libusb_package", "msgspec", "paho", "prometheus_client", "prompt_toolkit",
        "rich", "serial", "structlog", "transitions", "usb",
        "babel",  # imported only where a language other than English is read
        "psycopg",  # of the extra `floor`, imported only where the store is used
        "numpy",  # of the extra `audit`, imported only where decks are audited
        "jinja2", "matplotlib",  # of the extras `report` and `audit`, imported only where a page is made
        "segno",  # of the extra `qr`, imported only where a QR code is printed
        "pytest", "pytest_asyncio",  # the bench is a plug-in
            "hypothesis",  # of the extra `conformance`, for the tests of a driver's own package
        *PACKAGES,
    }  # fmt: skip
    foreign = {
        f"{module.name} imports {top(name)}"
        for module in modules(*PACKAGES)
        for name in imported(module)
        if top(name) not in declared and top(name) not in sys.stdlib_module_names
    }
    assert not foreign


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = import_graph(*PACKAGES)
    assert len(graph["firmware_bridge.drivers.registry"]) > 3, "what is imported within functions counts"
    assert circles(graph) == []


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ({"a": {"b", "c"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"a"}}, [["a", "b"]]),
        ({"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}, [["d", "e"], ["a", "b", "c"]]),
    ],
)
def test_the_search_finds_every_circle(graph: dict[str, set[str]], found: list[list[str]]) -> None:
    assert circles(graph) == found


def test_nothing_imports_a_command_line() -> None:
    commands = {module.name for module in modules(*PACKAGES) if declares_a_command(module)}
    assert {"controller.commands.main", "controller.commands.run", "simulators.cli.simulate"} <= commands
    wrong = [
        f"{name} imports {other}"
        for name, others in import_graph(*PACKAGES).items()
        for other in sorted(others & commands)
        if name != MAIN
    ]
    assert wrong == []


def declares_a_command(module: Module) -> bool:
    """Return whether a function of the module is decorated as a click command or group."""
    decorators = [
        decorator.func if isinstance(decorator, ast.Call) else decorator
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
    ]
    return any(isinstance(one, ast.Attribute) and one.attr in ("command", "group") for one in decorators)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import os.path as p", ["os.path"]),
        ("from a.b import c, d", ["a.b.c", "a.b.d"]),
        ("from . import x", ["package.x"]),
        ("from .y import x", ["package.y.x"]),
        ("from .. import x", ["x"]),
        ("def f():\n    import late", ["late"]),
        ("if TYPE_CHECKING:\n    from typed import only", ["typed.only"]),
    ],
)
def test_the_reader_of_imports_sees_every_form(text: str, names: list[str]) -> None:
    module = Module("package.file", Path("package/file.py"), text)
    assert [name.lstrip(".") for name in imported(module)] == names
