"""The Debian package of the program: `python3 -m deb OUT_DIR` makes `cardshoe_VERSION_ARCHITECTURE.deb`.

The same sources make the same package, byte for byte, in any folder: the time of all files is that of the commit, and
the only part taken from the machine is Debian's Python 3.11, which compiles the modules.

The files under /opt/cardshoe, with the reason for each:

- `packaged` is the virtual environment that dpkg owns, and replaces at an upgrade file by file.
- `VERSION-DIGEST` is the version that runs: hard links to those files, made when the package is configured, so that
  it takes no extra disk space. dpkg does not know it. A table that runs during an upgrade keeps importing modules,
  and starting processes, of the version that it began with; an upgrade restarts no table.
- `bin` is a link to the newest version's `bin`. The unit and /usr/bin/cardshoe use it, so that a table's next start
  runs the new version.

`/usr/lib/cardshoe/old-versions` names the tables that run an older version, with the command that restarts each, and
removes older versions that are no longer running. Every upgrade calls it; people may call it too.

A removal stops all tables. It leaves /etc/cardshoe, the journals in /var/lib/cardshoe, the system users and everything
in /etc/systemd and /etc/udev, which belong to the site. So does a purge, except for the links by which tables start at
boot.
"""
