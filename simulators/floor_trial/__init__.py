"""`cardshoe floor try`: a whole floor on one machine, in a separate folder.

servers  Debian's broker and database
trial    both servers, the store, the page, and tables at which simulated people deal
command  the command and its options
"""
