"""The journal: durable, whole, append-only, and secret where it must be."""
