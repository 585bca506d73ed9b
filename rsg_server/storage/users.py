"""Records which application and which group of processes used a file of a storage last. Applications have shares of a
disk; groups have counts of bytes.

Bytes that are read ahead, or written back later, count for the last user of the file. Nothing depends on the order of
the files' numbers.
"""

from __future__ import annotations

from collections.abc import Callable

from rsg_server.platform.disk import Direction
from rsg_server.storage.accounts import Account
from rsg_server.storage.transfer import Application
from rsg_server.storage.volume import Volume


class Users:
    """By host and file: the application of the latest use, and the group of the latest read and of the latest write.

    `application_of` and `account_of` return the application and the group of a waiter. Without `account_of` no groups
    are recorded.
    """

    def __init__(self, application_of: Callable[[int], Application]) -> None:
        self.application_of = application_of
        self.account_of: Callable[[int], Account | None] | None = None
        # only for disks that are divided equally between applications
        self._applications: dict[tuple[str, int], Application] = {}
        self._accounts: dict[tuple[str, int, int], Account] = {}

    def note(self, waiter: int, volume: Volume, file: int, direction: int) -> None:
        """Note that a waiter is about to read or write a file; the number 0 stands for unknown files."""
        if volume.is_fair_per_application:
            self._applications[volume.client.name, file] = self.application_of(waiter)
        self.note_account(waiter, volume, file, direction)

    def note_account(self, waiter: int, volume: Volume, file: int, direction: int) -> None:
        """Note that a waiter is about to use the page cache of a file: only the waiter's group is recorded."""
        if self.account_of is None or volume.is_remote:
            return
        account, key = self.account_of(waiter), (volume.client.name, file, direction)
        if account is not None:
            self._accounts[key] = account
        else:
            self._accounts.pop(key, None)

    def application(self, host: str, file: int) -> Application:
        """Return the application that has used a file last."""
        return self._applications.get((host, file))

    def account(self, host: str, file: int, direction: int) -> Account | None:
        """Return the group of the process that has used a file last in a direction; None if the process was in no group."""
        return self._accounts.get((host, file, direction))

    def forget(self, host: str, file: int) -> None:
        """Forget a file that has been removed or emptied."""
        self._applications.pop((host, file), None)
        for direction in Direction:
            self._accounts.pop((host, file, direction), None)

    def lose_host(self, host: str) -> None:
        """Forget the groups of a host that has lost its power."""
        self._accounts = {key: account for key, account in self._accounts.items() if key[0] != host}
