"""The local API: the table's view, its events, and operations by people. It is the only interface to the table.

bodies        requests and answers
server        the daemon's side: the Unix socket, and the port of screens
unix_socket   the Unix socket: its path, and its users, whom the kernel names
screen_port   the port of screens: Host, Origin, headers; tcp_listener: its sockets
connections   accepted connections and their time limits; request_gate: one request at a time
callers       a user, a screen or a display, and delays for those that send requests too fast
people        who may do what; pins: proof of a person by PIN
screens       enrolment and cookie; pages: the files of the console and the API's description
routes        the routes of every listener; screen_routes: those of screens
view          the public part of a state; screen_state: the message for screens
feed          published events
narration     renders the line of each event; screen_lines: the same for screens
refusals      counts of requests that did not reach the table
client        the other side, for `watch`, `demo` and the simulators
"""
