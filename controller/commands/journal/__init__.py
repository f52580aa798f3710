"""`cardshoe journal`: reads a journal without its key. Each command has its own module; they share these:

source     the decisions, read from a folder of journal files, or from one file
days       days and hours as the casino counts them
decisions  a decision as its input and events, read from JSON
rounds     decisions gathered into rounds, irregularities and events: no I/O, no words
words      a round in words, for every command that shows one
"""
