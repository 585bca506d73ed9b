"""`simunix bench`: what simunix costs on this computer, and what its peers cost beside it."""
