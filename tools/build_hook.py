"""Build hook of hatchling: writes the OpenAPI document for wheels, editable installations and the Debian package.

It is a separate module because hatchling loads it by its path.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class OpenApiHook(BuildHookInterface[Any]):
    """Runs the generator in its own process, because the build does not run in the folder of the sources."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the document before the files of the build are listed (`artifacts` in pyproject.toml)."""
        made = Path(self.root) / "controller" / "api" / "openapi.json"
        subprocess.run([sys.executable, "-m", "tools.openapi"], cwd=self.root, check=True)  # this program
        self.app.display_info(f"{made} is written")
