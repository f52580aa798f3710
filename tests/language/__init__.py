"""Tests of the catalogues of texts, and of what people read in each language."""
