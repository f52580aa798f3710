"""The words shared by the terminal and the page of the floor, with those of the console."""

from __future__ import annotations

from typing import Final

from controller.language.catalogue import page_word, page_words

MINUTE: Final = 60_000  # ms
HOUR: Final = 60 * MINUTE


class FloorWords:
    """The words in one language.

    >>> FloorWords("en")("top.tables", n=1), FloorWords("zh-Hans")("top.tables", n=1), FloorWords("en").span(150_000)
    ('1 table', '1张牌桌', '2 min')
    """

    def __init__(self, language: str) -> None:
        self.language = language

    def __call__(self, key: str, **given: str | int) -> str:
        return page_word(key, self.language, given)

    def phase(self, phase: str) -> str:
        return self(f"phase.{phase}")

    def device(self, kind: str) -> str:
        key = f"device.{kind}"
        return self(key if key in page_words(self.language) else "device.device")

    def span(self, ms: int) -> str:
        """Return a duration in seconds below a minute, then in minutes, then in hours."""
        if ms < MINUTE:
            return self("age.s", n=ms // 1000)
        return self("age.min", n=ms // MINUTE) if ms < HOUR else self("age.h", n=ms // HOUR)

    def age(self, now: int, since: int, least: int = 0) -> str:
        """Return how long ago that is, or "" if unknown or less than `least`."""
        return self.span(max(0, now - since)) if since and now - since >= least else ""
