"""The local interface: what a table shows, what happens at it, and what people do. The only way to the table.

messages    requests and answers            server    the daemon's side, on a Unix socket
people      who may                         door      the socket: accepts, asks who it is, refuses before HTTP
pins        how they prove it               turns     who asks too fast waits
view        what may be seen of a state     refusals  what did not reach the table, counted
feed        published events                client    the other side, for `watch`, `demo` and the simulators
"""
