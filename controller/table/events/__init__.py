"""Events: what happened at the table, as it is journaled and published by the API.

An event contains its whole effect. `apply` sets it without judging, so an old journal always folds to the same state.
Fields are only added, with a default; a tag never changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, Union

from controller.table.events.access_events import *  # noqa: F403  # every event
from controller.table.events.base import Event as Event

# All events are used as `events.RoundBegan`; a new event is written only in its own module.
from controller.table.events.card_events import *  # noqa: F403  # every event
from controller.table.events.correction_events import *  # noqa: F403  # every event
from controller.table.events.deck_events import *  # noqa: F403  # every event
from controller.table.events.device_events import *  # noqa: F403  # every event
from controller.table.events.irregularity_events import *  # noqa: F403  # every event
from controller.table.events.record_events import *  # noqa: F403  # every event
from controller.table.events.round_events import *  # noqa: F403  # every event
from controller.table.events.wager_events import *  # noqa: F403  # every event

ALL: Final[tuple[type[Event], ...]] = tuple(Event.__subclasses__())

if TYPE_CHECKING:
    AnyEvent: TypeAlias = Event
else:
    AnyEvent = Union[ALL]  # noqa: UP007  # every event above, for the decoders
