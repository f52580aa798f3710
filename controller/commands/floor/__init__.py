"""`cardshoe floor`: many tables, through the broker. Each command has its own module; they share these:

floor_options  the broker, the files for TLS, which tables, the database, and refusals
screen         the floor drawn in a terminal
telling        the words that the terminal and the page have in common
"""
