"""The texts of the floor in a terminal, and the files that its page shares with the console."""

from __future__ import annotations

import re

from controller.commands.floor.telling import FloorWords
from controller.floor.page_server import OWN, SHARED
from tests.architecture.sources import ROOT


def test_the_consoles_files_for_the_page_are_served() -> None:
    own = "\n".join(file.read_text("utf-8") for file in sorted((OWN / "js").glob("*.js")))
    of_console = set(re.findall(r'"/console/([\w./-]+)"', own + (OWN / "index.html").read_text("utf-8")))
    for name in sorted(one for one in SHARED if one.endswith(".js")):
        text = (ROOT / "controller/console" / name).read_text("utf-8")
        of_console |= {f"js/{other}" for other in re.findall(r'from "\./([\w.]+)"', text)}
    assert {one for one in of_console if "." in one} == set(SHARED)


def test_the_terminal_speaks_as_the_page_does() -> None:
    assert FloorWords("en")("top.tables", n=1) == "1 table"
    assert FloorWords("zh-Hans")("top.tables", n=1) == "1张牌桌"
    assert [FloorWords("en").span(ms) for ms in (59_999, 60_000, 3_599_999, 3_600_000)] == [
        "59 s",
        "1 min",
        "59 min",
        "1 h",
    ]
    assert FloorWords("en").age(100_000, 0) == FloorWords("en").age(100_000, 50_000, 60_000) == ""
    assert FloorWords("en").phase("no_such_phase") == "no such phase"
    assert FloorWords("en").device("no such device") == "Device"
