"""The library refuses each bad frame of a host as docs/cardlink_bad_vectors.jsonl says."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.protocol.vectors import KEYS

FILE = Path(__file__).parents[2] / "docs/cardlink_bad_vectors.jsonl"


@pytest.mark.tool("gcc")
def test_the_library_judges_each_bad_vector_as_the_file_says(program: Path) -> None:
    lines = FILE.read_text("utf-8")
    done = subprocess.run(
        [program, "--vectors", KEYS[0].hex()], input=lines, capture_output=True, text=True, check=True
    )
    bad = [one for one in map(json.loads, lines.splitlines()) if one["from"] == "host"]
    assert len(bad) > 20
    assert done.stdout.splitlines() == [f"{one['verdict']}: {one['what']}" for one in bad]
