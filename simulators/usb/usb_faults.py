"""The faults on the USB of a simulated device."""

from __future__ import annotations

import errno

import msgspec


class UsbFaults(msgspec.Struct):
    """The faults in effect, by name.

    With `unplug_after` the cable comes out when that many bytes have passed on all endpoints since the plug; with 0 it
    does not. `unplug_errno` is the error then: 19 (ENODEV) or 5 (EIO), as host controllers differ. With `silent`, bytes
    are taken and lost, and none come. With `takes_nothing`, no byte is taken. `stalls` is how often an endpoint stalls,
    by address; each stall lasts until it is cleared. With `serial_stalls`, the serial number cannot be read.
    `unanswered` is the number of the control request, counted from the plug, that is never answered; with 0 all are.
    """

    unplug_after: int = 0
    unplug_errno: int = errno.ENODEV
    silent: bool = False
    takes_nothing: bool = False
    serial_stalls: bool = False
    unanswered: int = 0
    stalls: dict[int, int] = msgspec.field(default_factory=dict)


class UsbPlan(msgspec.Struct):
    """The frames, counted from 1, at which something happens. `sent` counts those that have gone out.

    `halt` is the frame before which the endpoint halts, `babble` the one that comes in a packet that is too long,
    `hub_reset` the one in the middle of which the hub resets. `short` is the size of packets in bytes, 0 for whole
    ones. `unanswered` is the control request after the next plug that is not answered, or 0.
    """

    sent: int = 0
    halt: set[int] = msgspec.field(default_factory=set)
    babble: set[int] = msgspec.field(default_factory=set)
    hub_reset: set[int] = msgspec.field(default_factory=set)
    short: int = 0
    unanswered: int = 0
