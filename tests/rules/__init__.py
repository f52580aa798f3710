"""Tests of the documents: hands, deals, wagers, settlement, odds, every cell of the irregularity tables."""
