"""Programs that measure speed, each together with a floor in the same run: on a shared machine only ratios are
meaningful.
"""
