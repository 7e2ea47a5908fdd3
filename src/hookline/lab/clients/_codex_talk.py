"""What is said to ``codex app-server``.

What `codex exec` cannot do goes this way: questions to the person, interruptions, a compaction
that was asked for, and the client's own word on how each hook ended.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hookline._version import __version__
from hookline.lab.clients._rpc import Message, Rpc
from hookline.lab.ports import Dialogue

__all__ = ["HookRun", "Talk", "approve", "refuse"]

_MCP_QUESTION = "mcpServer/elicitation/request"


class HookRun(Struct, frozen=True):
    """How the client says that one run of a hook ended."""

    event: str
    """In the client's own spelling, as in ``preToolUse``."""
    status: str
    """``completed``, ``blocked``, ``stopped`` or ``failed``."""
    words: str = ""


def refuse(question: Message) -> Message:
    """The answer of a person who lets nothing through."""
    return {"action": "decline"} if _is_of_mcp(question) else {"decision": "decline"}


def approve(question: Message) -> Message:
    """The answer of a person who lets everything through."""
    return {"action": "accept", "content": {}} if _is_of_mcp(question) else {"decision": "accept"}


def _is_of_mcp(question: Message) -> bool:
    return bool(question["method"] == _MCP_QUESTION)


class Talk(Rpc):
    """One conversation: a thread, its turns, and all that the client told meanwhile."""

    def __init__(
        self,
        dialogue: Dialogue,
        project: str,
        *,
        answer: Callable[[Message], Message] = refuse,
        approvals: str = "never",
    ) -> None:
        super().__init__(dialogue, answer)
        self._project = project
        self._approvals = approvals
        self._thread = ""
        about = {"name": "hookline", "title": "hookline", "version": __version__}
        self.request("initialize", clientInfo=about)
        self.notify("initialized")

    def hooks(self) -> Sequence[Mapping[str, Any]]:
        """The hooks of this project as the client lists them, whether it trusts them or not."""
        places = self.request("hooks/list", cwds=[self._project])["data"]
        return [hook for place in places for hook in place["hooks"]]

    def trust_hooks(self) -> None:
        """Have the client trust every hook it knows, as its own dialog does."""
        state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in self.hooks()}
        edit = {"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": state}
        self.request("config/batchWrite", edits=[edit], reloadUserConfig=True)

    def latest(self) -> str:
        """The id of the latest thread of this project; empty when there is none."""
        threads = self.request("thread/list", cwd=self._project, limit=1)["data"]
        return str(threads[0]["id"]) if threads else ""

    def begin(self, *, resume: str = "") -> str:
        """A new thread, or an earlier one by its id; its id."""
        # In a sandbox, what is asked would depend on what the kernel of the day allows.
        how = {"approvalPolicy": self._approvals, "sandbox": "danger-full-access"}
        if resume:
            result = self.request("thread/resume", threadId=resume, cwd=self._project, **how)
        else:
            result = self.request("thread/start", cwd=self._project, **how)
        self._thread = str(result["thread"]["id"])
        return self._thread

    def say(self, prompt: str) -> str:
        """One turn to its end; how it ended: ``completed``, ``interrupted`` or ``failed``."""
        self.start(prompt)
        return self.finish()

    def start(self, prompt: str) -> str:
        """Begin a turn and leave it running; its id."""
        words = [{"type": "text", "text": prompt}]
        return str(self.request("turn/start", threadId=self._thread, input=words)["turn"]["id"])

    def finish(self) -> str:
        """Wait for the end of the turn that runs; how it ended."""
        ours = self.until("turn/completed", lambda told: told["threadId"] == self._thread)
        return str(ours["turn"]["status"])

    def interrupt(self, turn: str) -> None:
        """Stop a turn, as a person does with the escape key."""
        self.send("turn/interrupt", threadId=self._thread, turnId=turn)

    def compact(self) -> str:
        """Have the history summarised; how that ended."""
        self.send("thread/compact/start", threadId=self._thread)
        return self.finish()

    @property
    def hook_runs(self) -> Sequence[HookRun]:
        """Every hook run that ended until now, in order."""
        runs = [each["params"]["run"] for each in self.heard if each["method"] == "hook/completed"]
        return [
            HookRun(
                event=str(run["eventName"]),
                status=str(run["status"]),
                words="\n".join(str(entry.get("text", "")) for entry in run["entries"]),
            )
            for run in runs
        ]
