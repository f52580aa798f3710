"""Generated files agree with the program."""

from __future__ import annotations

import pytest

from tools.generate import FILES, ROOT


@pytest.mark.parametrize("path", FILES)
def test_a_generated_file_is_what_the_program_makes(path: str) -> None:
    assert (ROOT / path).read_text("utf-8") == FILES[path](), "run: python -m tools.generate"
