"""`cardshoe audit`: whether a shuffler shuffles.

    command      the group, found by an entry point; it imports a command when that is used
    run          the verdict of decks in files, as a report
    plan         how many decks find a model
    report       all that a report says
    making       how it is made from decks
    parts        it as sentences and tables, and as text
    report_page  it as a page; report_plots its plots, methods how everything was found
    figures      numbers for people
    options      chances as options take them
    progress     a bar for long work

numpy is imported where a command runs, and not for its help.
"""
