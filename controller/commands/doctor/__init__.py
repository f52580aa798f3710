"""`cardshoe doctor`: finds what is wrong on a table's PC. It changes nothing.

command    the checks and their output                machine   the PC: its files, its users, its programs device
the port and who may open it               service   unit, clock, programs that open ports screens    the port of
screens, proxies' names        files     keys, room, socket, journal
"""
