"""Clause by clause, one module a document: what the program makes of each, or why it is none of its business."""
