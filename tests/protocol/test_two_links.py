"""Two hosts and two devices whose cables, frames or firmware are exchanged: none is taken for another.

Tests with a single link (wrong keys, damaged, reflected and recorded proofs, versions) are in test_handshake.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest

from firmware_bridge.drivers.base import Contradicted, Heard, LinkReady
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import FrameReader
from firmware_bridge.drivers.cardlink.host import CardlinkHost
from firmware_bridge.drivers.cardlink.messages import FrameKind
from firmware_bridge.drivers.setting import ANY_DEVICE, DevicePolicy

from .parts import BenchDevice, converse, frame, fresh_nonce, kinds_in, only, over, rejected, sealed, status

APPROVED: Final = "a" * 64
KEYS: Final = {"SHOE-A": b"a" * 32, "SHOE-B": b"b" * 32}
BOOTS: Final = {"SHOE-A": 0xA1, "SHOE-B": 0xB2}


def host(policy: DevicePolicy = ANY_DEVICE, *paired: str) -> CardlinkHost:
    """Return a table's host that has the keys of these devices, by default of both."""
    keys = {serial: KEYS[serial] for serial in paired or KEYS}
    return CardlinkHost(nonce=fresh_nonce(), key_of=keys.get, held=(0, 0), now=0.0, policy=policy)


def device(serial: str, *, key_of: str = "", firmware_digest: str = APPROVED) -> BenchDevice:
    """Return a device. `key_of`: the device whose key it has, by default its own."""
    key = KEYS[key_of or serial]
    return BenchDevice(serial=serial, key=key, boot=BOOTS[key_of or serial], firmware_digest=firmware_digest)


def refused(heard: Sequence[Heard], code: str) -> str:
    """Return the sentence of a refusal with that code, which must be the only message heard."""
    end = over(heard)
    assert (end.code, end.refused) == (code, True)
    assert str(end.sentence).endswith(".")
    return str(end.sentence)


def test_each_host_links_with_its_own_device() -> None:
    for serial in KEYS:
        ready = only(converse(host(DevicePolicy(serial, (APPROVED,)), serial), device(serial), 0.0))
        assert isinstance(ready, LinkReady)
        assert ready.identity.serial == serial


# -- cables exchanged -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ours", "theirs"), [("SHOE-A", "SHOE-B"), ("SHOE-B", "SHOE-A")])
def test_exchanged_cables_are_noticed_though_both_devices_are_paired(ours: str, theirs: str) -> None:
    sentence = refused(converse(host(DevicePolicy(serial=ours)), device(theirs), 0.0), "device-other-serial")
    assert f"The connected device is {theirs}" in sentence
    assert f"this table uses only {ours}" in sentence


def test_exchanged_cables_are_noticed_by_the_keys_where_nothing_is_pinned() -> None:
    sentence = refused(converse(host(ANY_DEVICE, "SHOE-A"), device("SHOE-B"), 0.0), "device-unknown-serial")
    assert "SHOE-B" in sentence


def test_the_pin_is_checked_before_the_key() -> None:
    """A device that is not the table's is reported as such, whether it is paired or not."""
    refused(converse(host(DevicePolicy(serial="SHOE-A"), "SHOE-A"), device("SHOE-B"), 0.0), "device-other-serial")


def test_a_device_with_the_others_serial_number_lacks_its_key() -> None:
    pinned = DevicePolicy(serial="SHOE-A")
    refused(converse(host(pinned), device("SHOE-A", key_of="SHOE-B"), 0.0), "device-rejects-host")


# -- frames exchanged between two links -------------------------------------------------------------------------------


class TwoLinks:
    """Two links that have reached the proofs, with what each side has sent."""

    def __init__(self, *serials: str) -> None:
        self.devices = [device(serial) for serial in serials]
        self.hosts = [host(), host()]
        self.hellos = [one.outgoing() for one in self.hosts]
        self.identities = [
            one.exchange(hello, 0.0) for one, hello in zip(self.devices, self.hellos, strict=True)
        ]  # each device answers its own host
        for one, identity in zip(self.hosts, self.identities, strict=True):
            assert one.receive(identity, 0.0) == []
        self.host_proofs = [one.outgoing() for one in self.hosts]


def test_a_hosts_proof_is_invalid_on_the_other_link() -> None:
    links = TwoLinks("SHOE-A", "SHOE-B")
    for taker, proof in zip(links.devices, reversed(links.host_proofs), strict=True):
        assert rejected(taker.exchange(proof, 0.0)) == "proof"
        assert not taker.link.linked


