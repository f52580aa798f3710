"""cardlink v1, the project's own protocol; docs/cardlink.md is its specification.

    framing      frames in a stream of bytes
    messages     the typed bodies of frames, and why one cannot be read
    sealing      proofs of the key, sealed frames, and the channel that both sides share
    translate    messages as observations, commands as orders
    handshake    the host's side from hello to the device's proof
    reports      which report comes next, and when it is overdue
    link_ends    the reasons for which a link ends
    host         the driver: the host's side of a link

The device's side is in the simulators. Both sides share framing, messages and sealing, so golden vectors and an
independent decoder in the tests guard against a mistake that both would make.
"""
