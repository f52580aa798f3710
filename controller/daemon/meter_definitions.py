"""The metrics of `GET /metrics`, as data: the page for monitors and docs/metrics.md are generated from these rows.

Names follow Prometheus: base units, counters end in `_total`. Counters and histograms count since the start of the
daemon; the journal is the record.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

MeterKind: TypeAlias = Literal["counter", "gauge", "histogram"]


Severity: TypeAlias = Literal["critical", "warning", "info"]


class Alert(NamedTuple):
    """A rule for Prometheus. `expression` is true when a person should look, and `act` is what that person does.

    `severity`: critical where play stands still or evidence is at stake, warning where it soon may be, else info.
    """

    name: str
    severity: Severity
    expression: str
    act: str


class Definition(NamedTuple):
    """A metric, with the alerts that it raises."""

    name: str
    kind: MeterKind
    labels: tuple[str, ...]
    meaning: str
    alerts: tuple[Alert, ...] = ()


STEPS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The steps of every histogram, in seconds."""

ROUNDS: Final = "cardshoe_rounds_total"
CARDS: Final = "cardshoe_cards_dealt_total"
IRREGULARITIES: Final = "cardshoe_irregularities_total"
OPEN: Final = "cardshoe_irregularities_open"
LINKS_READY: Final = "cardshoe_links_ready_total"
LINKS_LOST: Final = "cardshoe_links_lost_total"
OPERATIONS: Final = "cardshoe_operations_accepted_total"
REFUSALS: Final = "cardshoe_operations_refused_total"
WRONG_PINS: Final = "cardshoe_wrong_pins_total"
AT_THE_DOOR: Final = "cardshoe_requests_refused_total"
DECISION: Final = "cardshoe_decision_seconds"
COMMIT: Final = "cardshoe_commit_seconds"
COMMIT_P99: Final = "cardshoe_commit_p99_seconds"
WARNINGS: Final = "cardshoe_warnings"
READY: Final = "cardshoe_ready"
ROUND: Final = "cardshoe_round"
SILENCE: Final = "cardshoe_device_silence_seconds"
COMMIT_AGE: Final = "cardshoe_commit_age_seconds"
UPTIME: Final = "cardshoe_uptime_seconds"
ENTRY: Final = "cardshoe_journal_entry"
SIZE: Final = "cardshoe_journal_bytes"
FREE: Final = "cardshoe_journal_free_bytes"
STREAMS: Final = "cardshoe_streams"
FLOOR: Final = "cardshoe_floor_connected"
BACKLOG: Final = "cardshoe_floor_backlog_entries"
LINES_LOST: Final = "cardshoe_log_lines_lost_total"
BUILD: Final = "cardshoe_build_info"

