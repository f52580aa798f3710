"""The words of a scenario's steps: those of `controller.people_words`, and those of the device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.people_words import WORDS
from controller.people_words.word import Word
from simulators.scenarios.course import Course
from simulators.scenarios.device_steps import DEVICE_STEPS

STEPS: Final[Mapping[str, Word[Course]]] = {**WORDS, **DEVICE_STEPS}
"""The words of steps. If one word begins with another, the longer one counts."""
