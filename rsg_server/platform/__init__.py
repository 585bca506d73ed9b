"""What is emulated: hosts, links, routes."""
