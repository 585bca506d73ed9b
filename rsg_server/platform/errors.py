"""Errors of a platform. The text is one line: file and line, what is wrong, how to correct it."""

from rsg_server.errors import SimunixError


class PlatformError(SimunixError):
    """The error of a platform that cannot be used."""


class NoRouteError(PlatformError):
    """The error that there is no route between two hosts."""