@pytest.mark.parametrize("serials", [("SHOE-A", "SHOE-B"), ("SHOE-A", "SHOE-A")], ids=["two keys", "one key"])
def test_a_devices_proof_is_invalid_on_the_other_link(serials: tuple[str, str]) -> None:
    """It is invalid even with the same key: two hosts that share a key are still two conversations."""
    links = TwoLinks(*serials)
    proofs = [one.exchange(proof, 0.0) for one, proof in zip(links.devices, links.host_proofs, strict=True)]
    for taker, data, serial in zip(links.hosts, reversed(proofs), serials, strict=True):
        (proof,) = FrameReader().receive(data)
        assert proof.kind == FrameKind.DEVICE_PROOF
        moved = frame(FrameKind.DEVICE_PROOF, messages.decode_proof(proof.body), boot=BOOTS[serial])
        refused(taker.receive(moved, 0.0), "device-proof")


def test_one_hosts_proof_does_not_pass_for_a_device_at_the_other() -> None:
    """Both tables have the key: one host's proof with it is returned to the other as a device's."""
    links = TwoLinks("SHOE-A", "SHOE-A")
    (proof,) = FrameReader().receive(links.host_proofs[1])
    reflected = frame(FrameKind.DEVICE_PROOF, messages.decode_proof(proof.body), boot=BOOTS["SHOE-A"])
    refused(links.hosts[0].receive(reflected, 0.0), "device-proof")


def test_a_host_does_not_link_with_an_answer_to_the_others_hello() -> None:
    """The nonces belong to another conversation, so the device rejects this host although it is the right device."""
    right, taken, other = device("SHOE-A"), host(), host()
    taken.outgoing()
    assert taken.receive(right.exchange(other.outgoing(), 0.0), 0.0) == []
    refused(converse(taken, right, 0.0), "device-rejects-host")


def test_a_nonce_of_an_earlier_handshake_establishes_no_link() -> None:
    """The identity of an earlier handshake, played to a host that sends a new hello."""
    right = device("SHOE-A")
    before = right.exchange(host().outgoing(), 0.0)
    now = host()
    right.exchange(now.outgoing(), 1.0)
    assert now.receive(before, 1.0) == []
    refused(converse(now, right, 1.0), "device-rejects-host")


@pytest.mark.parametrize("serials", [("SHOE-A", "SHOE-B"), ("SHOE-A", "SHOE-A")], ids=["two keys", "one key"])
def test_no_frame_of_one_established_link_is_accepted_on_the_other(serials: tuple[str, str]) -> None:
    """On either side, even with the same key, it counts as forged and not as a sign of life, and ends nothing."""
    devices = [device(serial) for serial in serials]
    hosts = [host(), host()]
    for one, other in zip(hosts, devices, strict=True):
        assert isinstance(only(converse(one, other, 0.0)), LinkReady)
    order = sealed(
        hosts[1], FrameKind.COMMAND, messages.CommandBody(1, messages.ShuffleOrder()), boot=BOOTS[serials[0]]
    )
    assert devices[0].exchange(order, 2.9) == b""
    assert devices[0].carried_out == []
    noted = only(hosts[0].receive(status(devices[1]), 2.9))
    assert isinstance(noted, Contradicted)
    assert noted.what == "forged_frames"
    assert hosts[0].statistics.frames_forged == 1
    devices[0].link.tick(3.0)
    assert not devices[0].link.linked
    assert over(hosts[0].tick(3.0)).code == "device-silent"


# -- firmware ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("digest", ["b" * 64, ""], ids=["another", "none"])
def test_firmware_that_is_not_approved_is_refused(digest: str) -> None:
    other = device("SHOE-A", firmware_digest=digest)
    sentence = refused(converse(host(DevicePolicy(firmware_digests=(APPROVED,))), other, 0.0), "device-firmware")
    assert "SHOE-A" in sentence
    assert (digest or "no digest") in sentence
    assert not other.link.linked, "it is not resumed with"


def test_one_of_several_approved_is_enough() -> None:
    policy = DevicePolicy("SHOE-A", ("b" * 64, APPROVED))
    assert isinstance(only(converse(host(policy), device("SHOE-A"), 0.0)), LinkReady)


def test_the_firmware_of_a_proven_device_only_is_judged() -> None:
    """Otherwise anyone on the cable could choose the firmware that the journal names."""
    foreign = device("SHOE-A", key_of="SHOE-B", firmware_digest="b" * 64)
    refused(converse(host(DevicePolicy(firmware_digests=(APPROVED,))), foreign, 0.0), "device-rejects-host")


def test_a_refused_device_is_sent_nothing() -> None:
    taken, other = host(DevicePolicy(serial="SHOE-A")), device("SHOE-B")
    taken.receive(other.exchange(taken.outgoing(), 0.0), 0.0)
    assert taken.outgoing() == b"", "a proof would give it information"
    assert taken.receive(frame(FrameKind.STATUS, other.status(), boot=BOOTS["SHOE-B"]), 0.1) == []
    assert kinds_in(other.link.outgoing()) == []
