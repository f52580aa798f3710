"""A journal's folder is read while the daemon writes other files there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.journal.folder import survey

if TYPE_CHECKING:
    from pathlib import Path

    import pytest_mock


def test_a_file_that_is_renamed_while_the_folder_is_read_is_no_journal(
    tmp_path: Path, mocker: pytest_mock.MockerFixture
) -> None:
    """Between the listing and the look into it the publisher's new cursor takes the place of the old one."""
    written = tmp_path / "floor.cursor.next"
    written.write_bytes(b"{}")
    is_file = type(written).is_file

    def renamed_after(path: Path) -> bool:
        found = is_file(path)
        if path == written and found:
            path.rename(tmp_path / "floor.cursor")
        return found

    mocker.patch.object(type(written), "is_file", renamed_after)
    survey(tmp_path)
    assert not written.exists()
