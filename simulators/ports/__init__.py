"""What carries the bytes of a simulated device: a pseudo-terminal, a TCP port, memory."""
