"""Honest comparisons: what is measured, on which folds, and what it is worth beside a constant."""
