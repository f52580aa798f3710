"""The local API: the table's view, its events, and operations by people. It is the only interface to the table.

bodies       requests and answers
server       the daemon's side: the Unix socket, and the port of screens
people       who may do what
door         the socket listener: accepts connections, identifies users, refuses before HTTP
pins         proof of a person by PIN
web_door     the port of screens: Host, Origin, headers
callers      a user, a screen or a display
screens      enrolment and cookie; pages: the console's files
view         the public part of a state
turns        delays for callers that send requests too fast
feed         published events
refusals     counts of requests that did not reach the table
routes       the routes of every listener
client       the other side, for `watch`, `demo` and the simulators
description  the OpenAPI description of the API
"""
