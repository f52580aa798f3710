"""`cardshoe journal`: what a journal tells, without its key. Its parts:

    source     where the decisions come from: a folder of journal files, or one file
    days       days and hours as the casino counts them
    decisions  a decision as its input and events, read from JSON
    rounds     decisions gathered into rounds, irregularities and what happened at the table: no I/O, no words
    words      a round in words, for every command that shows one

A module a command does the rest.
"""
