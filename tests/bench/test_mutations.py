"""The bench finds a device that breaks a promise, and names the section of the page.

Each row breaks one thing in the simulated device (`broken_devices`). Devices are in memory: their timeouts take no
time.
"""

from __future__ import annotations

import math
from hashlib import sha256
from typing import NamedTuple

import pytest

from firmware_bridge import observations
from firmware_bridge.drivers.cardlink.messages import FrameKind
from simulators.bench.promise import KEPT, BrokenPromiseError
from simulators.bench.promises import operator
from simulators.devices.simulated_device import SimulatedDevice
from tests.bench import broken_devices as broken
from tests.bench.broken_devices import Break
from tests.bench.promised import ask, good_device, kept_named


class Row(NamedTuple):
    """`test` must fail, with a sentence that names `section`."""

    fault: str
    breaks: Break
    test: str
    section: str
    pace: float = 0.0


FORGETS = broken.before("_take_command", lambda link: link._answers.clear())
SET = observations.SetDispensed
ROWS = [
    # The exit
    Row("it never holds its exit", broken.never_holds, "exit_held_is_true", "Bodies"),
    Row("it deals while the exit is held", broken.without_reason("held"), "no_set_is_formed_while_the_exit_is_held",
        "Commands"),
    Row("it does not hold its exit when the host is gone", broken.never("_on_host_lost"),
        "the_exit_is_held_when_the_host_is_lost", "Signs of life"),
    # Commands
    Row("it forgets command ids", FORGETS, "an_id_is_carried_out_once", "Commands"),
    Row("it remembers eight ids", broken.after("_take_command", broken.remembers_few_ids),
        "the_last_ids_are_remembered", "Commands"),
    Row("its second answer contradicts the first", broken.contradicts, "an_id_is_carried_out_once", "Commands"),
    Row("it answers twice", broken.answers_twice, "the_answer_comes_after_its_reports", "Commands"),
    Row("its answers name no report", broken.answer_without_number, "the_answer_comes_after_its_reports", "Commands"),
    Row("it remembers ids of the previous link", broken.remembers_ids_of_the_link_before, "a_new_link_forgets_ids",
        "Commands"),
    Row("it carries out orders that it does not know", broken.does_what_it_does_not_know,
        "an_unknown_order_is_unknown", "Commands"),
    Row("it names a later reason", broken.without_reason("held", "empty"), "the_first_reason_is_named", "Commands"),
    Row("it forms a set onto another", broken.without_reason("tray"), "a_second_set_does_not_join_the_first",
        "Commands"),
    Row("it moves cards for two commands", broken.two_at_a_time, "a_second_command_that_moves_cards_is_busy",
        "Commands", 1.0),
    Row("it carries out commands of another boot", broken.takes_other_boots, "a_command_of_another_boot_is_ignored",
        "Header values"),
    Row("it counts one card of the stub too few", broken.seen_with(observations.StubUnloaded,
        lambda seen: {"count": seen.count - 1}), "the_stub_adds_up", "Commands"),
    # The program, and versions
    Row("its digest does not depend on the salt", broken.attests(lambda asked, program: sha256(program).digest()),
        "the_program_is_shown", "The program in the device"),
    Row("it hashes the whole program whatever the range", broken.attests(broken.keyed), "the_program_is_shown",
        "The program in the device"),
    Row("it does not answer challenges", broken.never("_attest"), "the_program_is_shown", "The program in the device"),
    Row("it hashes what there is of a range", broken.attests(
        lambda asked, program: broken.keyed(asked, program[asked.offset : asked.offset + asked.length])),
        "what_cannot_be_shown", "The program in the device"),
    Row("it names a version that it does not speak", broken.names(1, 7, speaks=(1,)), "the_versions_are_spoken",
        "Versions"),
    Row("it speaks a version that it does not name", broken.names(1, speaks=(1, 2)), "the_versions_are_spoken",
        "Versions"),
    Row("it names its versions in falling order", broken.names(2, 1), "the_versions_are_spoken", "Versions"),
    Row("it does not name version 1", broken.names(2, speaks=(1, 2)), "the_versions_are_spoken", "Versions"),
    Row("it names no version", broken.names(speaks=(1,)), "the_versions_are_spoken", "Versions"),
    # Reports
    Row("it ignores acknowledgements", broken.never("_take_ack"), "acks_free_the_window", "Reports"),
    Row("it never sends again", broken.after("_fill_window", lambda link: setattr(link, "_resend_at", math.inf)),
        "it_sends_again_and_waits_longer_each_time", "Reports"),
    Row("it waits 200 ms each time", broken.before("tick", lambda link: setattr(link, "_resend_wait", 0.1)),
        "it_sends_again_and_waits_longer_each_time", "Reports"),
    Row("it waits longer than 2 s", broken.constant("RESEND_LONGEST", 60.0),
        "it_sends_again_and_waits_longer_each_time", "Reports"),
    Row("its wait stays long after an ack", broken.keeps_the_long_wait, "an_ack_makes_the_wait_short_again", "Reports"),
    Row("its window is 12", broken.constant("WINDOW", 12), "at_most_eight_are_sent", "Reports"),
    Row("an ack with number 0 covers everything", broken.covers(lambda number, newest: number or newest),
        "acks_of_nothing_cover_nothing", "Reports"),
    Row("an ack of a number not made covers everything", broken.covers(min), "acks_of_nothing_cover_nothing",
        "Reports"),
    Row("its numbers have gaps", broken.before("report", broken.leaves_gaps),
        "numbers_rise_by_one_and_are_kept_over_a_new_link", "Reports"),
    Row("it forgets its reports with the link", broken.before("_take_resume", lambda link: link._kept.clear()),
        "numbers_rise_by_one_and_are_kept_over_a_new_link", "Reports"),
    Row("it forgets its reports with the host", broken.loses_reports_with_the_host, "reports_are_kept_without_a_host",
        "Signs of life"),
    # Statuses
    Row("it tells a wrong `dispensed`", broken.status_with(lambda status: {"dispensed": status.dispensed + 1}),
        "the_status_counts_what_was_reported", "Bodies"),
    Row("it tells a wrong `remaining`", broken.status_with(lambda status: {"remaining": status.loaded}),
        "the_status_counts_what_was_reported", "Bodies"),
    Row("it tells a wrong `sets_dispensed`", broken.status_with(lambda status: {"sets_dispensed": 0}),
        "the_status_counts_what_was_reported", "Bodies"),
    Row("it tells a wrong `exit_held`", broken.status_with(lambda status: {"exit_held": not status.exit_held}),
        "exit_held_is_true", "Bodies"),
    Row("it says that no set lies in the tray", broken.status_with(lambda status: {"tray_occupied": False}),
        "the_tray_is_known", "Bodies"),
    Row("it names an older report as the last", broken.status_with(lambda status: {"last_report": 1}),
        "last_report_and_heard_are_true", "Bodies"),
    Row("it never hears", broken.status_with(lambda status: {"heard": 0}), "last_report_and_heard_are_true", "Bodies"),
    Row("its `last_command` is one that was refused", broken.last_command_of_refusals,
        "last_command_is_the_last_that_was_done", "Bodies"),
    Row("its statuses come every 2.6 s", broken.constant("HEARTBEAT", 2.6), "a_status_comes_each_second",
        "Signs of life"),
    Row("it sends no status when all is acknowledged",
        broken.after("_take_resume", lambda link: setattr(link, "_catching_up", False)),
        "a_status_comes_when_all_is_acknowledged", "Signs of life"),
    Row("it never loses its host", broken.constant("HOST_LOST_AFTER", 1e9), "a_recording_does_nothing", "A link"),
    Row("it does not stop sending", broken.constant("HOST_LOST_AFTER", 1e9), "the_exit_is_held_when_the_host_is_lost",
        "Signs of life"),
    # Cards
    Row("it tells a wrong deck", broken.seen_with(SET, lambda seen: {"deck": seen.deck + 1}), "sets_run_on", "Bodies"),
    Row("it tells a wrong ordinal", broken.seen_with(SET, lambda seen: {"ordinal": seen.ordinal + 1}), "sets_run_on",
        "Bodies"),
    Row("it sends reserved card numbers", broken.sends_reserved_cards, "no_reserved_card_number_is_sent", "Bodies"),
    Row("its integers are wide", broken.wide_integers, "reports_have_the_shortest_form", "Sealed frames"),
    # Sealed frames
    Row("it uses a counter twice", broken.before("_send", broken.a_counter_again), "no_counter_is_used_twice",
        "Sealed frames"),
    Row("it looks at no tag", broken.looks_at_no_tag, "a_forged_frame_changes_nothing", "Sealed frames"),
    Row("it takes what is played back", broken.after("_become_active", broken.takes_what_is_played_back),
        "a_frame_played_back_is_not_taken", "Sealed frames"),
    Row("it takes sealed frames of any version", broken.after("_become_active", broken.takes_any_version),
        "another_version_is_dropped", "Sealed frames"),
    Row("it takes other flags",
        broken.after("_become_active", lambda link: link._channel._opener._last.update({2: 0})),
        "other_flags_are_dropped", "Sealed frames"),
    Row("forged frames are signs of life to it", broken.forgeries_are_life, "forged_frames_are_no_sign_of_life",
        "Sealed frames"),
    Row("it does not mind that the host hears nothing",
        broken.after("_become_active", lambda link: setattr(link._channel, "ends_at", lambda: math.inf)),
        "a_host_that_hears_nothing_is_lost", "Signs of life"),
    # A link
    Row("it uses a nonce twice", broken.constant("device_nonce", lambda *given: bytes(range(1, 17))),
        "each_hello_has_a_fresh_nonce", "The device's nonce"),
    Row("it answers the same hello with another identity",
        broken.before("_take_hello", lambda link: setattr(link, "_candidate", None)),
        "the_same_hello_has_the_same_identity", "A link"),
    Row("it answers the hello of the active link",
        broken.before("_take_hello", lambda link: setattr(link, "_active_hello", b"")),
        "the_active_links_hello_is_ignored", "A link"),
    Row("a wrong proof ends the candidate", broken.drops_the_candidate,
        "a_wrong_proof_is_rejected_and_the_candidate_stays", "A link"),
    Row("a resume needs no proof", broken.after("_take_hello", broken.proves_without_a_proof),
        "a_resume_without_a_proof_makes_no_link", "A link"),
    Row("it never forgets a candidate", broken.after("_take_hello", broken.never_forgets_a_candidate),
        "a_candidate_is_forgotten", "A link"),
    Row("a hello ends the active link", broken.after("_take_hello", lambda link: link._forget_link()),
        "a_candidate_does_not_disturb_the_active_link", "A link"),
    Row("it says nothing to another version", broken.never("_reject_version"),
        "a_hello_of_another_version_is_rejected", "A link"),
    Row("a damaged frame ends its link", broken.after("receive", broken.ends_by_a_damaged_frame),
        "damaged_frames_end_nothing", "Frames"),
    # The rest
    Row("it says nothing to a command without an id", broken.unsent(FrameKind.SEALED_REJECT),
        "a_command_without_an_id_is_rejected", "Commands"),
    Row("it answers echoes", broken.answers_echoes, "an_echo_is_ignored", "Sealed frames"),
    Row("it reads one card three times", broken.reads_one_card_three_times, "no_card_is_sent_twice", "Bodies"),
    Row("its integers are wide in reports of cards", broken.wide_integers, "a_card_is_one_byte", "Sealed frames"),
    Row("its shuffle has no id", broken.seen_with(observations.ShuffleFinished, lambda seen: {"shuffle": 0}),
        "a_shuffle_is_reported", "Bodies"),
    Row("it needs more than two minutes for a shuffle", broken.works, "it_shuffles_in_time", "Commands", 45.0),
    Row("it needs 45 s for a set", broken.works, "it_forms_sets_in_time", "Commands", 25.0),
    Row("it never answers a shuffle", broken.works, "it_shuffles_in_time", "Commands", 100.0),
    Row("its statuses name no shuffle", broken.status_with(lambda status: {"shuffle": 0}),
        "the_status_after_a_shuffle", "Bodies"),
    Row("it shuffles what is left of a deck", broken.without_reason("no fresh deck"),
        "a_deck_that_was_dealt_from_is_not_shuffled", "Commands"),
    Row("each step is its last command", broken.last_command_of_refusals, "last_command_is_true_of_each_step",
        "Bodies"),
    Row("it lists no boot", lambda device, patch: setattr(device.link, "_kept_ranges", list),
        "the_identity_is_well_formed", "Bodies"),
    Row("it takes a proof once", broken.takes_one_proof, "a_proof_that_comes_again_is_answered_again", "A link"),
    Row("it keeps the keys of the previous link", broken.keeps_old_keys, "another_link_takes_the_place_of_the_first",
        "A link"),
    Row("it ignores a resume on the active link", broken.resumes_once, "a_resume_on_the_active_link_begins_again",
        "A link"),
    Row("it takes commands of a candidate", broken.takes_commands_of_a_candidate, "a_candidates_command_is_not_taken",
        "A link"),
    Row("it says nothing to a bad hello", broken.rejects_no_bad_body, "a_hello_that_is_not_understood_is_rejected",
        "A link"),
    Row("it goes on forever", broken.constant("HOST_LOST_AFTER", 1e9), "it_stops_sending_without_a_host",
        "Signs of life"),
    Row("its statuses have no number", broken.status_without_number,
        "a_status_names_the_newest_report_in_its_header", "Header values"),
    Row("a resume covers nothing", broken.resume_covers_nothing, "a_resume_acknowledges", "Reports"),
    Row("it accepts any proof", broken.takes_any_proof, "a_proof_for_a_replaced_identity_is_rejected", "A link"),
    Row("it goes on after a resume that it did not understand",
        lambda device, patch: patch.setattr(type(device.link), "_has_resumed", True),
        "a_resume_that_is_not_understood_is_rejected", "A link"),
    Row("it takes acks without reading them", broken.takes_acks_unread,
        "an_ack_that_is_not_understood_acknowledges_nothing", "A link"),
    Row("it is deaf after an over-long frame", broken.deaf_after_an_over_long_frame,
        "a_frame_after_an_over_long_one_is_read", "Frames"),
    Row("it rejects unknown kinds", broken.refuses(lambda frame: frame.kind == 0x7E),
        "what_a_newer_host_adds_is_ignored", "Compatibility"),
    Row("it reads no wide integers", broken.refuses(lambda frame: frame.body[1:2] == b"\xcf"),
        "integers_of_any_width_are_read", "Bodies"),
    Row("it minds the flags of a clear frame", broken.reads_flags_of_clear_frames, "the_headers_are_right",
        "Header values"),
    Row("it carries out ids that it has forgotten", broken.after("_take_command", broken.remembers_few_ids),
        "a_forgotten_id_is_not_carried_out_again", "Commands"),
    Row("it repeats its answers with another number", broken.answers_with_the_newest_number,
        "a_repeated_answer_keeps_its_number", "Header values"),
    Row("a new link begins without a last command", broken.forgets_the_last_command_with_the_link,
        "last_command_is_kept_over_a_new_link", "Commands"),
    Row("it is silent while it shuffles", broken.silent_while_it_shuffles, "statuses_come_while_cards_move",
        "Signs of life", 1.0),
    Row("it holds while a set moves", broken.never_waits_for_a_set, "a_hold_waits_for_the_set_in_motion", "Commands",
        1.0),
    Row("it answers on another link", broken.answers_on_any_link,
        "a_command_over_a_new_link_is_finished_without_an_answer", "Commands", 1.0),
    Row("it forgets its command with the link", broken.forgets_its_command_with_the_link,
        "a_command_over_a_new_link_is_finished_without_an_answer", "Commands", 1.0),
    Row("its clock goes back", broken.clock_goes_back, "reports_are_understood", "Bodies"),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.fault)
def test_the_bench_finds_it(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> SimulatedDevice:
        device = good_device(pace=row.pace)
        row.breaks(device, monkeypatch)
        return device

    with pytest.raises(BrokenPromiseError) as found:
        ask(kept_named(row.test), make)
    assert f'cardlink v1, "{row.section}"' in str(found.value)


def test_every_promise_has_a_row_that_breaks_it() -> None:
    """Otherwise the bench may not find the broken promise. `test_operator` has those that need a person."""
    of_operator = {kept.name for kept in KEPT.values() if hasattr(operator.TestOperatorPromises, kept.name)}
    assert {f"test_{row.test}" for row in ROWS} == set(KEPT) - of_operator
    assert len({row.fault for row in ROWS}) == len(ROWS)
