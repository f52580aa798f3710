"""What the table says to people, in other languages than English, in which it is written and journaled."""

from controller.language.catalogue import LANGUAGES, PARAMETER, TEXTS
from controller.language.po import ENGLISH, known, languages
from controller.language.translating import Speaker, Translator, phrase, translated

__all__ = [
    "ENGLISH",
    "LANGUAGES",
    "PARAMETER",
    "TEXTS",
    "Speaker",
    "Translator",
    "known",
    "languages",
    "phrase",
    "translated",
]
