"""The local interface: what a table shows, what happens at it, and what people do. The only way to the table.

messages    requests and answers            server    the daemon's side, on a Unix socket
people      who may, and how they prove it
view        what may be seen of a state     client    the other side, for `watch`, `demo` and the simulators
"""
