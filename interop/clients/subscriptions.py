"""Change notifications in the Python clients: two clients, shared by both SDK generations."""

import asyncio
import json
import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from client_requests import REQUESTS, attempt

TIMEOUT = 20
LIST_CHANGED = "list_changed"


class NotificationRecorder:
    """Records the notifications of one client, in order. Each SDK generation implements the subscriptions."""

    def __init__(self) -> None:
        self.received: list[str] = []
        self._arrived = asyncio.Event()

    async def subscribe(self, uri: str) -> None: ...
    async def unsubscribe(self, uri: str) -> None: ...

    async def subscribe_to_lists(self) -> None:
        """A session receives list changes without a subscription."""

    def record(self, notification: str) -> None:
        """Adds a notification: the URI of an update, or LIST_CHANGED."""
        self.received.append(notification)
        self._arrived.set()

    async def wait_for(self, notification: str) -> None:
        try:
            async with asyncio.timeout(TIMEOUT):
                while notification not in self.received:
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            message = f"no notification {notification} within {TIMEOUT} s; received {self.received}"
            raise TimeoutError(message) from None

    def drain(self) -> list[str]:
        received, self.received = self.received, []
        return received


class Folder:
    """The served folder. Each change is one system call, so that it cannot appear as two changes."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self._version = 0

    def change(self, name: str) -> None:
        with open(self.path / name, "r+b", buffering=0) as file:
            file.write(self._next_content())

    def create(self, name: str) -> None:
        draft = self.path.parent / f"{name}.draft"
        draft.write_bytes(self._next_content())
        os.rename(draft, self.path / name)

    def _next_content(self) -> bytes:
        self._version += 1
        return f"version {self._version}\n".encode()


async def report_notifications(
    first_client: AbstractAsyncContextManager[NotificationRecorder],
    second_client: AbstractAsyncContextManager[NotificationRecorder],
) -> None:
    """Changes files while two clients are subscribed, and prints the notifications of both."""
    watch = REQUESTS["watch"]
    folder, first_file, second_file = Folder(watch["folder"]), watch["first_file"], watch["second_file"]

    async with first_client as first, second_client as second:

        async def separate() -> list[list[str]]:
            """Each client is subscribed to its own file."""
            for recorder in (first, second):
                await recorder.subscribe_to_lists()
            await first.subscribe(first_file["uri"])
            await second.subscribe(second_file["uri"])
            folder.change(first_file["name"])
            await first.wait_for(first_file["uri"])
            folder.change(second_file["name"])
            await second.wait_for(second_file["uri"])
            return await notifications_until_created("separate.txt")

        async def unsubscribed() -> list[list[str]]:
            """The first client is no longer subscribed to its file, but the second client is."""
            await second.subscribe(first_file["uri"])
            await first.unsubscribe(first_file["uri"])
            folder.change(first_file["name"])
            # Wait for the client that is still subscribed; then make a change that both receive.
            await second.wait_for(first_file["uri"])
            return await notifications_until_created("unsubscribed.txt")

        async def notifications_until_created(name: str) -> list[list[str]]:
            """Creates a file, waits until both clients are notified of it, and returns what each has received."""
            folder.create(name)
            for recorder in (first, second):
                await recorder.wait_for(LIST_CHANGED)
            return [first.drain(), second.drain()]

        outcome: dict[str, Any] = {"separate": await attempt(separate), "unsubscribed": await attempt(unsubscribed)}
    print(json.dumps(outcome))
