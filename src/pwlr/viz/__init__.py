"""Pictures of what was computed; nothing here computes."""
