"""The rules that all games share, as pure functions: ranking of hands, dealing orders, payouts, settlement."""
