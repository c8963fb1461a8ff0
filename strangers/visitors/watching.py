"""Change notifications in the Python clients: two clients, shared by both SDK generations."""

import asyncio
import json
import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from errand import ERRAND, attempt

PATIENCE = 20
LISTS = "lists"


class Ear:
    """Records the notifications of one client, in order. Each SDK generation implements the subscriptions."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._more = asyncio.Event()

    async def subscribe(self, uri: str) -> None: ...
    async def unsubscribe(self, uri: str) -> None: ...

    async def attend_to_lists(self) -> None:
        """A session receives list changes without a subscription."""

    def hear(self, notice: str) -> None:
        self.heard.append(notice)
        self._more.set()

    async def until(self, notice: str) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while notice not in self.heard:
                    self._more.clear()
                    await self._more.wait()
        except TimeoutError:
            raise TimeoutError(f"no notification {notice} within {PATIENCE} s; received {self.heard}") from None

    def taken(self) -> list[str]:
        heard, self.heard = self.heard, []
        return heard


class Folder:
    """The served folder. Each change is one system call, so that it cannot appear as two changes."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self._times = 0

    def change(self, name: str) -> None:
        with open(self.path / name, "r+b", buffering=0) as file:
            file.write(self._words())

    def create(self, name: str) -> None:
        draft = self.path.parent / f"{name}.draft"
        draft.write_bytes(self._words())
        os.rename(draft, self.path / name)

    def _words(self) -> bytes:
        self._times += 1
        return f"version {self._times}\n".encode()


async def report(first: AbstractAsyncContextManager[Ear], second: AbstractAsyncContextManager[Ear]) -> None:
    watch = ERRAND["watch"]
    folder, one, other = Folder(watch["folder"]), watch["one"], watch["other"]

    async with first as a, second as b:

        async def apart() -> list[list[str]]:
            for ear in (a, b):
                await ear.attend_to_lists()
            await a.subscribe(one["uri"])
            await b.subscribe(other["uri"])
            folder.change(one["name"])
            await a.until(one["uri"])
            folder.change(other["name"])
            await b.until(other["uri"])
            return await both_hear_of("apart.txt")

        async def ended() -> list[list[str]]:
            await b.subscribe(one["uri"])
            await a.unsubscribe(one["uri"])
            folder.change(one["name"])
            # Wait for the client that is still subscribed; then make a change that both receive.
            await b.until(one["uri"])
            return await both_hear_of("ended.txt")

        async def both_hear_of(name: str) -> list[list[str]]:
            folder.create(name)
            for ear in (a, b):
                await ear.until(LISTS)
            return [a.taken(), b.taken()]

        outcome: dict[str, Any] = {"apart": await attempt(apart), "ended": await attempt(ended)}
    print(json.dumps(outcome))
