"""Calls that may hang, each on a daemon thread of its own: nobody waits for one that does, not even the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


async def on_a_thread(
    work: Callable[[], ResultT], undo: Callable[[ResultT], None] = lambda result: None, *, name: str
) -> ResultT:
    """What `work` comes to, on a thread of that name. When nobody waits any more, `undo` gets it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[ResultT] = loop.create_future()
    lock = threading.Lock()
    abandoned = False

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            tell_loop(loop, _fail_future, done, error)
            return
        with lock:
            handed_over = not abandoned and tell_loop(loop, _fill_future, done, result)
        if not handed_over:
            undo(result)

    threading.Thread(target=run, name=name, daemon=True).start()
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        with lock:
            abandoned = True
        # The result may be on its way already: told to the loop and not yet in the future.
        done.add_done_callback(lambda future: _undo_unless_failed(future, undo))
        raise


def tell_loop(loop: asyncio.AbstractEventLoop, call: Callable[..., object], *given: object) -> bool:
    """Call it on the loop. False when the loop has ended."""
    try:
        loop.call_soon_threadsafe(call, *given)
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
