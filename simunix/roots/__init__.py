"""Root file systems of other releases: what they say of themselves, and how they are made."""
