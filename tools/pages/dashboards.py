"""Grafana's dashboards in deployment/grafana: all tables, a pit, a table. They show what `GET /metrics` provides.

    python -m tools.generate

writes them. A test fails when files and rows differ, and another asks a real Prometheus each query. `site`, `pit` and
`table` are labels that the scrape adds (deployment/prometheus/prometheus.yml).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

FOLDER: Final = Path(__file__).parents[2] / "deployment" / "grafana"
WIDTH: Final = 24  # columns of a dashboard
HEIGHT: Final = 8  # rows of a panel; a number panel has half as many
LINK: Final = {"type": "dashboards", "tags": ["cardshoe"], "title": "Cardshoe", "keepTime": True, "includeVars": True}
SOURCE: Final = {"type": "prometheus", "uid": "${source}"}


class Panel(NamedTuple):
    """One panel. `kind` and `unit` are Grafana's names; `unit` is "" for a count. `legend`: the label that
    distinguishes its lines.
    """

    title: str
    query: str
    kind: str = "timeseries"
    unit: str = ""
    legend: str = ""


class Dashboard(NamedTuple):
    """One dashboard. `labels`: the choices at its top; each narrows the next."""

    name: str
    title: str
    labels: tuple[str, ...]
    panels: tuple[Panel, ...]


def number(title: str, query: str, unit: str = "") -> Panel:
    return Panel(title, query, "stat", unit)


def every(title: str, query: str, unit: str = "") -> Panel:
    """Return a panel with a row for each table."""
    return Panel(title, query, "bargauge", unit, "table")


FLOOR: Final = Dashboard(
    "floor",
    "Cardshoe: the floor",
    ("site",),
    (
        number("Tables", 'count(up{job="cardshoe", site=~"$site"})'),
        number("Not reached", 'count(up{job="cardshoe", site=~"$site"} == 0) or vector(0)'),
        number("Can deal", 'sum(cardshoe_ready{site=~"$site"})'),
        number("Irregularities that wait", 'sum(cardshoe_irregularities_open{site=~"$site"})'),
        number("Tables with warnings", 'count(cardshoe_warnings{site=~"$site"} > 0) or vector(0)'),
        number("Not connected to the floor", 'count(cardshoe_floor_connected{site=~"$site"} == 0) or vector(0)'),
        Panel("Rounds an hour",
              'sum by (pit) (rate(cardshoe_rounds_total{site=~"$site", ended="concluded"}[15m])) * 3600',
              legend="pit"),
        Panel("Void rounds an hour",
              'sum by (pit) (rate(cardshoe_rounds_total{site=~"$site", ended="voided"}[1h])) * 3600',
              legend="pit"),
        Panel("Irregularities by clause, a day",
              'topk(10, sum by (clause) (increase(cardshoe_irregularities_total{site=~"$site"}[24h])))',
              "bargauge", legend="clause"),
        Panel("Links lost by code, a day",
              'topk(10, sum by (code) (increase(cardshoe_links_lost_total{site=~"$site"}[24h])))',
              "bargauge", legend="code"),
        Panel("Alarms of the store by kind",
              'sum by (kind) (cardshoe_store_alarms_open{site=~"$site"}) > 0 or vector(0)',
              "bargauge", legend="kind"),
        number("Store connected", 'min(cardshoe_store_connected{site=~"$site"})'),
        every("Longest backlogs, entries", 'topk(10, cardshoe_floor_backlog_entries{site=~"$site"})'),
        every("Least room on a disk", 'bottomk(10, cardshoe_journal_free_bytes{site=~"$site"})', "bytes"),
        Panel("Versions", 'count by (version) (cardshoe_build_info{site=~"$site"})', "bargauge", legend="version"),
        Panel("Tables by game", 'count by (game) (cardshoe_build_info{site=~"$site"})', "bargauge", legend="game"),
    ),
)  # fmt: skip

PIT: Final = Dashboard(
    "pit",
    "Cardshoe: a pit",
    ("site", "pit"),
    (
        every("Can deal", 'cardshoe_ready{site=~"$site", pit=~"$pit"}'),
        every("Irregularities that wait", 'cardshoe_irregularities_open{site=~"$site", pit=~"$pit"}'),
        every("Device silent for", 'cardshoe_device_silence_seconds{site=~"$site", pit=~"$pit"}', "s"),
        every("Round", 'cardshoe_round{site=~"$site", pit=~"$pit"}'),
        Panel("Cards a minute",
              'sum by (table) (rate(cardshoe_cards_dealt_total{site=~"$site", pit=~"$pit"}[5m])) * 60', legend="table"),
        Panel("Links lost, an hour",
              'sum by (table) (increase(cardshoe_links_lost_total{site=~"$site", pit=~"$pit"}[1h]))', legend="table"),
        Panel("Refused operations, an hour",
              'sum by (table) (increase(cardshoe_operations_refused_total{site=~"$site", pit=~"$pit"}[1h]))',
              legend="table"),
        Panel("Wrong PINs, an hour",
              'sum by (table) (increase(cardshoe_wrong_pins_total{site=~"$site", pit=~"$pit"}[1h]))', legend="table"),
        Panel("Slowest of a hundred decisions",
              'histogram_quantile(0.99, sum by (table, le) '
              '(rate(cardshoe_decision_seconds_bucket{site=~"$site", pit=~"$pit"}[15m])))', unit="s", legend="table"),
        Panel("Slowest of a hundred commits",
              'histogram_quantile(0.99, sum by (table, le) '
              '(rate(cardshoe_commit_seconds_bucket{site=~"$site", pit=~"$pit"}[15m])))', unit="s", legend="table"),
    ),
)  # fmt: skip

TABLE: Final = Dashboard(
    "table",
    "Cardshoe: a table",
    ("site", "pit", "table"),
    (
        number("Can deal", 'cardshoe_ready{table=~"$table"}'),
        number("Round", 'cardshoe_round{table=~"$table"}'),
        number("Irregularities that wait", 'cardshoe_irregularities_open{table=~"$table"}'),
        number("Running for", 'cardshoe_uptime_seconds{table=~"$table"}', "s"),
        Panel("Device silent for", 'cardshoe_device_silence_seconds{table=~"$table"}', unit="s", legend="table"),
        Panel("Cards a minute by source",
              'sum by (source) (rate(cardshoe_cards_dealt_total{table=~"$table"}[5m])) * 60', legend="source"),
        Panel("Decisions: 99 of a hundred are faster",
              'histogram_quantile(0.99, sum by (le) (rate(cardshoe_decision_seconds_bucket{table=~"$table"}[15m])))',
              unit="s"),
        Panel("Commits: 99 of a hundred are faster",
              'histogram_quantile(0.99, sum by (le) (rate(cardshoe_commit_seconds_bucket{table=~"$table"}[15m])))',
              unit="s"),
        Panel("Irregularities by kind, a day",
              'sum by (kind, clause) (increase(cardshoe_irregularities_total{table=~"$table"}[24h])) > 0 or vector(0)',
              "bargauge", legend="kind"),
        Panel("Operations, an hour",
              'sum by (operation) (increase(cardshoe_operations_accepted_total{table=~"$table"}[1h]))',
              legend="operation"),
        Panel("Refused operations by code, a day",
              'sum by (code) (increase(cardshoe_operations_refused_total{table=~"$table"}[24h])) or vector(0)',
              "bargauge", legend="code"),
        Panel("Refused requests by code, a day",
              'sum by (code) (increase(cardshoe_requests_refused_total{table=~"$table"}[24h])) or vector(0)',
              "bargauge", legend="code"),
        Panel("Journal", 'cardshoe_journal_bytes{table=~"$table"}', unit="bytes", legend="table"),
        Panel("Not sent to the floor, entries", 'cardshoe_floor_backlog_entries{table=~"$table"}', legend="table"),
        Panel("Screens and programs that follow", 'cardshoe_streams{table=~"$table"}', legend="caller"),
    ),
)  # fmt: skip

DASHBOARDS: Final = (FLOOR, PIT, TABLE)


def queries() -> Iterator[tuple[str, str]]:
    """Yield every query with its place, with all choices made."""
    for board in DASHBOARDS:
        for panel in board.panels:
            query = panel.query
            for label in ("site", "pit", "table"):
                query = query.replace(f"${label}", ".+")
            yield f"{board.name}: {panel.title}", query


def written(board: Dashboard) -> str:
    """Return the file as it should be."""
    return json.dumps(_dashboard(board), indent=1) + "\n"


def _dashboard(board: Dashboard) -> dict[str, Any]:
    return {
        "uid": f"cardshoe-{board.name}",
        "title": board.title,
        "tags": ["cardshoe"],
        "schemaVersion": 39,
        "refresh": "10s",
        "time": {"from": "now-6h", "to": "now"},
        "links": [
            {"type": "dashboards", "tags": ["cardshoe"], "title": "Cardshoe", "keepTime": True, "includeVars": True}
        ],
        "templating": {"list": [_source(), *_variables(board.labels)]},
        "panels": list(_panels(board.panels)),
    }


def _source() -> dict[str, Any]:
    return {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}


def _variables(labels: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the variables. Each is chosen among those that the earlier choices leave."""
    before: list[str] = []
    for label in labels:
        within = ", ".join(f'{one}=~"${one}"' for one in before)
        query = f"label_values(cardshoe_build_info{{{within}}}, {label})"
        yield {
            "name": label, "type": "query", "datasource": SOURCE, "query": query, "refresh": 2, "sort": 1,
            "includeAll": label != "table", "multi": label != "table",
        }  # fmt: skip
        before.append(label)


