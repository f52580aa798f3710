"""Passes one request at a time: a whole head, the body of the stated length, and after the answer the next head.

This bounds what the parser gets before anyone knows who asks. A body in chunks of one byte, or thousands of requests in
one piece, would block the event loop for as long as the sender likes.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST_HEAD: Final = 32 * 1024  # bytes; as much as reverse proxies accept
_END: Final = b"\r\n\r\n"
_CHUNKED: Final = re.compile(rb"[\r\n][ \t]*transfer-encoding", re.IGNORECASE)
_LENGTH: Final = re.compile(rb"\r\ncontent-length[ \t]*:[ \t]*0*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
_NO_HTTP: Final = 64  # bytes of data that is not HTTP; the parser refuses the first of them


class ChunkedBodyError(Exception):
    """Reports a head with `Transfer-Encoding`, whose body would come in chunks."""


class HeadTooLongError(Exception):
    """Reports more than `LONGEST_HEAD` bytes without the end of the head."""


class RequestGate:
    r"""The bytes of one connection on their way to the parser.

    >>> gate = RequestGate()
    >>> gate.take(b"GET / HTTP"), gate.take(b"/1.1\r\n\r\nGET /next HTTP/1.1\r\n\r\n")
    (b'', b'GET / HTTP/1.1\r\n\r\n')
    >>> gate.end_request()
    b'GET /next HTTP/1.1\r\n\r\n'
    """

    def __init__(self) -> None:
        self._held = bytearray()
        self._without_end = 0  # bytes already searched for the end of the head
        self._body = 0  # bytes of the body still to come
        self._in_request = False

    @property
    def holds(self) -> bool:
        """Return whether bytes wait: part of a head, or the next request."""
        return bool(self._held)

    def take(self, data: bytes) -> bytes:
        """Take received bytes and return those for the parser. Raises `ChunkedBodyError` and `HeadTooLongError`."""
        self._held += data
        passed = self._pass_body()
        return passed if self._in_request or self._body else passed + self._next()

    def end_request(self) -> bytes:
        """Note that the request is answered, and return the next one's bytes for the parser. Raises as `take`."""
        self._in_request = False
        return self.take(b"")

    def _next(self) -> bytes:
        """Return the next head with the received part of its body, once the head is complete."""
        held = self._held
        del held[: len(held) - len(held.lstrip(b"\r\n"))]
        if held and not 65 <= held[0] <= 90:  # not the start of a method, so no head can follow
            self._in_request = True
            return self._pass(_NO_HTTP)
        if (end := held.find(_END, self._without_end)) < 0:
            if len(held) > LONGEST_HEAD:
                raise HeadTooLongError
            self._without_end = max(0, len(held) - len(_END) + 1)
            return b""
        head = self._pass(end + len(_END))
        if _CHUNKED.search(head):
            held.clear()
            raise ChunkedBodyError
        self._in_request = True
        length = _LENGTH.search(head)
        self._body = int(length[1]) if length else 0
        return head + self._pass_body()

    def _pass_body(self) -> bytes:
        passed = self._pass(self._body) if self._body else b""
        self._body -= len(passed)
        return passed

    def _pass(self, length: int) -> bytes:
        passed = bytes(self._held[:length])
        del self._held[:length]
        self._without_end = 0
        return passed
