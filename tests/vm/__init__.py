"""The installed program on Debian's own kernel, udev and systemd, in a virtual machine without KVM.

`debian.py` makes Debian 12 for the machine: a kernel, an initial file system, a root. `image.py` installs the program
and sets up a table as docs/install.md describes; the machine is booted once more and saved when its daemon waits for a
device. Every test resumes that saved state on a temporary disk.

`machine.py` is QEMU, `guest.py` runs commands in the system inside, `plug.py` is the simulated device with its cable,
`table.py` the people at the table, `volatile_disk.py` a disk that may lose at a power cut what was not flushed.
`cache.py` keeps what takes long to make.
"""
