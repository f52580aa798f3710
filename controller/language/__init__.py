"""What the program says to people, in other languages than English, in which it is written and journaled."""

from controller.language.catalogue import ENGLISH, PARAMETER, TEXTS, Speaker, known, languages, translated

__all__ = ["ENGLISH", "PARAMETER", "TEXTS", "Speaker", "known", "languages", "translated"]
