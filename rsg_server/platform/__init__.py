"""The platform, which is the machine that is emulated: hosts, links, and the routes between hosts."""
