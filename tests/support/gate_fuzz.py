"""Mutated payloads against the law that the named gate wins.

Every recorded payload, changed at random, goes through ``hookline hook`` with a rule that denies
everything. The reply is read by the models of the client named on the command line and of every
client that was recognised: no gate may be open under any of them.

``python -m support.gate_fuzz`` runs many of them in several processes; what fails is written to
``tests/property/regressions``, which ``make test`` replays.
"""

import argparse
import asyncio
import base64
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from msgspec import Struct

import hookline
from hookline import registry
from hookline.model.events import EVENTS
from hookline.model.outcome import Reply
from hookline.model.support import EventSupport
from hookline.pipeline.answer import answer
from hookline.pipeline.call import Call
from hookline.pipeline.parts import Parts
from hookline.pipeline.recognition import recognise
from hookline.store.duplicate_calls import DuplicateCalls, MemoryShelf
from support.clients.effects import Does, Effect

REGRESSIONS = Path(__file__).parent.parent / "property" / "regressions"
DIALECTS = Path(hookline.__file__).parent / "dialects"
NATIVE = tuple(name for name in registry.dialect_names() if name != "canonical")
AUTO = "auto"

_GATES = [name for name, cls in EVENTS.items() if cls.gate and not cls.continues]
_HIDES = [name for name, cls in EVENTS.items() if cls.hides and not cls.continues]
_ASKS = ["pre_tool_use", "permission_request", "pre_model_switch"]
RULES = {
    "deny": f"on: [{', '.join(dict.fromkeys(_GATES + _HIDES))}], deny: MK_NO",
    "ask": f"on: [{', '.join(_ASKS)}], ask: MK_SURE",
}


class Case(Struct, frozen=True, kw_only=True):
    """One call of hookline."""

    dialect: str
    event: str | None
    payload: bytes
    env: dict[str, str] = {}
    rule: str = "deny"

    def as_json(self) -> dict[str, Any]:
        """For a regression file; a payload that is not text is written in base64."""
        try:
            payload = {"payload": self.payload.decode()}
        except UnicodeDecodeError:
            payload = {"payload_base64": base64.b64encode(self.payload).decode()}
        own = {"dialect": self.dialect, "event": self.event, "env": self.env, "rule": self.rule}
        return own | payload


def read_case(path: Path) -> Case:
    """The case in a regression file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    coded = data.pop("payload_base64", None)
    text = data.pop("payload", "")
    data.pop("why", None)
    return Case(payload=base64.b64decode(coded) if coded else text.encode(), **data)


def keep(case: Case, why: str) -> Path:
    """Writes a failing case where ``make test`` replays it."""
    name = sha256(repr(case).encode()).hexdigest()[:12]
    path = REGRESSIONS / f"{case.dialect}-{case.event or 'none'}-{name}.json".replace("/", "_")
    REGRESSIONS.mkdir(exist_ok=True)
    text = json.dumps(case.as_json() | {"why": why}, indent=2)
    path.write_text(text + "\n", encoding="utf-8")
    return path


# ── hookline ────────────────────────────────────────────────────────────────────────────────


class _NoJournals:
    """Nothing is written down: this is about answers."""

    def open(self, app: object) -> None:
        return None

    async def aclose(self) -> None:
        return None


class Desks:
    """``hookline hook`` in this process, with one rule for everything."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._parts = Parts(_NoJournals(), DuplicateCalls(MemoryShelf()))
        self._loop = asyncio.new_event_loop()
        for name, rule in RULES.items():
            folder = base / name / "hookline"
            folder.mkdir(parents=True)
            text = f"version: 1\nhooks:\n  - {{name: no, {rule}}}\n"
            (folder / "hookline.yaml").write_text(text, encoding="utf-8")
        (base / "project").mkdir()

    def answer(self, case: Case) -> Reply:
        """The reply to one call."""
        event = [case.event] if case.event is not None else []
        options = [
            "--home",
            str(self._base / "state"),
            "--user-config",
            str(self._base / case.rule),
        ]
        call = Call(
            argv=[case.dialect, *event, *options],
            payload=case.payload,
            env=case.env,
            cwd=str(self._base / "project"),
        )
        return self._loop.run_until_complete(answer(call, self._parts))

    def close(self) -> None:
        """Ends what the parts have started."""
        self._loop.run_until_complete(self._parts.aclose())
        self._loop.close()


# ── the law ─────────────────────────────────────────────────────────────────────────────────


@cache
def _load_model(name: str) -> Any:
    return import_module(f"support.clients.{name.replace('-', '_')}")


