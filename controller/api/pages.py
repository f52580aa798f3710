"""The files of a page and its words, read once. A request names one of them, never a path on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from aiohttp import web

from controller.api.in_language import language_of
from controller.language import languages
from controller.language.catalogue import texts

FOLDER: Final = Path(str(files("controller"))) / "console"
TYPES: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
CONSOLE: Final = "/console/"
WORDS: Final = f"{CONSOLE}words"
STARTING: Final = "<!-- starting -->"  # what a document contains until its scripts run, in every language
DOCUMENTS: Final = {"/": f"{CONSOLE}index.html", "/display": f"{CONSOLE}display.html"}
UNCHANGED: Final = {
    "Cache-Control": "no-cache"
}  # cached, but revalidated each time: the page belongs to the daemon's version


ADDRESS: Final = "/v1/openapi.json"
_HERE: Final = Path(__file__)
_FILE: Final = _HERE.with_name("openapi.json")


class ServedFile(NamedTuple):
    body: bytes
    type: str
    etag: str


def files_of(folder: Path, under: str) -> dict[str, Path]:
    """Return the files of a folder that a page may use, by address."""
    return {
        f"{under}{path.relative_to(folder).as_posix()}": path
        for path in sorted(folder.rglob("*"))
        if path.suffix in TYPES and path.is_file()
    }


class ServedFiles:
    """The files of a page by address, and the words of all pages. `documents`: further addresses of some files."""

    def __init__(self, files: Mapping[str, Path] | None = None, documents: Mapping[str, str] = DOCUMENTS) -> None:
        found = {at: _read(path) for at, path in (files_of(FOLDER, CONSOLE) if files is None else files).items()}
        self._pages = found | {at: found[file] for at, file in documents.items()}
        self._words = {language: _page(_words_in(language), ".json") for language in languages()}

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(self._pages)

    @property
    def version(self) -> str:
        """The version of all files together. A running page compares it with the version that it started with."""
        whole = "".join(f"{at} {page.etag} " for at, page in sorted((self._pages | self._words).items()))
        return hashlib.sha256(whole.encode()).hexdigest()[:32]

    def all(self) -> list[web.RouteDef]:
        return [web.get(at, self._send) for at in self._pages] + [web.get(WORDS, self._send_words)]

    def page(self, address: str) -> ServedFile | None:
        return self._pages.get(address)

    def words(self, language: str) -> ServedFile:
        """Return the words in that language, with its name and those of all others."""
        return self._words[language]

    async def _send(self, request: web.Request) -> web.StreamResponse:
        return _sent(request, self._pages[request.path])

    async def _send_words(self, request: web.Request) -> web.StreamResponse:
        return _sent(request, self.words(language_of(request)))


def _sent(request: web.Request, page: ServedFile) -> web.StreamResponse:
    tags = [tag.value for tag in request.if_none_match or ()]
    if page.etag in tags or "*" in tags:
        response = web.Response(status=304, headers=UNCHANGED)
    else:
        response = web.Response(body=page.body, content_type=page.type, charset="utf-8", headers=UNCHANGED)
    response.etag = page.etag
    return response


@cache
def version() -> str:
    """Return the version of the console, which a running page compares with that of its start."""
    return ServedFiles().version


def _read(path: Path) -> ServedFile:
    body = path.read_bytes()
    return _page(body.replace(STARTING.encode(), _starting()) if path.suffix == ".html" else body, path.suffix)


def _page(body: bytes, suffix: str) -> ServedFile:
    return ServedFile(body, TYPES[suffix], hashlib.sha256(body).hexdigest()[:32])


def _starting() -> bytes:
    said = {language: texts(language).keyed["page.starting"] for language in languages()}
    return "".join(f'<p lang="{language}">{escape(text)}</p>' for language, text in said.items()).encode()


def _words_in(language: str) -> bytes:
    answer = {"language": language, "languages": languages(), "words": texts(language).keyed}
    return json.dumps(answer, ensure_ascii=False).encode()


@cache
def description() -> bytes:
    """Return the description of the API, which every installation builds in the folder of this module
    (`tools/openapi.py`).
    """
    return _FILE.read_bytes()


async def send_description(request: web.Request) -> web.Response:
    return web.Response(body=description(), content_type="application/json")
