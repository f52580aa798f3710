"""Captures: what crossed the wire, kept in a file, shown, and played back through the driver that heard it.

`records` is the format, `recorder` writes it while a link lives, `reading` reads it, `replay` plays it back.
"""
