"""Serves the page's files and prepared messages as the daemon does, without a table."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from controller.api.bodies import encode
from controller.api.pages import WORDS, ServedFiles
from controller.api.preview import PreviewAnswer
from controller.language import PARAMETER, known


class PageServer:
    """A context manager. `show` gives every open stream a state and a beat; `hang_up` ends the streams."""

    def __init__(self) -> None:
        self._streams: list[queue.Queue[bytes | None]] = []
        self._newest: list[bytes] = []
        self._lock = threading.Lock()
        self.asked: list[str] = []  # paths, in order
        self.pages = ServedFiles()
        self.tried: Callable[[bytes], PreviewAnswer] | None = None  # answers previews; without it they are refused
        self.refuse = 0  # the number of streams that are refused, as by a proxy whose daemon is away
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever)

    def __enter__(self) -> PageServer:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.hang_up()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def show(self, state: dict[str, Any], beat: dict[str, Any]) -> None:
        """Show this state from now on. A stream that is opened later begins with it."""
        said = [
            f"event: state\nid: {state['entry']}\ndata: {json.dumps(state)}\n\n".encode(),
            f"event: beat\ndata: {json.dumps(beat)}\n\n".encode(),
        ]
        with self._lock:
            self._newest = said
            for stream in self._streams:
                for part in said:
                    stream.put(part)

    def hang_up(self) -> None:
        with self._lock:
            for stream in self._streams:
                stream.put(None)
            self._streams.clear()

    def _follow(self, request: BaseHTTPRequestHandler) -> None:
        mine: queue.Queue[bytes | None] = queue.Queue()
        with self._lock:
            for part in self._newest:
                mine.put(part)
            self._streams.append(mine)
        request.send_response(200)
        request.send_header("Content-Type", "text/event-stream")
        request.end_headers()
        mine.put(b"retry: 100\n\n")
        try:
            while said := mine.get():
                request.wfile.write(said)
        except OSError:
            return  # the browser has gone

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = urlsplit(self.path).path
                server.asked.append(path)
                if path == "/v1/screen" and server.refuse:
                    server.refuse -= 1
                    self.send_error(503)
                    return
                if path == "/v1/screen":
                    server._follow(self)
                    return
                asked = parse_qs(urlsplit(self.path).query).get(PARAMETER, [""])[0]
                page = server.pages.words(known(asked)) if path == WORDS else server.pages.page(path)
                if page is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Type", f"{page.type}; charset=utf-8")
                self.send_header("Content-Length", str(len(page.body)))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                with contextlib.suppress(OSError):  # the browser has gone
                    self.wfile.write(page.body)

            def do_POST(self) -> None:
                """Refuse operations, which no test of these pages needs, and previews unless a test answers them."""
                server.asked.append(self.path)
                sent = self.rfile.read(int(self.headers["Content-Length"]))
                tried = server.tried if urlsplit(self.path).path == "/v1/preview" else None
                body = encode(tried(sent) if tried else PreviewAnswer(accepted=False, code="no-preview"))
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                """Log nothing."""

        return Handler
