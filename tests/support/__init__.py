"""What only tests use: a simulated USB bus."""
