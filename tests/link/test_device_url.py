"""Device URLs: the valid ones, and a sentence and a next step for every other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.device_url import FASTEST_BAUD, LARGEST_SEED, SLOWEST_BAUD, DeviceUrl, parse_device_url
from firmware_bridge.drivers.registry import DRIVERS, Maturity, registered_driver
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.errors import BadDeviceUrlError


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("serial:///dev/cardshoe/A12", DeviceUrl("serial", path="/dev/cardshoe/A12")),
        ("serial:/dev/ttyS0", DeviceUrl("serial", path="/dev/ttyS0")),
        ("serial:///dev/ttyS0?baud=9600", DeviceUrl("serial", path="/dev/ttyS0", baud=9600)),
        ("serial:///dev/a%20b%3fc", DeviceUrl("serial", path="/dev/a b?c")),
        ("serial:///dev/ttyS0?driver=cardlink&listen=0", DeviceUrl("serial", path="/dev/ttyS0")),
        ("usb:///1209:0001/A12", DeviceUrl("usb", path="/1209:0001/A12")),
        ("tcp://pit7.example:4001/", DeviceUrl("tcp", "pit7.example", 4001, "/")),
        ("tcp://[::1]:4001", DeviceUrl("tcp", "::1", 4001, "/")),
        ("sim:///shuffler?seed=7", DeviceUrl("sim", path="/shuffler", seed=7)),
        ("sim:///shoe", DeviceUrl("sim", path="/shoe")),
        ("sim:///shuffler?shuffle=shelves:10x2", DeviceUrl("sim", path="/shuffler", shuffle="shelves:10x2")),
    ],
)
def test_valid_device_urls(text: str, url: DeviceUrl) -> None:
    assert parse_device_url(text) == url


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "kind of device is missing"),
        ("/dev/ttyUSB0", "is a path"),
        ("com3", "kind of device is missing"),
        ("bluetooth:///shoe", "'bluetooth'"),
        ("serial:", "does not say which device"),
        ("serial:///", "does not say which device"),
        ("serial://dev/ttyUSB0", "has no host"),
        ("serial:dev/ttyUSB0", "one slash"),
        ("serial:////dev/ttyUSB0", "one slash"),
        ("tcp://127.0.0.010:4001", "'127.0.0.010' looks like an IPv4 address"),
        ("tcp://10.5.32.024:4001", "10.5.32.024"),
        ("tcp://127.1:4001", "127.1"),
        ("tcp://2130706433:4001", "2130706433"),
        ("tcp://0x7F000001:4001", "0x7f000001"),
        ("tcp://0177.0.0.1:4001", "0177.0.0.1"),
        ("tcp://10.5.32.256:4001", "10.5.32.256"),
        ("tcp://10.5.32.24.:4001", "10.5.32.24."),
        ("serial:///dev/ttyUSB0#1", "'#'"),
        ("serial:///dev/tty USB0", "spaces"),
        ("serial:///dev/tty\n", "spaces"),
        ("serial:///dev/tty%00", "cannot be printed"),
        ("serial:///dev/ttyS0?", ""),
        ("serial:///dev/ttyS0?baud", "cannot be read"),
        ("serial:///dev/ttyS0?baud=", "no value"),
        ("serial:///dev/ttyS0?baud=fast", "baud=fast"),
        ("serial:///dev/ttyS0?baud=-9600", "baud=-9600"),
        ("serial:///dev/ttyS0?baud=\u0661\u0662\u0663", "whole number"),
        ("serial:///dev/ttyS0?baud=49", "from 50 to"),
        ("serial:///dev/ttyS0?baud=4000001", "to 4000000"),
        ("serial:///dev/ttyS0?baud=9600&baud=4800", "twice"),
        ("serial:///dev/ttyS0?parity=E", "'parity'"),
        ("serial:///dev/ttyS0?seed=7", "'seed'"),
        ("serial:///dev/ttyS0?shuffle=cut", "'shuffle'"),
        ("serial:///dev/ttyS0?driver=shufflemaster", "'shufflemaster'"),
        ("serial:///dev/ttyS0?listen=yes", "listen=yes"),
        ("serial:///dev/ttyS0?listen=1", "cannot only listen"),
        ("usb:///1209:0001/A12?baud=9600", "'baud'"),
        ("usb:///A12", "does not name a USB device"),
        ("usb:///1209:0001", "does not name a USB device"),
        ("usb:///1209:0001/", "does not name a USB device"),
        ("usb:///1209:00001/A12", "does not name a USB device"),
        ("usb:///0x1209:1/A12", "does not name a USB device"),
        ("tcp:///", "host and a port"),
        ("tcp://pit7/", "host and a port"),
        ("tcp://pit7:0/", "host and a port"),
        ("tcp://pit7:99999/", "host and a port"),
        ("tcp://pit7:4001/shoe", "has no path"),
        ("tcp://dealer:secret@pit7:4001/", "user name or password"),
        ("tcp://[::1:4001/", "is not a device URL"),
        ("sim:///shuffler?seed=99999999999999999999", "seed="),
        ("sim:///shuffler?seed=" + "9" * 5000, "seed="),
    ],
)
def test_invalid_device_urls(text: str, named: str) -> None:
    if not named:
        assert parse_device_url(text) == parse_device_url(text.rstrip("?"))
        return
    with pytest.raises(BadDeviceUrlError) as refused:
        parse_device_url(text)
    assert named in str(refused.value)
    assert refused.value.hint
    assert refused.value.code == "device-url"


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(BadDeviceUrlError) as refused:
        parse_device_url("tcp://dealer:secret@pit7:4001/")
    assert "secret" not in f"{refused.value} {refused.value.hint}"


@given(st.text() | st.from_regex(r"(serial|usb|tcp|sim):(//[^/]*)?/.*(\?.*)?", fullmatch=True))
def test_any_text_is_a_url_or_is_refused(text: str) -> None:
    try:
        url = parse_device_url(text)
    except BadDeviceUrlError:
        return
    assert parse_device_url(str(url)) == url


paths = st.from_regex(r"/[^/\x00-\x1f][ -~\u00e4-\u00fc]*", fullmatch=True).filter(
    lambda path: path.isprintable() and path.strip("/")
)
pairs = st.integers(0, 0xFFFF)
urls = st.one_of(
    st.builds(DeviceUrl, st.just("serial"), path=paths, baud=st.integers(SLOWEST_BAUD, FASTEST_BAUD)),
    st.builds(DeviceUrl, st.just("usb"), path=st.builds("/{:04x}:{:04X}{}".format, pairs, pairs, paths)),
    st.builds(
        DeviceUrl,
        st.just("tcp"),
        host=st.sampled_from(["pit7", "10.0.0.9", "::1"]),
        port=st.integers(1, 65535),
        path=st.just("/"),
    ),
    st.builds(DeviceUrl, st.just("sim"), path=paths, seed=st.none() | st.integers(0, LARGEST_SEED)),
)


@given(urls)
def test_written_and_read_again_it_is_the_same(url: DeviceUrl) -> None:
    assert parse_device_url(str(url)) == url


def test_every_registered_driver_can_be_made() -> None:
    for row in DRIVERS.values():
        driver = registered_driver(row.name).load()(
            DriverSetting(bytes(16), DeviceUrl("serial", path="/dev/x").line), 0.0
        )
        assert driver.wake_at() >= 0.0
        assert row.maturity in Maturity
