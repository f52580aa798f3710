"""Tests of the floor with a real broker, real certificates and a real database."""
