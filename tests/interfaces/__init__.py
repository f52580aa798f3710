"""Tests of the command line, the API, the socket and the port of screens, with bad input."""
