"""Gathers the rows of all features: which operations people can enter, who may enter each, and when."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from controller.table import (
    betting,
    card_places,
    counts,
    dealing,
    decks,
    duty,
    exposing,
    first_card,
    maintenance,
    opening,
    pausing,
    recall,
    reconciliation,
    screens,
    settling,
    starting,
)
from controller.table.feature import OperationRow
from controller.table.irregularities import adjudication, bet_corrections, corrections, reporting, rulings
from controller.table.operations import Operation

FEATURES: Final = (
    opening,
    starting,
    betting,
    first_card,
    exposing,
    card_places,
    adjudication,
    dealing,
    settling,
    counts,
    reporting,
    pausing,
    reconciliation,
    rulings,
    corrections,
    bet_corrections,
    recall,
    duty,
    screens,
    decks,
    maintenance,
)
"""The modules that have rows, in the order in which their operations are offered."""

PERMISSIONS: Final[Mapping[type[Operation], OperationRow]] = MappingProxyType(
    {row.operation: row for feature in FEATURES for row in feature.FEATURE}
)
