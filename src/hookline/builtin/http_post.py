"""Posts a text that stands in the config to an address, as JSON, and does not mind the answer.

docker-agent's `http_post`, whose arguments are the address and the text. Addresses of this machine
and its network are refused, redirects are not followed, and an address that does not answer is
written down and changes nothing.
"""

from collections.abc import Callable
from time import monotonic

from msgspec import Struct

from hookline.builtin._posting import Unsent, origin, posted
from hookline.model.answers import PASS, Answer
from hookline.model.errors import HandlerUnavailable
from hookline.model.events import EVENTS as ALL
from hookline.model.events import Event
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("session_end",)
ALSO: tuple[str, ...] = tuple(name for name in ALL if name != "session_end")
PRIORITY: int = 50
GUARD: bool = False
WAITS: bool = True
ACTS: tuple[str, ...] = (*EVENTS, *ALSO)

_SECONDS = 30.0


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to, and what."""

    url: str = ""
    body: str = ""
    private: bool = False
    """Also to this machine and its network; a docker-agent file cannot say this."""
    args: tuple[str, ...] | None = None
    """docker-agent's spelling; there, no address means that nothing is posted."""

    def __post_init__(self) -> None:
        # docker-agent says so of its own spelling only when the hook runs.
        if self.args is None and not origin(self.url):
            raise ValueError("`url` is missing, or is no whole http or https address")


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    words = (options.url, options.body) if options.args is None else (*options.args, "", "")
    url, body = words[:2]

    def answer(event: Event, caller: Caller) -> Answer:
        if not url:
            return PASS
        where = origin(url)
        if not where:
            raise HandlerUnavailable("only http and https addresses can be posted to")
        left = _SECONDS if caller.deadline is None else caller.deadline - monotonic()
        try:
            status = posted(
                url,
                body.encode("utf-8", "replace"),
                seconds=min(_SECONDS, left),
                public_only=not options.private,
            )
        except Unsent as error:
            return _noted(f"{where}: {error}")
        return _noted(f"{where} answered {status}") if status >= 300 else PASS

    return answer


def _noted(what: str) -> Answer:
    """For the journal alone: what goes wrong here is no concern of the agent's."""
    return Answer(metadata={"http_post": what})
