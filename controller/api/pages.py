"""The console's files, read once: a request names one of them, and never a path of the disk."""

from __future__ import annotations

import hashlib
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
DOCUMENTS: Final = {"/": "index.html", "/display": "display.html"}
UNCHANGED: Final = {
    "Cache-Control": "no-cache"
}  # kept, and asked for again each time: the page is the daemon's version


class Page(NamedTuple):
    body: bytes
    type: str
    etag: str


class Pages:
    """Every file of the console under `/console/`, and its two documents at addresses of their own."""

    def __init__(self, folder: Path = FOLDER) -> None:
        found = {
            f"/console/{path.relative_to(folder).as_posix()}": _read(path)
            for path in sorted(folder.rglob("*"))
            if path.suffix in TYPES and path.is_file()
        }
        self._pages = found | {at: found[f"/console/{name}"] for at, name in DOCUMENTS.items()}

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(self._pages)

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
    """Of all files of the console together: a page that runs compares it with the one that it began with."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in TYPES and path.is_file():
            whole.update(hashlib.sha256(path.relative_to(folder).as_posix().encode()).digest())
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:32]


def _read(path: Path) -> Page:
    body = path.read_bytes()
    return Page(body, TYPES[path.suffix], hashlib.sha256(body).hexdigest()[:32])
