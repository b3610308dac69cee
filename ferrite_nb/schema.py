"""Schema: every table that a verb returns, declared once."""
