"""Tests of the sources: imports, clocks, concealed cards, links of the pages."""
