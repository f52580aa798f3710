"""Inputs that once raised an exception outside a target's contract, with that target."""

from __future__ import annotations

from typing import Final

_HEADER: Final = (
    b'{"is":"capture","format":1,"id":"x","date":"","url":"serial:///dev/cardshoe/SHOE-9?driver=bee_tek",'
    b'"driver":"bee_tek","origin":"simulated","sealed":false}\n'
)
_OPENED: Final = b'{"is":"opened","ms":0}\n{"is":"driver_made","ms":0,"nonce":"01","boot":0,"number":0}\n'

FOUND: Final[tuple[tuple[str, bytes], ...]] = (
    # a header that is damaged beside its format: IndexError
    ("capture", _HEADER.replace(b'"sealed":false', b'"sealed":0') + _OPENED),
    ("capture", _HEADER.replace(b'"id":"x",', b"") + b'{"is":"sealed","number":1,"sealed":"AAAA"}\n'),
    # a time longer than any recording: OverflowError, or a replay without end
    ("capture", _HEADER + _OPENED + b'{"is":"from_device","ms":%d,"hex":"00"}\n' % 10**18),
    ("capture", _HEADER + _OPENED + b'{"is":"from_device","ms":%d,"hex":"00"}\n' % 10**12),
    # steps about hands and cards that do not exist: KeyError, IndexError
    ("scenario", b"game NC\nbegin\nswapped B1 B3\n"),
    ("scenario", b"game TP\ndevice sets\nbegin\nopen all\n"),
    ("scenario", b"game RTP\ndevice singles\nbegin\ndevice unseen 256\ndevice foreign\n"),
    ("scenario", b"game NC\nbegin\ndevice face-up 99\n"),
    ("scenario", b"game NC\nbegin\ndevice face-up %d\n" % 10**40),
    # a step that takes longer than a day
    ("scenario", b"game NC\nbegin\ntake 999999999\n"),
    # readings of one game in a scenario of another: SettingError
    ("scenario", b"game F3\nreading faces up\ngame P3\nbegin\n"),
)
