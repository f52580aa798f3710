"""The product as it is run: real processes, a pseudo-terminal, a socket, a journal on disk, and a hard life."""
