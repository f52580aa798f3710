"""The floor: a real broker, real certificates, a real database."""
