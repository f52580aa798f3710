"""`cardshoe floor`: many tables, through the broker. Its parts:

    options   of its commands: the broker, the files for TLS, which tables
    database  the option of the store's commands, and its refusals
    screen    the floor drawn in a terminal
    words     the words that terminal and page have in common

A module a command does the rest.
"""
