"""Root file systems of other Debian releases: make them, and find what they contain."""
