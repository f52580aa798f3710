"""Captures: files with the traffic of a link, which can be shown and replayed through its driver.

`capture_format` is the file format, `recorder` writes it while a link is open, `reader` reads it, `replay` replays it.
"""
