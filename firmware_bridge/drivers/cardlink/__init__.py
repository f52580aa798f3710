"""cardlink v1, the project's own protocol; docs/cardlink.md is its specification.

`framing` finds frames in bytes, `messages` are their typed bodies, `authentication` proves who is at the other end,
`sequence` orders reports, `translate` turns messages into observations, `host` is the host's side of a link. The
device's side is in the simulators. Both share framing and messages, so golden vectors and an independent decoder in the
tests guard against a mistake that both would make.
"""
