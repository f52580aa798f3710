"""The carriers of a simulated device's bytes: a pseudo-terminal, a TCP port, USB/IP, memory."""
