"""cardlink v1, the project's own protocol: docs/cardlink.md is its specification.

`framing` finds frames in bytes, `messages` are their typed bodies, `proofs` authenticate, `host` is the host's side of
a link. The device's side of a link lives with the simulators; both share framing and messages, so the golden vectors
in the tests and a decoder written apart guard against a mistake that both would make.
"""
