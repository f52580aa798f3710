"""`cardshoe floor try`: a whole floor on one machine, in its own folder.

servers  Debian's broker and database trial    both servers, the store, the page, and tables that simulated people deal
command  the command and its options
"""
