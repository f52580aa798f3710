"""A non-blocking file descriptor on the event loop: the common part of serial ports and TCP connections."""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from typing import Final

from firmware_bridge.errors import TransportLostError
from firmware_bridge.transports.base import UNSENT_LIMIT, OnData, OnLost

READ_SIZE: Final = 4096


class DescriptorTransport(ABC):
    """A transport over one descriptor, which it owns and closes. End of file means that the connection is lost."""

    def __init__(self, descriptor: int, on_data: OnData, on_lost: OnLost, *, listen_only: bool = False) -> None:
        self._descriptor = descriptor
        self._on_data = on_data
        self._on_lost = on_lost
        self._listen_only = listen_only
        self._unsent = bytearray()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(descriptor, self._read)

    @abstractmethod
    def _release(self, descriptor: int, unsent: bool) -> None:
        """Close the descriptor without waiting, in any state. `unsent` means that bytes were still waiting to be
        sent.
        """

    @abstractmethod
    def _gone(self) -> TransportLostError:
        """Return the error for a lost connection."""

    @abstractmethod
    def _stalled(self) -> TransportLostError:
        """Return the error for more than UNSENT_LIMIT bytes waiting to be sent."""

    def write(self, data: bytes) -> None:
        if self._descriptor < 0 or self._listen_only or not data:
            return
        if not self._unsent:
            data = data[self._send(data) :]
            if self._descriptor < 0 or not data:
                return
            self._loop.add_writer(self._descriptor, self._write_unsent)
        self._unsent += data
        if len(self._unsent) > UNSENT_LIMIT:
            self._lose(self._stalled())

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0:
            return
        unsent = bool(self._unsent)
        self._unsent.clear()
        if not self._loop.is_closed():
            self._loop.remove_reader(descriptor)
            self._loop.remove_writer(descriptor)
        self._release(descriptor, unsent)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except Exception as error:  # an exception here would leave the descriptor registered, and readable forever
            self._lose(self._gone(), error)
            return
        if data:
            self._on_data(data)
        else:
            self._lose(self._gone())

    def _write_unsent(self) -> None:
        del self._unsent[: self._send(self._unsent)]
        if self._descriptor >= 0 and not self._unsent:
            self._loop.remove_writer(self._descriptor)

    def _send(self, data: bytes | bytearray) -> int:
        """Return how many bytes the kernel took. The connection may be lost afterwards."""
        try:
            return os.write(self._descriptor, data)
        except (BlockingIOError, InterruptedError):
            return 0
        except Exception as error:  # as in _read
            self._lose(self._gone(), error)
            return 0

    def _lose(self, lost: TransportLostError, error: Exception | None = None) -> None:
        lost.__cause__ = error
        self.close()
        self._on_lost(lost)
