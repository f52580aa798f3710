"""Irregularities at the table: raised, adjudicated step by step, ruled on, corrected and opened again."""
