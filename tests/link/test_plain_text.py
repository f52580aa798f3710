"""Text of devices and people may be shown anywhere: limited in length, on one line, with nothing hidden in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.plain_text import LONGEST, REPLACEMENT, is_hidden, is_plain, plain


def test_an_escape_code_reaches_no_terminal() -> None:
    assert plain("jam\x1b[2J at the exit") == f"jam{REPLACEMENT}[2J at the exit"


def test_direction_marks_nul_and_line_ends_are_hidden() -> None:
    assert all(map(is_hidden, "\x00\x07\n\r\x7f\x9b\u200b\u200f\u202e\u2028\u2066\ufeff\ue000\ud800"))


def test_peoples_text_is_kept() -> None:
    assert plain("Kärtchen 7♥, Größe 10.5 €") == "Kärtchen 7♥, Größe 10.5 €"


@given(st.text(alphabet=st.characters(), max_size=3 * LONGEST))
def test_the_result_is_always_plain(text: str) -> None:
    assert is_plain(plain(text))
    assert plain(plain(text)) == plain(text)
    assert (plain(text) == text) is is_plain(text)
