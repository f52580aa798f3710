"""Skeleton, an invented game: the document as data."""
