"""Captures: the traffic of a link in a file, to be shown and to be replayed through its driver.

`capture_format` is the file format, `recorder` writes it during a link, `reader` reads it, `replay` replays it.
"""
