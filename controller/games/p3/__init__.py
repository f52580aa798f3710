"""Prosperity 3 Pictures (MBS): the document as data."""
