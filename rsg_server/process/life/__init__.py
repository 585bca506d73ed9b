"""How emulated processes and their threads begin and end."""
