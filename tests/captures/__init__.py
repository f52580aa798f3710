"""Golden captures: files that every version has to read with the same result (docs/captures.md)."""
