"""Root file systems of other releases: how they are made, and what can be read out of them."""
