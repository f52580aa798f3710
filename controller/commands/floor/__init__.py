"""`cardshoe floor`: many tables, through the broker. Each command has its own module; they share these:

options    their options: the broker, the files for TLS, which tables
database   the option of the store's commands, and its refusals
screen     the floor drawn in a terminal
words      the words that the terminal and the page have in common
"""
