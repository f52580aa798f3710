"""Names of types as they stand in files and on the wire."""

import re


def snake(name: str) -> str:
    """The name of a type as a tag.

    >>> snake("CardsDrawnTogether")
    'cards_drawn_together'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
