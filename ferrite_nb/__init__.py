"""Turn raw outcomes of AI-security evaluations into honest numbers."""
