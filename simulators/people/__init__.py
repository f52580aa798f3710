"""The people around a simulated table: dealer, bettors and supervisors, and what a seed plans for them."""
