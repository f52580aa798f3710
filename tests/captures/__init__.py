"""Golden captures: files that every version has to hear as they were heard (docs/captures.md)."""
