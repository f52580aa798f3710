"""What the table says to people, in other languages than English, in which it is written and journaled."""

from controller.language.catalogue import ENGLISH, LANGUAGES, PARAMETER, known
from controller.language.translating import translated, translated_whole

__all__ = ["ENGLISH", "LANGUAGES", "PARAMETER", "known", "translated", "translated_whole"]
