"""`GET /v1/openapi.json`: the description of the API, the same bytes for everyone.

It is docs/openapi.json of the sources, which the installed package carries beside this module. It is read once.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from aiohttp import web

ADDRESS: Final = "/v1/openapi.json"
_HERE: Final = Path(__file__)
_FILES: Final = (_HERE.with_name("openapi.json"), _HERE.parents[2] / "docs" / "openapi.json")


@cache
def description() -> bytes:
    return next(file for file in _FILES if file.is_file()).read_bytes()


async def send_description(request: web.Request) -> web.Response:
    return web.Response(body=description(), content_type="application/json")
