"""Commands that show a table take the language of the locale, or the one that is named."""

from __future__ import annotations

import pytest

from controller.api.view import LinkView, view_of
from controller.commands.language import console_word, of_locale
from controller.commands.live import how_it_stands
from controller.table.phases import Phase
from tests.table.harness import TableHarness


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh-Hans"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_locale_chooses_the_language(environment: dict[str, str], language: str) -> None:
    assert of_locale(environment) == language


def test_phases_have_the_words_of_the_console() -> None:
    assert all(not console_word(f"phase.{phase.value}", "zh-Hans").isascii() for phase in Phase)
    view = view_of(TableHarness().start().to_betting().state, LinkView())
    assert console_word(f"phase.{view.phase}", "zh-Hans") in how_it_stands(view, "zh-Hans")
    assert "betting" in how_it_stands(view)
