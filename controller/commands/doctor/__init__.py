"""`cardshoe doctor`: finds what is wrong on a table's PC. It changes nothing.

doctor_command  the checks and their output
machine         the PC: its files, its users, its programs
device          the device's port, and who may open it
service         the unit, the clock, and programs that open ports
files           keys, disk space, the socket, the journal
network         the addresses that the service may reach, the port of the screens, and the names of proxies
"""
