"""What hosts, links and enclosures draw over time."""
