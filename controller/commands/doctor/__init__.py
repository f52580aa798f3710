"""`cardshoe doctor`: what is wrong on a table's PC. It looks, and changes nothing.

command    what is looked at, and how it is shown     machine   the PC: its files, its users, its programs
device     the port and who may open it               service   unit, clock, programs that open ports
screens    the port of screens, proxies' names        files     keys, room, socket, journal
"""
