"""Real daemons in real time against emulated ones: the same submissions at the same moments, and what became of them."""
