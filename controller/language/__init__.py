"""Translations of the program's texts, which are written and journaled in English."""

from controller.language.catalogue import ENGLISH, PARAMETER, TEXTS, Speaker, codes, known, languages

__all__ = ["ENGLISH", "PARAMETER", "TEXTS", "Speaker", "codes", "known", "languages"]
