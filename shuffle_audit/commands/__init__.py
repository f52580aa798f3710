"""`cardshoe audit`: commands that examine a shuffler.

    command      the group, found by an entry point; it imports a command when that is used run          the verdict on
    decks in files, as a report plan         how many decks it takes to find a model report       the contents of a
    report making       makes a report from decks parts        a report as sentences and tables, and as text report_page
    a report as a page, with how everything was found; report_plots its plots figures      numbers for people options
    options for chances and for journals, and a bar for long work

numpy is imported when a command runs, not for its help.
"""
