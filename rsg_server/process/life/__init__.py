"""How processes and their threads begin and end."""
