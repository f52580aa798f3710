"""Bring the catalogues of all languages up to date: `python -m tools.catalogue`.

A language begins with an empty file that has its code as its name, `de.po`. Each file in `controller/language` gets an
empty entry for every text that the program uses, and loses those that are no longer used. The entries without a
translation are printed.

A text is the literal that is given to `message`, `counted` or `RefusedError`, or the text of a key of `en.json`.
"""

from __future__ import annotations

import ast
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from controller.language import catalogue as catalogues

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCES: Final = ("controller", "firmware_bridge", "simulators")
CALLS: Final = {"Message": 0, "RefusedError": 1, "message": 0}
"""Functions that make a message, with the position of its text."""

COUNTED: Final = "counted"


HEADER: Final = """\
msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: {plural}\\n"

"""


class CatalogueText(NamedTuple):
    """A text. `many` is the text for numbers other than 1, and `key` is the page's name for the text."""

    id: str
    many: str = ""
    key: str = ""


Uses: TypeAlias = dict[CatalogueText, dict[str, int]]


def main() -> None:
    used = texts()
    for path in sorted(catalogues.FOLDER.glob(f"*{catalogues.SUFFIX}")):
        catalogue, lacking = updated(path, used)
        path.write_bytes(written(catalogue))
        for text in lacking:
            sys.stdout.write(f"{path.name}: no translation of {text.key or ''} {text.id!r} ({where(text, used)})\n")


def texts() -> Uses:
    """Return each text that the program uses, with the files that use it and the first line in each."""
    found: Uses = {}
    for path in files():
        name = str(path.relative_to(ROOT))
        for line, text in _texts_of(ast.parse(path.read_text("utf-8"))):
            if catalogues.needs_text(text.id):
                found.setdefault(text, {}).setdefault(name, line)
    for line, (key, english) in enumerate(catalogues.english_of_pages().items(), start=2):
        found[CatalogueText(english, key=key)] = {"controller/language/en.json": line}
    return found


def where(text: CatalogueText, used: Uses) -> str:
    """Return the file and line that use a text first; those of `.other` for another plural form."""
    key = next((one for one in used if one == text or (text.key and one.id == text.id)), text)
    return ", ".join(f"{file}:{line}" for file, line in used.get(key, {}).items())


def updated(path: Path, used: Uses) -> tuple[Catalog, list[CatalogueText]]:
    """Return the catalogue of a file with exactly these texts, and those that it does not translate."""
    before, after = catalogues.read_file(path), Catalog(locale=path.stem.replace("-", "_"))
    lacking = []
    for text, files in sorted(_in(path.stem, used), key=lambda one: (one[0].key, one[0].id)):
        id_: Any = (text.id, text.many) if text.many else text.id
        found = before.get(id_, text.key or None)
        said = found.string if found is not None else ""
        if text.many and isinstance(said, str):
            said = ("",) * after.num_plurals
        if not all(said or ("",)):
            lacking.append(text)
        after.add(id_, said, locations=[(name, 0) for name in files], context=text.key or None)
    return after, lacking


def _in(language: str, used: Uses) -> Iterator[tuple[CatalogueText, dict[str, int]]]:
    """Yield what a language needs: pages have a text for each of its plural forms, under keys such as `x.one`."""
    keyed = {text.key: text.id for text in used if text.key}
    for text, files in used.items():
        base, _, form = text.key.rpartition(".")
        if form == "other" and f"{base}.one" in keyed:
            for name in plural_forms(language):
                yield CatalogueText(keyed.get(f"{base}.{name}", text.id), key=f"{base}.{name}"), files
        elif form != "one" or f"{base}.other" not in keyed:
            yield text, files


def plural_forms(language: str) -> tuple[str, ...]:
    """Return CLDR's names of the plural forms of a language, such as `one` and `other`."""
    return tuple(sorted({*catalogues.locale_of(language).plural_form.tags, "other"}))


def written(catalogue: Catalog) -> bytes:
    """Return the file, with no more in its header than a reader needs, so that nothing changes with the date."""
    file = io.BytesIO()
    write_po(file, catalogue, width=0, include_lineno=False, omit_header=True)
    return HEADER.format(language=catalogue.locale_identifier, plural=catalogue.plural_forms).encode() + file.getvalue()


def files() -> Iterator[Path]:
    for source in SOURCES:
        yield from sorted((ROOT / source).rglob("*.py"))


def _texts_of(tree: ast.Module) -> Iterator[tuple[int, CatalogueText]]:
    """Yield each text of a module, with its line."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name == COUNTED:
            one: list[str]
            many: list[str]
            one, many, *_ = (*(_literals(argument) for argument in node.args[:2]), [], [])
            yield from ((node.lineno, CatalogueText(*pair)) for pair in zip(one, many, strict=False))
        elif name in CALLS and len(node.args) > CALLS[name]:
            yield from ((node.lineno, CatalogueText(text)) for text in _literals(node.args[CALLS[name]]))


def _literals(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return [*_literals(node.body), *_literals(node.orelse)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


if __name__ == "__main__":
    main()
