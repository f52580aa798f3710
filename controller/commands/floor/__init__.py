"""`cardshoe floor`: many tables, through the broker. Its parts:

    options  what its commands are told: the broker, the files for TLS, which tables
    database the database that the store's commands are told
    screen   the floor drawn in a terminal
    words    the words that terminal and page have in common

A module a command does the rest.
"""
