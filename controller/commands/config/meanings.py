"""The meaning of each option of a configuration, and examples of each section. A test compares both with the types."""

from __future__ import annotations

from typing import Final, NamedTuple

from controller.games import GAMES
from controller.games.specification import FACT_QUESTIONS

FACTS: Final = " ".join(
    f"{fact}: {str(question).replace('{dealer}', 'Dealer')}" for fact, question in FACT_QUESTIONS.items()
)
MEANINGS: Final = {
    "table.name": "the table's name: also of its user, its unit and its folders; at most 22 without a dot fit there",
    "table.game": f"the id of a rules document: {', '.join(GAMES)}",
    "table.unit": "what the device dispenses",
    "table.boxes": "betting boxes of the layout; 0: the game's default",
    "table.simulated": "true for a simulated device, and then only for one",
    "table.count_stub_by_hand": "true where the device cannot count the stub: the dealer must before settling",
    "table.rounding": "how parts of a unit in a payout are rounded",
    "table.least_ms_between_draws": "cards that leave a shoe within this time left it together; 0: nothing is inferred",
    "table.burn": "the number of cards burnt before the first card is dealt",
    "table.hands_by_device": "true: a hand may be shown without entering its cards; the device's reading counts",
    "table.second_counter_signs": "true: at a screen, the second person who counted cards also enters a PIN",
    "device.url": "where the device is, and which protocol it uses",
    "device.key_file": "keys of paired devices, mode 0640 or stricter; for cardlink. Left out: none",
    "device.card_table": "the card of each identifier; only for line_reader. Left out: none",
    "device.serial": "the one device that may be used. Left out: any that is paired",
    "device.firmware_digests": "the firmware that may run on it; empty: any",
    "device.image": "the program that it has to show, byte for byte; only for cardlink. Left out: none is asked for",
    "journal.folder": "the folder of the journal's files; created if it is missing",
    "journal.key_file": "32 random bytes in hexadecimal; mode 0640 or stricter; without it the journal cannot be read",
    "journal.signing_key_file": "signs the journal; created at the first start. Left out: signing.key in the folder",
    "journal.day_begins": "the time at which the next file is begun, between rounds",
    "journal.time_zone": "the time zone of that time, as in Europe/Vienna",
    "journal.megabytes": "the next file is also begun after this size",
    "journal.keep_days": "files are deleted when all their entries are older; 0: never",
    "journal.witness": "a folder that belongs to another user or machine, for the signed heads. Left out: none",
    "api.socket": "the socket of the API, created by the daemon; at most 107 bytes",
    "api.http.port": "the port where browsers find the table, at loopback addresses; 0, if simulated: any",
    "api.http.hosts": "names by which a reverse proxy reaches it, besides localhost and 127.0.0.1",
    "api.http.shift_hours": "a dealer's sign-on at a screen ends after this time",
    "people.id": "what the journal calls the person; never reuse it for another person",
    "people.name": "what screens call the person",
    "people.role": "the person's rank, lowest first",
    "people.pin_hash": "made by `cardshoe pin`; every rank above the dealer's needs one",
    "people.uids": "users of this machine whom the socket treats as this person; `id -u NAME` prints the number",
    "readers.id": "what the journal calls the display, monitor or technician",
    "readers.uids": "users of this machine who may look and not operate",
    "readings.option": "the casino's choice; `cardshoe rules GAME` lists the settings and their options",
    "readings.chosen_by": "the person who chose it; needed for a setting without a default",
    "readings.chosen_on": "the date of the choice; needed for a setting without a default. Left out: none",
    "house.rule": "the house's own number for the rule",
    "house.authority": "the rule's authority; shown and journaled in place of a clause",
    "house.kind": "the irregularity that was noticed",
    "house.disposition": "the consequence: void, continue, refer, reshuffle, or remove_hand",
    "house.because": "the reason, as screens show it",
    "house.when": f"facts that must hold, each true where the answer is yes. {FACTS}",
    "house.noticed": "when it must have been noticed",
    "house.confirms": "the lowest rank that may confirm it",
    "house.decides": "the lowest rank that decides what the rule leaves open",
    "limits.minimum": "the least stake, in the smallest unit of money",
    "limits.maximum": "the greatest stake; 0: no limit",
    "capture.path": "where the bytes to and from the device are recorded",
    "capture.megabytes": "the maximum size of one file",
    "capture.files": "the maximum number of files; the oldest is overwritten",
    "capture.key_file": "seals the recording; a table that is not simulated needs it. Left out: not sealed",
    "floor.broker": "the casino's broker: mqtts://HOST:8883; mqtt://localhost:1883 for one on this machine",
    "floor.site": "the casino, in the topics",
    "floor.pit": "the pit, in the topics",
    "floor.ca_file": "the certificate authority of the broker, as PEM; only for mqtts://. Left out: none",
    "floor.certificate_file": "this table's certificate. Left out: none",
    "floor.key_file": "its key, mode 0640 or stricter. Left out: none",
    "floor.repeat_minutes": "sent again over the next connection; more than the broker needs to write to its disk",
    "floor.most_per_second": "the maximum rate of a backlog's records",
    "program.public_key_file": "public key of the maker, PEM; by default /etc/cardshoe/package.pem, if present",
    "program.development": "true: a real table may run from sources, which no manifest covers",
}
"""The meaning of each option by its place: the section and the key."""


