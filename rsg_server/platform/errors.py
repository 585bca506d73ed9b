"""Errors of a platform. The text is one line: file and line, what is wrong, how to mend it."""

from rsg_server.errors import SimunixError


class PlatformError(SimunixError):
    """A platform that cannot be used."""


class NoRouteError(PlatformError):
    """There is no route between two hosts."""