def _panels(panels: Iterable[Panel]) -> Iterator[dict[str, Any]]:
    """Yield the panels: numbers in rows of four, all others in rows of two."""
    x = y = lower = 0
    for number_, panel in enumerate(panels, 1):
        small = panel.kind == "stat"
        width, height = (WIDTH // 4, HEIGHT // 2) if small else (WIDTH // 2, HEIGHT)
        if x + width > WIDTH or (x and height != lower):
            x, y = 0, y + lower
        lower = height
        yield {
            "id": number_,
            "type": panel.kind,
            "title": panel.title,
            "datasource": SOURCE,
            "gridPos": {"x": x, "y": y, "w": width, "h": height},
            "fieldConfig": {"defaults": {"unit": panel.unit or "short", "min": 0}, "overrides": []},
            "options": _options(panel),
            "targets": [
                {
                    "refId": "A",
                    "datasource": SOURCE,
                    "expr": panel.query,
                    "legendFormat": f"{{{{{panel.legend}}}}}" if panel.legend else panel.title,
                    "instant": panel.kind != "timeseries",
                }
            ],
        }
        x += width


def _options(panel: Panel) -> dict[str, Any]:
    if panel.kind == "timeseries":
        return {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi", "sort": "desc"}}
    return {"reduceOptions": {"calcs": ["lastNotNull"]}, "orientation": "horizontal"}
