"""The words shared by the terminal and the page of the floor, with those of the console."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final

from controller.api.pages import FOLDER
from controller.floor.page_server import OWN
from controller.language import ENGLISH

FOLDERS: Final = (FOLDER, OWN)
MINUTE: Final = 60_000  # ms
HOUR: Final = 60 * MINUTE


class FloorWords:
    """The words in one language.

    >>> FloorWords("en")("top.tables", n=1), FloorWords("zh-Hans")("top.tables", n=1), FloorWords("en").span(150_000)
    ('1 table', '1 张牌桌', '2 min')
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._words = _read(language)

    def __call__(self, key: str, **given: object) -> str:
        form = "one" if given.get("n") == 1 and self.language == ENGLISH else "other"
        pattern = (self._words.get(f"{key}.{form}") if "n" in given else None) or self._words.get(key, key)
        return pattern.format(**given)

    def knows(self, key: str) -> bool:
        return key in self._words

    def phase(self, phase: str) -> str:
        return self(f"phase.{phase}") if self.knows(f"phase.{phase}") else phase.replace("_", " ")

    def device(self, kind: str) -> str:
        return self(f"device.{kind if self.knows(f'device.{kind}') else 'device'}")

    def span(self, ms: int) -> str:
        """Return a duration in seconds below a minute, then in minutes, then in hours."""
        if ms < MINUTE:
            return self("age.s", n=ms // 1000)
        return self("age.min", n=ms // MINUTE) if ms < HOUR else self("age.h", n=ms // HOUR)

    def age(self, now: int, since: int, least: int = 0) -> str:
        """Return how long ago that is; empty if unknown or less than `least`."""
        return self.span(max(0, now - since)) if since and now - since >= least else ""


@cache
def _read(language: str) -> dict[str, str]:
    words: dict[str, str] = {}
    for folder in FOLDERS:
        words |= json.loads((Path(folder) / "words" / f"{language}.json").read_text("utf-8"))
    return words
