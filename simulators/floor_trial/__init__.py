"""A whole floor on one machine, in a folder of its own: `cardshoe floor try`.

servers  Debian's broker and database, started there
trial    both, the store, the page, and tables that simulated people deal
command  what a person asks for
"""
