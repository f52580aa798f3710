"""The table of docs/configuration.md with the facts that a row of the house table may name.

    python -m tools.generate

writes it; a test fails when page and program differ. Every option is in what `cardshoe config example` prints.
"""

from __future__ import annotations

import re
from typing import Final

from controller.games.specification import FACT_QUESTIONS

HEAD: Final = "| fact | true where the answer is yes |\n|---|---|\n"


def rewritten(page: str) -> str:
    """Return the page with its table replaced by this table."""
    rows = (
        f"| `{fact}` | {str(question).replace('{dealer}', 'Dealer')} |\n" for fact, question in FACT_QUESTIONS.items()
    )
    return re.sub(re.escape(HEAD) + r"(?:\|.*\n)*", lambda _: HEAD + "".join(rows), page)
