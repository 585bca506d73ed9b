"""What is wrong with a platform, said in one line: file and line, what, how to mend it."""

from rsg_server.errors import SimunixError


class PlatformError(SimunixError):
    """A platform that cannot be used."""


class NoRouteError(PlatformError):
    """Two hosts that the platform does not connect."""
