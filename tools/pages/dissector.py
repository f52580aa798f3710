"""The tables of docs/cardlink.lua, a Wireshark dissector, made from those of docs/cardlink.md."""

from __future__ import annotations

import re

from tests.protocol.page import rows_of, section


def rewritten(text: str) -> str:
    """Return the dissector with the page's kinds, and the fields of those that are sent in the clear."""
    kinds = rows_of(section("Kinds"), "kind")
    clear = [(number, body) for number, _, _, body, how in kinds if how == "clear"]
    fields = [
        (number, ", ".join(f'"{name}"' for name, *_ in rows_of(section(body), "field"))) for number, body in clear
    ]
    tables = {
        "KINDS": [f'  [{number}] = "{name}",' for number, name, *_ in kinds],
        "CLEAR": [f"  [{number}] = true," for number, _ in clear],
        "FIELDS": [f"  [{number}] = {{ {names} }}," for number, names in fields],
    }
    for name, lines in tables.items():
        found = re.search(rf"^local {name} = {{.*\n((?:  .*\n)*)}}$", text, re.M)
        assert found, f"docs/cardlink.lua has no table {name}"
        text = text[: found.start(1)] + "".join(f"{line}\n" for line in lines) + text[found.end(1) :]
    return text