DEFINITIONS: Final = (
    Definition(
        ROUNDS, "counter", ("ended",),
        "Ends of rounds: `concluded`, `voided`, `cancelled`. A round whose void was lifted ends again.",
        (Alert(
            "RoundsVoided", "warning",
            'increase(cardshoe_rounds_total{ended="voided"}[1h]) > 2',
            "Read the rounds in the journal: `cardshoe journal list`.",
        ),),
    ),
    Definition(CARDS, "counter", ("source",), "Cards that were dealt, by where they came from."),
    Definition(
        IRREGULARITIES, "counter", ("kind", "irregularity", "clause"),
        "Irregularities that were raised. Every row of the table's law is there from the start.",
        (Alert(
            "ManyIrregularities", "warning",
            "sum by (instance) (increase(cardshoe_irregularities_total[1h])) > 5",
            "See which clause it is. If the same one keeps occurring, look at the device, the deck and how the "
            "table is dealt.",
        ),),
    ),
    Definition(
        OPEN, "gauge", (),
        "Irregularities that wait for a person.",
        (Alert(
            "IrregularityWaits", "warning",
            "min_over_time(cardshoe_irregularities_open[10m]) > 0",
            "Go to the table: the screen says who decides.",
        ),),
    ),
    Definition(LINKS_READY, "counter", (), "Links to the device that became ready: the first one and reconnections."),
    Definition(
        LINKS_LOST, "counter", ("code",),
        "Links to the device that were lost, by the reason.",
        (Alert(
            "DeviceLinkLostOften", "warning",
            "sum by (instance) (increase(cardshoe_links_lost_total[1h])) > 3",
            "Check cable and power; `cardshoe doctor` names what else it may be.",
        ),),
    ),
    Definition(OPERATIONS, "counter", ("operation",), "Operations of people that the table accepted."),
    Definition(
        REFUSALS, "counter", ("operation", "code"),
        "Operations that the table refused, by the code of the refusal.",
        (Alert(
            "ManyOperationsRefused", "info",
            "sum by (instance, code) (increase(cardshoe_operations_refused_total[10m])) > 20",
            "Ask the dealer what the screen said; stop a program that repeats a refused operation.",
        ),),
    ),
    Definition(
        WRONG_PINS, "counter", (),
        "Wrong PINs.",
        (Alert(
            "WrongPins", "warning",
            "increase(cardshoe_wrong_pins_total[10m]) > 5",
            "Somebody may be guessing: the journal names the person and the screen.",
        ),),
    ),
    Definition(
        AT_THE_DOOR, "counter", ("code",),
        "Requests that were refused before they reached the table, by the code. The first of a kind from a caller is "
        "counted at once, further ones every ten minutes.",
        (Alert(
            "ManyRequestsRefused", "info",
            "sum by (instance, code) (increase(cardshoe_requests_refused_total[1h])) > 100",
            "The API explains the code; the journal names the caller.",
        ),),
    ),
    Definition(
        DECISION, "histogram", (),
        "Time from taking an input to its decision.",
        (Alert(
            "DecisionsSlow", "warning",
            "histogram_quantile(0.99, rate(cardshoe_decision_seconds_bucket[1h])) > 0.05",
            "The PC is too slow or too busy: see what else runs on it.",
        ),),
    ),
    Definition(
        COMMIT, "histogram", (),
        "Time from a decision until its entries are durable.",
        (Alert(
            "CommitsSlow", "warning",
            "histogram_quantile(0.99, rate(cardshoe_commit_seconds_bucket[1h])) > 0.1",
            "The disk is slow: check its health and what else writes to it.",
        ),),
    ),
    Definition(
        COMMIT_P99, "gauge", (),
        "Time within which 99 of 100 commits since the start were done: a step of the histogram, +Inf beyond the "
        "last.",
        (Alert(
            "CommitsSlowSinceStart", "info",
            "cardshoe_commit_p99_seconds > 1",
            "The disk is slow: check its health and what else writes to it.",
        ),),
    ),
    Definition(
        WARNINGS, "gauge", (),
        "Warnings on the screens: a disk that fills up, a head that is not kept safe, a witness that holds another "
        "head, a floor that has received nothing for a long time, a log that loses lines, a clock that contradicts the "
        "journal, a changed configuration that is not in force.",
        (Alert(
            "TableWarns", "warning",
            "min_over_time(cardshoe_warnings[2m]) > 0",
            "Read it on the screen or with `cardshoe status`: it says what to do.",
        ),),
    ),
    Definition(
        READY, "gauge", (),
        "1 if the table can deal, as `GET /readyz` reports it, else 0.",
        (Alert(
            "TableNotReady", "critical",
            "max_over_time(cardshoe_ready[5m]) == 0",
            "`cardshoe status` says why. Maintenance and an unplugged device are also reasons.",
        ),),
    ),
    Definition(ROUND, "gauge", (), "The number of the round."),
    Definition(
        SILENCE, "gauge", (),
        "Time since the device last sent anything; +Inf if it has sent nothing since the start.",
        (Alert(
            "DeviceSilent", "critical",
            "cardshoe_device_silence_seconds > 10",
            "Check the device's power and cable.",
        ),),
    ),
    Definition(COMMIT_AGE, "gauge", (), "Time since the last entry of the journal."),
    Definition(
        UPTIME, "gauge", (),
        "Time since the start of the daemon.",
        (Alert(
            "DaemonRestartedOften", "warning",
            "resets(cardshoe_uptime_seconds[1d]) > 2",
            "The daemon was restarted: the log of the service says why.",
        ),),
    ),
    Definition(ENTRY, "gauge", (), "The number of the journal's last entry."),
    Definition(SIZE, "gauge", (), "The size of all files in the folder of the journal."),
    Definition(
        FREE, "gauge", (),
        "The space that the daemon may still use on the disk with the journal.",
        (Alert(
            "JournalDiskFills", "warning",
            "cardshoe_journal_free_bytes < 2e9 or predict_linear(cardshoe_journal_free_bytes[1d], 7 * 86400) < 0",
            "Move what is not needed to another disk.",
        ),),
    ),
    Definition(
        STREAMS, "gauge", ("caller",),
        "Open streams to enrolled screens (`screen`), to other callers at the port (`display`) and at the socket "
        "(`user`).",
        (Alert(
            "NoScreenOpen", "info",
            'max_over_time(cardshoe_streams{caller="screen"}[5m]) == 0',
            "No screen shows the table to people who operate it: see whether the page is open.",
        ),),
    ),
    Definition(
        FLOOR, "gauge", (),
        "1 while the table is connected to the floor's broker, else 0; only with `[floor]`.",
        (Alert(
            "FloorNotConnected", "warning",
            "max_over_time(cardshoe_floor_connected[10m]) == 0",
            "Check the broker, the network and the certificate of the table; the log of the daemon says which.",
        ),),
    ),
    Definition(
        BACKLOG, "gauge", (),
        "Entries of the journal that the floor's broker has not acknowledged.",
        (Alert(
            "FloorBacklogGrows", "warning",
            "min_over_time(cardshoe_floor_backlog_entries[30m]) > 100",
            "Check that the store is reading: without a reader the entries wait at the table.",
        ),),
    ),
    Definition(
        LINES_LOST, "counter", (), "Lines of the log that could not be written.",
        (Alert(
            "LogLinesLost", "warning",
            "increase(cardshoe_log_lines_lost_total[10m]) > 0",
            "Check the disk with the log and the service that reads it: `systemctl status systemd-journald`.",
        ),),
    ),
    Definition(
        BUILD, "gauge", ("table", "game", "unit", "simulated", "version", "page"),
        "Always 1. The labels name the running program, the console's page, the table and its game.",
        (Alert(
            "VersionsDiffer", "info",
            "count(count by (version) (cardshoe_build_info)) > 1",
            "Tables run different versions: see whether that is meant.",
        ),),
    ),
)  # fmt: skip
