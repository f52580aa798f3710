"""Models of shuffles, to compare decks with and to drive simulated shufflers.

shuffle_model  the interface of a model; the uniform shuffle
riffle         riffles after Gilbert, Shannon and Reeds
shelf          shelf shufflers with any number of shelves
by_hand        overhand shuffle, strip cut, wash, cut
faults         machines that sometimes do not shuffle, let cards stick, or favour a place
named          models by name, as commands take them
"""
