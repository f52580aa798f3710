"""Programs that measure speed, each beside a floor in the same run: on a shared machine only ratios mean much."""
