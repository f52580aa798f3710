"""The rules that all games share, as pure functions: ranking hands, dealing orders, which row of a table applies."""
