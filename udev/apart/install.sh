#!/bin/sh
# Installs table TABLE on this PC: its system user, udev's rules, its files and its service. `cardshoe init` puts it,
# with TABLE replaced, into the table's folder; see README.md in `udev` of the sources.
# Run it as root; again, where it stopped half-way: files of the table that are there stay as they are.
# With DESTDIR=FOLDER the files are put there, and nothing is started.
set -eu
cd "$(dirname "$0")"
root="${DESTDIR:-}"
if [ -z "$root" ] && [ "$(id -u)" != 0 ]; then
    echo "This is for root, and nothing was installed: sudo sh $0" >&2
    exit 1
fi
etc="$root/etc/cardshoe/TABLE"
if [ -e "$etc" ] && ! cmp -s journal.key "$etc/journal.key"; then
    echo "$etc is another table's: nothing was installed. Move it away first, with its keys kept." >&2
    exit 1
fi
# A table with a mistake would not start. The program is looked for where the unit has it, too.
PATH="$PATH:/opt/cardshoe/bin"
if command -v cardshoe > /dev/null; then
    cardshoe config check "$PWD/table.toml"
fi
# What all tables share. Debian's package has it already: a copy in /etc would hide the package's.
share() { # a file of `system`, the folder it goes to, its name there
    if [ ! -e "$root/usr/lib/systemd/system/cardshoe@.service" ]; then
        install -D -m 0644 "system/$1" "$root$2/${3:-$1}"
    fi
}
# The user comes first: udev leaves out a group that does not exist yet.
share cardshoe.sysusers.conf /etc/sysusers.d cardshoe.conf
install -D -m 0644 system/cardshoe-TABLE.sysusers.conf "$root/etc/sysusers.d/cardshoe-TABLE.conf"
systemd-sysusers ${root:+--root="$root"} cardshoe.conf cardshoe-TABLE.conf
share 70-cardshoe.rules /etc/udev/rules.d
for rules in system/72-*.rules; do
    [ ! -e "$rules" ] || install -D -m 0644 "$rules" "$root/etc/udev/rules.d/$(basename "$rules")"
done
share cardshoe@.service /etc/systemd/system
install -D -m 0644 system/apart.conf "$root/etc/systemd/system/cardshoe@.service.d/apart.conf"
for name in port.conf network.conf cards.conf; do
    [ ! -e "system/$name" ] || install -D -m 0644 "system/$name" "$root/etc/systemd/system/cardshoe@TABLE.service.d/$name"
done
install -d -m 0700 "$root/etc/cardshoe" "$etc"
for file in *.toml *.csv *.key *.keys; do
    [ -e "$file" ] || continue
    if [ ! -e "$etc/$file" ]; then
        install -m 0600 "$file" "$etc/"
    elif [ "$file" = table.toml ] && ! cmp -s "$file" "$etc/$file"; then
        echo "$etc/$file stays as it is, and differs from $PWD/$file. To take this one:" >&2
        echo "    install -m 0600 $PWD/$file $etc/ && systemctl restart cardshoe@TABLE" >&2
    fi
done
if [ -n "$root" ]; then
    exit 0
fi
udevadm control --reload && udevadm trigger --subsystem-match=usb --subsystem-match=tty ||
    echo "The rules are in place, and udev did not read them: is it there (systemctl status systemd-udevd)?" >&2
systemctl daemon-reload
systemctl enable --now cardshoe@TABLE || {
    echo "The service did not start. The last lines of its log:" >&2
    journalctl -u cardshoe@TABLE -n 12 -o cat --no-pager >&2
    exit 1
}
