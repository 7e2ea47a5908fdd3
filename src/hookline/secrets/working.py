"""What a process has looked through so far: one that does much is worth making faster."""

from hookline.secrets.hints import accelerate_soon

__all__ = ["looked_through"]

_TEXTS = 16
_VOLUME = 256 << 10
"""From so many texts and bytes on it is worth a second of work to look faster: a process that was
started for one event never comes so far."""


class _Work:
    __slots__ = ("_asked", "_texts", "_volume")

    def __init__(self) -> None:
        self._texts = self._volume = 0
        self._asked = False

    def add(self, volume: int) -> None:
        """For a process that lives on: so many bytes more."""
        if self._asked:
            return
        self._texts += 1
        self._volume += volume
        if self._texts >= _TEXTS and self._volume >= _VOLUME:
            self._asked = True
            accelerate_soon()


_work = _Work()
looked_through = _work.add
