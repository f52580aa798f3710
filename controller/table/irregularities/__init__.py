"""Irregularities: raised, confirmed or denied, ruled on, given effect; wrong entries corrected, decisions reopened.

raising         a device, an inference or a person notices something: which row of the irregularity table applies
questions       who is called, and what is asked, in a sentence or two
adjudication    a person's answers: confirm, deny, name an order, choose, report that cards were moved
rulings         decisions where the document is silent or refers to a person; abandoning a round
dispositions    the effects of a clause or ruling: void, remove a hand, return bets
corrections     a wrong entry is corrected
reopening       decisions that rested on it are made again
"""
