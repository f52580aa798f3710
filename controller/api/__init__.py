"""The local interface: what a table shows, what happens at it, and what people do. The only way to the table.

messages    requests and answers            server    the daemon's side: the Unix socket, and the port of screens
people      who may                         door      the socket: accepts, asks who it is, refuses before HTTP
pins        how they prove it               web_door  the port of screens: Host, Origin, headers
callers     a user, a screen or a display   screens   enrolment and cookie; pages: the console's files
view        what may be seen of a state     turns     who asks too fast waits
feed        published events                refusals  what did not reach the table, counted
routes      what every door serves          client    the other side, for `watch`, `demo` and the simulators
description of all of it, as OpenAPI
"""
