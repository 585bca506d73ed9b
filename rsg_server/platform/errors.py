"""The errors of a platform's description.

The text of such an error is one line: file and line, what is wrong, how to correct it.
"""

from rsg_server.errors import SimunixError


class PlatformError(SimunixError):
    """Raised for a platform that cannot be used."""


class NoRouteError(PlatformError):
    """Raised if there is no route between two hosts."""