def find_flaw(case: Case, reply: Reply) -> str:
    """What is wrong with the reply; empty when the law holds."""
    told = reply.stdout + reply.stderr
    if b"Error: " in told or b"Traceback" in told:
        return f"an internal error: {told!r}"
    named = None if case.dialect == AUTO else case.dialect
    # A client's own spelling of the event says which keys its payload has to have.
    spelled = registry.dialect(named).support.own_name(case.event) if named and case.event else None
    callers = recognise(named, spelled or case.event, case.payload, case.env)
    if not callers.ids:
        return _find_flaw_unrecognised(case, reply)
    flaws = []
    if named:
        natives = _list_events(named, case)
        flaws += [_find_flaw_under(named, native, case, reply) for native in natives]
    for name in callers.ids:
        readers = {*callers.readers, *(() if callers.is_certain else _list_having(case.event))}
        if name == named or not all(_has_joint_reply(each, name, case) for each in readers):
            continue
        native = _find_event(name, case)
        if native:
            flaws.append(_find_flaw_under(name, native, case, reply))
    return next(filter(None, flaws), "")


def _find_flaw_unrecognised(case: Case, reply: Reply) -> str:
    rows = {name: row for name in NATIVE if (row := _load_events(name).get(case.event or ""))}
    if rows and not any(row.is_gate for row in rows.values()):
        return "what is no gate was refused" if reply.exit_code == 2 else ""
    if reply.exit_code == 2 and reply.stderr.strip() and len(rows) != 1:
        return ""
    flaws = (
        _find_flaw_under(name, str(case.event), case, reply)
        for name in rows
        if all(_has_joint_reply(name, other, case) for other in rows)
    )
    return next(filter(None, flaws), "" if rows else "not recognised, and not denied")


def _read_name(name: str, payload: bytes) -> str:
    """The event that the payload names, by this client's own rules."""
    try:
        return registry.dialect(name).decode(payload, None).native_event
    except Exception:
        return ""


def _list_events(name: str, case: Case) -> list[str]:
    """The events at which the client named may be."""
    events = registry.dialect(name).support.events
    if case.event in events:
        return [case.event]
    if case.event is None:
        said = _read_name(name, case.payload)
        if said in events:
            return [said]
        callers = recognise(name, None, case.payload, case.env)
        if any(_read_name(each, case.payload) in _load_events(each) for each in callers.ids):
            return [meant] if (meant := _find_event(name, case)) else []
        # It may be any of them that has been renamed, or its name is broken.
        return [native for native, row in events.items() if row.is_gate and row.can("deny")]
    meant = _find_event(name, case)
    return [meant] if meant else []


def _find_event(name: str, case: Case) -> str:
    """The event at which a client is by the command line, in its own words; empty for none."""
    events = registry.dialect(name).support.events
    if case.event in events:
        return str(case.event)
    said = _read_name(name, case.payload)
    wanted = _find_canonical(case)
    if said in events and (case.event is None or wanted in {"", events[said].event}):
        return said
    return next((native for native, row in events.items() if row.event == wanted), "")


def _load_events(name: str) -> Mapping[str, EventSupport]:
    return registry.dialect(name).support.events


def _list_having(event: str | None) -> list[str]:
    return [name for name in NATIVE if event in _load_events(name)]


def _find_canonical(case: Case) -> str:
    """The canonical event that the command line names, or else the payload."""
    named = case.dialect if case.dialect != AUTO else None
    for name in (*([named] if named else []), *NATIVE):
        if case.event and case.event in _load_events(name):
            return _load_events(name)[case.event].event
    for name in recognise(named, case.event, case.payload, case.env).readers:
        if (said := _read_name(name, case.payload)) in _load_events(name):
            return _load_events(name)[said].event
    return ""


def _find_flaw_under(name: str, native: str, case: Case, reply: Reply) -> str:
    """What is wrong with a reply that this client reads on this event."""
    row = registry.dialect(name).support.events[native]
    model = _load_model(name)
    if native in getattr(model, "NEVER_FIRE", ()):
        return ""
    given = model.payload(native) if hasattr(model, "payload") else {}
    effect: Effect = model.obey(native, reply, given)
    where = f"{name} {native}: {effect} for {reply}"
    if not row.can_block:
        # Without an event on the command line nobody may have known that this is no gate.
        holds = case.event is not None and (effect.does >= Does.BLOCKS or bool(effect.follow_up))
        return f"what is no gate is held back, {where}" if holds else ""
    if row.is_gate and _is_deniable(row) and case.rule == "deny":
        return "" if effect.does >= Does.BLOCKS else f"an open gate, {where}"
    if case.rule == "ask" and row.event in _ASKS and _is_deniable(row):
        asked = effect.does >= Does.ASKS or native in getattr(model, "ASKS_BY_ITSELF", ())
        return "" if asked else f"a question not asked, {where}"
    return ""


def _is_deniable(row: EventSupport) -> bool:
    return row.can("deny") or row.instead("deny") == "halt"


