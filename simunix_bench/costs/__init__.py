"""What turns, traps and births cost."""
