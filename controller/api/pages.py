"""The files of a page, read once. A request names one of them, never a path on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

from aiohttp import web

FOLDER: Final = Path(str(files("controller"))) / "console"
TYPES: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
CONSOLE: Final = "/console/"
DOCUMENTS: Final = {"/": f"{CONSOLE}index.html", "/display": f"{CONSOLE}display.html"}
UNCHANGED: Final = {
    "Cache-Control": "no-cache"
}  # kept, and asked for again each time: the page is the daemon's version


class Page(NamedTuple):
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


class Pages:
    """The files of a page by address. `documents`: further addresses of some of them."""

    def __init__(self, files: Mapping[str, Path] | None = None, documents: Mapping[str, str] = DOCUMENTS) -> None:
        found = {at: _read(path) for at, path in (files_of(FOLDER, CONSOLE) if files is None else files).items()}
        self._pages = found | {at: found[file] for at, file in documents.items()}

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(self._pages)

    @property
    def version(self) -> str:
        """The version of all files together. A running page compares it with the version that it started with."""
        whole = "".join(f"{at} {page.etag} " for at, page in sorted(self._pages.items()))
        return hashlib.sha256(whole.encode()).hexdigest()[:32]

    def all(self) -> list[web.RouteDef]:
        return [web.get(at, self._send) for at in self._pages]

    async def _send(self, request: web.Request) -> web.StreamResponse:
        page = self._pages[request.path]
        tags = [tag.value for tag in request.if_none_match or ()]
        if page.etag in tags or "*" in tags:
            response = web.Response(status=304, headers=UNCHANGED)
        else:
            response = web.Response(body=page.body, content_type=page.type, charset="utf-8", headers=UNCHANGED)
        response.etag = page.etag
        return response


@cache
def version(folder: Path = FOLDER) -> str:
    """Return the version of all files of the console, which a running page compares with that of its start."""
    whole = hashlib.sha256()
    for name, path in files_of(folder, "").items():
        whole.update(hashlib.sha256(name.encode()).digest())
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:32]


def _read(path: Path) -> Page:
    body = path.read_bytes()
    return Page(body, TYPES[path.suffix], hashlib.sha256(body).hexdigest()[:32])
