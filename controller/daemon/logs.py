"""Logs: one line an event, with a stable dotted name; JSON, unless a person looks at a terminal."""

from __future__ import annotations

import sys

import structlog


def configure_logs(level: int) -> None:
    """To stderr. `level` as in the standard library: 20 info, 30 warning."""
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if sys.stderr.isatty():
        # Local variables stay out of tracebacks: they may hold cards and keys.
        renderer: structlog.typing.Processor = structlog.dev.ConsoleRenderer(
            exception_formatter=structlog.dev.plain_traceback
        )
    else:
        no_locals = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        processors.append(structlog.processors.ExceptionRenderer(no_locals))
        renderer = structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[*processors, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
