"""`python -m simulators.scenarios` writes docs/scenarios.md; a test fails when page and files differ."""

from __future__ import annotations

from pathlib import Path

from simulators.scenarios.document import PAGE, scenarios_document

if __name__ == "__main__":
    Path(PAGE).write_text(scenarios_document(), encoding="utf-8")
