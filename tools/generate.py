"""Write every file that is made of the program's own data: `python -m tools.generate [NAME ...]`.

A name is part of a path, such as `api` or `states`. Without one all are written. A test compares each file with what
this makes. Each generator says in its module what its file is made of.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from controller.table.states_document import states_document
from simulators.scenarios.document import scenarios_document
from tests.clauses import coverage
from tests.configuration import options_page
from tests.interfaces import api_page, grafana_dashboards, metrics_page, openapi_document
from tests.journal.forgeries import page as forgeries
from tests.protocol import vectors
from tests.table import reports_page
from tools import catalogue, simulator_pages

ROOT: Final = Path(__file__).resolve().parents[1]


def _changed(name: str, change: Callable[[str], str]) -> Callable[[], str]:
    """Return what makes the file from what else is in it."""
    return lambda: change((ROOT / name).read_text("utf-8"))


FILES: Final[dict[str, Callable[[], str]]] = {
    "deployment/prometheus/alerts.yml": metrics_page.alerts,
    "docs/api.md": _changed("docs/api.md", api_page.rewritten),
    "docs/bench.md": _changed("docs/bench.md", simulator_pages.bench_page),
    "docs/cardlink_vectors.jsonl": vectors.lines,
    "docs/clause_coverage.md": coverage.write_page,
    "docs/configuration_options.md": options_page.page,
    "docs/device_reports.md": reports_page.page,
    "docs/journal.md": forgeries.page_with_tables,
    "docs/metrics.md": metrics_page.written,
    "docs/openapi.json": openapi_document.text,
    "docs/scenarios.md": scenarios_document,
    "docs/security.md": forgeries.security_with_table,
    "docs/simulators.md": _changed("docs/simulators.md", simulator_pages.simulators_page),
    "docs/states.md": states_document,
    **{
        f"deployment/grafana/{one.name}.json": lambda one=one: grafana_dashboards.written(one)  # type: ignore[misc]  # bound here
        for one in grafana_dashboards.DASHBOARDS
    },
}


def main() -> None:
    names = sys.argv[1:]
    for path, made in FILES.items():
        if not names or any(name in path for name in names):
            text = made()
            if text != (ROOT / path).read_text("utf-8"):
                (ROOT / path).write_text(text, "utf-8")
                sys.stdout.write(f"{path} is written\n")
    if not names or "catalogue" in names:
        catalogue.main()


if __name__ == "__main__":
    main()
