"""Write every file that is made of the program's own data: `python -m tools.generate [NAME ...]`.

A name is part of a path, such as `api` or `states`. Without one all are written. A test compares each file with what
this makes. Each generator says in its module what its file is made of.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.protocol import vectors
from tools import catalogue, openapi
from tools.pages import (
    api,
    bench,
    clause_coverage,
    dashboards,
    device_reports,
    dissector,
    forgeries,
    metrics,
    scenarios,
    states,
)

ROOT: Final = Path(__file__).resolve().parents[1]


def _changed(name: str, change: Callable[[str], str]) -> Callable[[], str]:
    """Return what makes the file from what else is in it."""
    return lambda: change((ROOT / name).read_text("utf-8"))


FILES: Final[dict[str, Callable[[], str]]] = {
    "controller/api/openapi.json": openapi.text,  # ignored by git; every build makes it
    "deployment/prometheus/alerts.yml": metrics.alerts,
    "docs/api.md": _changed("docs/api.md", api.rewritten),
    "docs/bench.md": _changed("docs/bench.md", bench.bench_page),
    "docs/cardlink.lua": _changed("docs/cardlink.lua", dissector.rewritten),
    "docs/cardlink_bad_vectors.jsonl": vectors.bad_lines,
    "docs/cardlink_vectors.jsonl": vectors.lines,
    "docs/clause_coverage.md": clause_coverage.page,
    "docs/device_reports.md": device_reports.page,
    "docs/journal.md": forgeries.page_with_tables,
    "docs/metrics.md": metrics.written,
    "docs/scenarios.md": scenarios.page,
    "docs/security.md": forgeries.security_with_table,
    "docs/states.md": states.page,
    **{
        f"deployment/grafana/{one.name}.json": lambda one=one: dashboards.written(one)  # type: ignore[misc]  # bound here
        for one in dashboards.DASHBOARDS
    },
}


def main() -> None:
    names = sys.argv[1:]
    for path, made in FILES.items():
        if not names or any(name in path for name in names):
            text = made()
            file = ROOT / path
            if not file.exists() or text != file.read_text("utf-8"):
                file.write_text(text, "utf-8")
                sys.stdout.write(f"{path} is written\n")
    if not names or "catalogue" in names:
        catalogue.main()


if __name__ == "__main__":
    main()
