"""End-to-end tests of the product: real processes, a pseudo-terminal, a socket, a journal on disk, and failures."""