def _has_joint_reply(one: str, other: str, case: Case) -> bool:
    """Whether one reply can block both clients, judged one by one.

    Some need exit 0; Codex and Cursor take no answer there with a word that they do not know, and
    Codex ends a compaction by nothing else.
    """
    first, second = _find_event(one, case), _find_event(other, case)
    strict = {"codex", "cursor"}
    if (one in strict and _needs_exit_0(other, second)) or (
        other in strict and _needs_exit_0(one, first)
    ):
        return False
    return not ("codex" in {one, other} and _find_canonical(case) == "pre_compact")


def _needs_exit_0(name: str, native: str) -> bool:
    row = _load_events(name).get(native)
    is_prompt = row is not None and row.event == "user_prompt_submit"
    return (
        name in {"kodelet", "basecoat"}
        or native.endswith("+preempt")
        or (name.startswith("copilot") and is_prompt)
    )


# ── mutations ───────────────────────────────────────────────────────────────────────────────


@cache
def load_captures() -> tuple[tuple[str, str, str], ...]:
    """Every recorded payload: dialect, event, JSON."""
    found = []
    for path in sorted(DIALECTS.glob("*/captures/**/*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(data, dict) and isinstance(data.get("payload"), dict):
            name = path.relative_to(DIALECTS).parts[0].replace("_", "-")
            found.append((name, str(data["event"]), json.dumps(data["payload"])))
    for name in NATIVE:  # also for events that nobody has recorded
        if hasattr(_load_model(name), "payload"):
            for native in registry.dialect(name).support.events:
                if native not in getattr(_load_model(name), "NEVER_FIRE", ()):
                    try:
                        found.append((name, native, json.dumps(_load_model(name).payload(native))))
                    except KeyError:
                        continue
    return tuple(found)


@cache
def _load_gate_captures() -> tuple[tuple[str, str, str], ...]:
    def is_gate(name: str, event: str) -> bool:
        row = registry.dialect(name).support.find(event)
        return row is not None and row.is_gate

    return tuple(each for each in load_captures() if is_gate(each[0], each[1]))


@cache
def _load_variables() -> tuple[str, ...]:
    folders = (DIALECTS / name.replace("-", "_") / "shape.json" for name in NATIVE)
    found = (json.loads(path.read_text(encoding="utf-8")).get("variables", ()) for path in folders)
    return tuple(name for names in found for name in names)


_EVENT_KEYS = ("hook_event_name", "hookEventName", "event", "hook", "hookName")
_ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**30, 1e308, "", "x", "\0", "/srv/a\0b", "\ud800", "é" * 50, [], {},
    [[]], ["PreToolUse"], {"command": "ls"}, {"a": {"b": [1, None]}}, "/etc/passwd", "PreToolUse",
    "2026-11-15T18:49:30.511Z", 1794768566518,
)  # fmt: skip
_NEW_KEYS = (
    "tool_use_id", "generation_id", "conversation_id", "timestamp", "turn_id", "prompt_id",
    "permission_mode", "sessionId", "cursor_version", "workspace_roots", "conv_id", "invoked_by",
    "hook", "hookEventName", "toolName", "tool_result", "stop_reason", "initial_prompt", "model",
    "agent_type", "duration_ms", "effort", "repository", "budget", "agent", "brand_new",
)  # fmt: skip


def _make_odd_name(rng: random.Random, name: str) -> Any:
    """Something in place of an event's name."""
    other = rng.choice(load_captures())
    return rng.choice(
        [
            f"{name}2", f"{name} ", f" {name}", name.lower(), name.upper(), name.swapcase(),
            name[:-1], name[:1].swapcase() + name[1:], "", "Brandnew", 3, None, True, [name],
            {"name": name}, f"{name}\0", other[1], other[1], "Stop", "SessionStart", "PreToolUse",
        ]
    )  # fmt: skip


def _mutate(rng: random.Random, data: dict[str, Any], event: str) -> dict[str, Any]:
    """One change of an object; the payload itself, or an object in it."""
    keys = list(data)
    inner = [key for key in keys if isinstance(data[key], dict) and data[key]]
    if inner and rng.random() < 0.15:
        key = rng.choice(inner)
        return data | {key: _mutate(rng, data[key], event)}
    kind = rng.randrange(8)
    if kind == 0 or not keys:
        return data | {rng.choice(_NEW_KEYS): rng.choice(_ODD_VALUES)}
    key = rng.choice(keys)
    rest = {name: value for name, value in data.items() if name != key}
    if kind == 1:
        return rest
    if kind == 2:
        renamed = rng.choice([key.upper(), f"{key}_", f"new_{key}", rng.choice(_NEW_KEYS)])
        return rest | {renamed: data[key]}
    if kind == 3:
        return data | {key: rng.choice(_ODD_VALUES)}
    if kind == 4:
        return data | {key: [data[key], data[key]]}
    if kind == 5:
        named = [each for each in _EVENT_KEYS if each in data] or ["hook_event_name"]
        return data | {rng.choice(named): _make_odd_name(rng, event)}
    other = json.loads(rng.choice(load_captures())[2])
    if kind == 6:
        return other | data
    some = rng.sample(sorted(other), k=rng.randint(1, len(other)))
    return data | {name: other[name] for name in some}


def _garble(rng: random.Random, payload: bytes) -> bytes:
    """What is no JSON object any more, or hardly."""
    at = rng.randrange(len(payload) + 1)
    first, rest = payload[:1], payload[1:]
    twice = json.dumps(rng.choice(_EVENT_KEYS)).encode() + b': "SessionStart", '
    return rng.choice(
        [
            b"", b" ", b"null", b"[]", b'"x"', b"3", b"{}", payload[:at], b"[" + payload + b"]",
            payload[:at] + b"\xff\xfe" + payload[at:], payload[:at] + b"\0" + payload[at:],
            b"\xef\xbb\xbf" + payload, payload.decode("utf-8", "replace").encode("utf-16"),
            first + b'"deep": ' + b"[" * 2000 + b"]" * 2000 + b", " + rest,
            first + b'"huge": 1' + b"0" * 400 + b", " + rest,
            first + b'"huge": 1e999, ' + rest, first + twice + rest, payload + payload,
            payload[:-1] + b", " + twice[:-2] + b"}",
        ]
    )  # fmt: skip


def make_cases(rng: random.Random) -> Iterator[Case]:
    """Cases without end."""
    while True:
        own, event, text = rng.choice(
            _load_gate_captures() if rng.random() < 0.8 else load_captures()
        )
        data = json.loads(text)
        for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5, 9))):
            data = _mutate(rng, data, event)
        payload = json.dumps(data, ensure_ascii=rng.random() < 0.5)
        raw = payload.encode("utf-8", "surrogatepass")
        if rng.random() < 0.1:
            raw = _garble(rng, raw)
        dialect, given = _choose_line(rng, own, event)
        env = {}
        if rng.random() < 0.3:
            env = dict.fromkeys(rng.sample(_load_variables(), k=rng.randint(1, 4)), "1")
        rule = "ask" if rng.random() < 0.1 else "deny"
        yield Case(dialect=dialect, event=given, payload=raw, env=env, rule=rule)


