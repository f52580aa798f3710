"""Debian's package of the program: `python3 -m deb OUT_DIR` makes `cardshoe_VERSION_ARCHITECTURE.deb`.

The same sources make the same package to the byte, in whatever folder: the time of all files is that of the commit, and
nothing of the machine is in it but Debian's Python 3.11, which compiles the modules.

What lies under /opt/cardshoe, and why:

- `packaged` is the virtual environment that dpkg owns, and replaces at an upgrade file by file.
- `VERSION-DIGEST` is what runs: hard links to those files, made when the package is configured, so that it takes no
  disk space of its own. dpkg does not know it. A table that runs while the package is upgraded imports, and starts as
  processes of its own, modules of the version that it began with, for as long as it runs; an upgrade restarts no table.
- `bin` is a link to the newest one's `bin`. The unit and /usr/bin/cardshoe go by it, so that the next start of a table
  is one of the new version.

`/usr/lib/cardshoe/old-versions` names the tables that run an older version, with the command that restarts each, and
removes older versions that nothing runs any more. Every upgrade calls it; people may.

A removal stops all tables. It leaves /etc/cardshoe, the journals in /var/lib/cardshoe, the system users and everything
in /etc/systemd and /etc/udev, which are the site's; so does a purge, but for the links by which tables start at boot.
"""
