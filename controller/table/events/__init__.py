"""What happened at the table, as the journal keeps it and the API publishes it.

An event names its whole effect: its `apply` sets that and judges nothing, so that an old journal folds to the same
state for ever. A field is only ever added, with a default; a tag never changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, Union

from controller.table.events.base import Event as Event

# One vocabulary, `events.RoundBegan`: whoever adds an event writes it once, in its module.
from controller.table.events.card_events import *  # noqa: F403
from controller.table.events.correction_events import *  # noqa: F403
from controller.table.events.deck_events import *  # noqa: F403
from controller.table.events.device_events import *  # noqa: F403
from controller.table.events.irregularity_events import *  # noqa: F403
from controller.table.events.round_events import *  # noqa: F403
from controller.table.events.wager_events import *  # noqa: F403

if TYPE_CHECKING:
    AnyEvent: TypeAlias = Event
else:
    AnyEvent = Union[tuple(Event.__subclasses__())]  # noqa: UP007  # every event above, for the decoders