def _choose_line(rng: random.Random, own: str, event: str) -> tuple[str, str | None]:
    """What stands on the command line: mostly the client's own line, or one that it borrowed."""
    draw = rng.random()
    if draw < 0.5:
        return own, event
    if draw < 0.58:
        return own, None
    if draw < 0.66:
        return AUTO, rng.choice((event, None))
    dialect = rng.choice(NATIVE)
    events = registry.dialect(dialect).support.events
    if draw < 0.85:
        row = registry.dialect(own).support.find(event)
        same = [native for native, each in events.items() if row and each.event == row.event]
        return dialect, rng.choice(same) if same else event
    if draw < 0.95:
        return dialect, rng.choice(list(events))
    return dialect, rng.choice((event, None))


# ── running many ────────────────────────────────────────────────────────────────────────────


def find_failures(seed: int, count: int) -> list[tuple[Case, str]]:
    """The cases among ``count`` that break the law."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        desks = Desks(Path(folder))
        made = make_cases(random.Random(seed))
        for _ in range(count):
            case = next(made)
            if why := find_flaw(case, desks.answer(case)):
                found.append((case, why))
        desks.close()
    return found


def _run_chunk(job: tuple[int, int]) -> list[tuple[Case, str]]:
    return find_failures(*job)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the fuzz; 1 when a gate was opened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=None, help="also HOOKLINE_FUZZ_SEED")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(argv)
    told = options.seed if options.seed is not None else os.environ.get("HOOKLINE_FUZZ_SEED")
    seed = int(told) if told is not None else random.SystemRandom().randrange(2**31)
    print(f"seed {seed}: {options.count} payloads in {options.processes} processes", flush=True)
    size = 2_000
    sizes = [min(size, options.count - done) for done in range(0, options.count, size)]
    started = time.perf_counter()
    found: list[tuple[Case, str]] = []
    with get_context("fork").Pool(options.processes) as pool:
        jobs = [(seed + number, each) for number, each in enumerate(sizes)]
        for some in pool.imap_unordered(_run_chunk, jobs):
            found += some
            for case, why in some[:20]:
                print(f"{keep(case, why)}: {why[:600]}", flush=True)
    rate = options.count / (time.perf_counter() - started)
    print(f"seed {seed}: {len(found)} of {options.count} opened a gate; {rate:.0f} payloads/s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
