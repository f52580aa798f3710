"""Helpers that only tests use, among them a simulated USB bus."""
