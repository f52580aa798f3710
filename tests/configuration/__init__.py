"""What a configuration may say of the law."""