class Shown(NamedTuple):
    """A section in the example file. `examples` are the keys and values of each occurrence.

    With `optional` the example shows the section as a comment.
    """

    meaning: str
    examples: tuple[dict[str, str], ...]
    heading: str = ""  # if it differs from the section's name
    optional: bool = False


_FILL_IN: Final = '"made by: cardshoe pin"'
SECTIONS: Final = {
    "table": Shown("the table", ({"name": '"NC-01"', "game": '"NC"', "unit": '"sets"'},)),
    "device": Shown(
        "the card shoe or shuffler; `cardshoe devices` shows what is plugged in",
        (
            {
                "url": '"serial:///dev/cardshoe/CARDSHOE-0001"',
                "key_file": '"device.keys"',
            },
        ),
    ),
    "journal": Shown(
        "what the table records",
        (
            {
                "folder": '"/var/lib/cardshoe/NC-01/journal"',
                "key_file": '"journal.key"',
            },
        ),
    ),
    "api": Shown("how people and programs reach the table", ({"socket": '"/run/cardshoe/NC-01/api.sock"'},)),
    "api.http": Shown(
        "the console in a browser; without this section no port is opened", ({"port": "8080"},), optional=True
    ),
    "people": Shown(
        "the people of the table; at least a shift manager, and a person with uids",
        (
            {"id": '"dana"', "name": '"Dana"', "role": '"dealer"', "uids": "[1001]"},
            {"id": '"sam"', "name": '"Sam"', "role": '"pit_supervisor"', "pin_hash": _FILL_IN},
            {"id": '"max"', "name": '"Max"', "role": '"shift_manager"', "pin_hash": _FILL_IN},
        ),
    ),
    "readers": Shown("who may look and not operate", ({"id": '"wall"', "uids": "[1002]"},), optional=True),
    "readings": Shown(
        "what the document leaves open; a setting without a default must be chosen",
        ({"option": '"mathematically"', "chosen_by": '"J. Tan, Gaming Manager"', "chosen_on": "2026-11-01"},),
        heading="readings.established_by",
    ),
    "house": Shown(
        "a rule of the house, which takes precedence over the document's",
        (
            {
                "rule": '"HR 4.2"',
                "authority": '"House procedures, edition 3"',
                "kind": '"unshuffled"',
                "disposition": '"continue"',
                "because": '"a hand shuffle by two people stands for the machine\'s"',
            },
        ),
        optional=True,
    ),
    "limits": Shown("limits of one kind of wager", ({},), heading="limits.main", optional=True),
    "capture": Shown(
        "the bytes to and from the device, recorded for maintainers",
        ({"path": '"capture.jsonl"', "key_file": '"capture.key"'},),
        optional=True,
    ),
    "floor": Shown(
        "the floor: a broker of the casino gets the journal and the table's state",
        ({"broker": '"mqtts://broker.example:8883"', "site": '"vienna"', "pit": '"pit-1"'},),
        optional=True,
    ),
    "program": Shown(
        "the program's own files, which are compared with the manifest of their maker at each start",
        ({"public_key_file": '"/etc/cardshoe/package.pem"'},),
        optional=True,
    ),
}

LEFT_OUT: Final = {
    "device.card_table": '"cards.csv"',
    "device.image": '"approved.bin"',
    "device.serial": '"CARDSHOE-0001"',
    "journal.signing_key_file": '"signing.key"',
    "journal.witness": '"/mnt/audit"',
    "floor.ca_file": '"/etc/cardshoe/TABLE/floor-ca.pem"',
    "floor.certificate_file": '"/etc/cardshoe/TABLE/floor.pem"',
    "floor.key_file": '"/etc/cardshoe/TABLE/floor.key"',
}
"""Examples of keys that the example file leaves out and that have no default."""
