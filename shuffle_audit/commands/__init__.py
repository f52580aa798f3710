"""`cardshoe audit`: whether a shuffler shuffles.

    command      the group, found by an entry point; it imports a command when that is used
    run          the verdict of decks in files
    plan         how many decks find a model
    report       a verdict as text
    making      all figures of a report
    options      chances as options take them
    progress     a bar for long work

numpy is imported where a command runs, and not for its help.
"""
