"""Counts attacks: how many were tried, and which did not hold."""

import threading
from collections.abc import Callable


class Tally:
    """The attacks of one family. Threads may share it."""

    def __init__(self, family: str) -> None:
        self.family = family
        self.tried = 0
        self.peak_mb = 0
        self.failures: list[str] = []
        self._lock = threading.Lock()

    def expect(self, holds: object, attack: str, *details: object) -> None:
        """Counts one attack; `attack` and `details` explain a failure."""
        with self._lock:
            self.tried += 1
            if not holds:
                shown = " ".join(str(detail)[:300] for detail in details)
                self.failures.append(f"{attack}: {shown}" if shown else attack)

    def attempt(self, attack: str, action: Callable[[], object]) -> None:
        """Runs an action as one attack; it holds if the action returns true and raises nothing."""
        try:
            holds, detail = action(), ""
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            holds, detail = False, f"{type(error).__name__}: {error}"
        self.expect(holds, attack, detail)

    @property
    def held(self) -> int:
        return self.tried - len(self.failures)

    def __str__(self) -> str:
        return f"attacks, {self.family}: {self.tried} tried, {self.held} held, peak memory {self.peak_mb} MB"
