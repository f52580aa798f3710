"""Runs each call that may hang on its own daemon thread, so that it cannot keep the program from ending."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


async def run_in_thread(
    work: Callable[[], ResultT], undo: Callable[[ResultT], None] = lambda result: None, *, name: str
) -> ResultT:
    """Return the result of `work`, run on a named thread. If the caller is cancelled meanwhile, pass it to `undo`."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[ResultT] = loop.create_future()
    lock = threading.Lock()
    abandoned = False

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            call_on_loop(loop, _fail_future, done, error)
            return
        with lock:
            handed_over = not abandoned and call_on_loop(loop, _fill_future, done, result)
        if not handed_over:
            undo(result)

    threading.Thread(target=run, name=name, daemon=True).start()
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        with lock:
            abandoned = True
        # The result may be scheduled on the loop already and not yet be in the future.
        done.add_done_callback(lambda future: _undo_unless_failed(future, undo))
        raise


def call_on_loop(loop: asyncio.AbstractEventLoop, call: Callable[..., object], *arguments: object) -> bool:
    """Schedule a call on the loop from any thread. Return False if the loop has ended."""
    try:
        loop.call_soon_threadsafe(call, *arguments)
    except RuntimeError:
        return False
    return True


def _fill_future(future: asyncio.Future[ResultT], result: ResultT) -> None:
    future.set_result(result)


def _fail_future(future: asyncio.Future[Any], error: BaseException) -> None:
    if isinstance(error, StopIteration):  # a future cannot hold one
        error = RuntimeError("StopIteration")
    future.set_exception(error)


def _undo_unless_failed(future: asyncio.Future[ResultT], undo: Callable[[ResultT], None]) -> None:
    if not future.cancelled() and future.exception() is None:
        undo(future.result())
