"""Programs that measure speed, each against a floor in the same run: on a shared machine only ratios mean much."""
