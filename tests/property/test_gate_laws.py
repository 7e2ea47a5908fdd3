"""The named gate wins: no payload opens a gate that a rule closes.

``support.gate_fuzz`` makes the payloads and reads the replies as the clients do; ``make fuzz`` runs
many more. ``HOOKLINE_FUZZ_SEED`` chooses other payloads here.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.model.outcome import Reply
from support import gate_fuzz
from support.gate_fuzz import (
    NATIVE,
    Case,
    Desks,
    find_failures,
    find_flaw,
    load_captures,
    read_case,
)

# Fixed, so that a run fails for what was changed and not by chance; `make fuzz` draws its own.
SEED = int(os.environ.get("HOOKLINE_FUZZ_SEED", "25"))
EACH = 1_000


@pytest.fixture(scope="module")
def desks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desks]:
    made = Desks(tmp_path_factory.mktemp("gates"))
    yield made
    made.close()


def check(desks: Desks, case: Case) -> None:
    assert not find_flaw(case, desks.answer(case)), case


@pytest.mark.parametrize("part", range(3))
def test_no_mutated_payload_opens_a_gate(part: int) -> None:
    seed = SEED + part
    print(f"seed {seed}: {EACH} payloads")
    found = find_failures(seed, EACH)
    assert not found, f"seed {seed}: {found[:3]}"


@pytest.mark.parametrize(
    "path", sorted(gate_fuzz.REGRESSIONS.glob("*.json")), ids=lambda path: path.stem
)
def test_what_once_opened_a_gate_does_not_do_so_again(desks: Desks, path: Path) -> None:
    check(desks, read_case(path))


# ── single members of the family ────────────────────────────────────────────────────────────


def payload_at(name: str, event: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        json.loads(text) for own, native, text in load_captures() if (own, native) == (name, event)
    )
    return found


def gates() -> list[Any]:
    """Every event that a client can be denied on, and that somebody has recorded."""
    recorded = {(name, event) for name, event, _ in load_captures()}
    return [
        pytest.param(name, native, id=f"{name}-{native}")
        for name in NATIVE
        for native, row in registry.dialect(name).support.events.items()
        if row.is_gate and row.can("deny") and (name, native) in recorded
    ]


@pytest.mark.parametrize(("name", "native"), gates())
def test_another_clients_keys_never_rule_out_the_client_named(
    desks: Desks, name: str, native: str
) -> None:
    own = payload_at(name, native)
    for other in NATIVE:
        foreign = next(json.loads(text) for each, _, text in load_captures() if each == other)
        for data in (own | foreign, foreign | own, foreign):
            check(desks, Case(dialect=name, event=native, payload=json.dumps(data).encode()))
    for key in ("tool_use_id", "generation_id", "conversation_id", "timestamp", "brand_new"):
        data = own | {key: "x"}
        check(desks, Case(dialect=name, event=native, payload=json.dumps(data).encode()))


@pytest.mark.parametrize("told", [True, False], ids=["event told", "event not told"])
@pytest.mark.parametrize(("name", "native"), gates())
def test_no_name_of_an_event_in_the_payload_opens_the_gate(
    desks: Desks, name: str, native: str, told: bool
) -> None:
    own = payload_at(name, native)
    odd = (f"{native}2", native.upper(), "", "Brandnew", 3, None, [native], {"x": 1})
    others = ("SessionStart", "Stop", "turn_end", "PostToolUse") if told else ()
    for key in ("hook_event_name", "hookEventName", "event", "hook", "hookName"):
        for said in (*odd, *others):
            payload = json.dumps(own | {key: said}).encode()
            check(desks, Case(dialect=name, event=native if told else None, payload=payload))


@pytest.mark.parametrize(("name", "native"), gates())
def test_no_slip_on_the_command_line_opens_the_gate(desks: Desks, name: str, native: str) -> None:
    payload = json.dumps(payload_at(name, native)).encode()
    for event in (f"{native} ", f" {native}", f"{native}s", f"Pre{native}", "x", "Brandnew"):
        reply = desks.answer(Case(dialect=name, event=event, payload=payload))
        assert not find_flaw(Case(dialect=name, event=native, payload=payload), reply), event


@pytest.mark.parametrize(("name", "native"), gates())
def test_what_cannot_be_read_closes_the_gate(desks: Desks, name: str, native: str) -> None:
    own = payload_at(name, native)
    raw = json.dumps(own).encode()
    deep = b"[" * 100_000 + b"]" * 100_000
    unreadable = [
        *(b"", b" ", b"null", b"[]", b'"x"', b"3", b"{}", b"\xff", raw[:-1], raw[: len(raw) // 2]),
        *(b"[" + raw + b"]", raw + raw, b"\xef\xbb\xbf" + raw, raw.decode().encode("utf-16")),
        b'{"deep": ' + deep + b", " + raw[1:],
        b'{"huge": 1' + b"0" * 5_000 + b", " + raw[1:],
        b'{"huge": 1e999, ' + raw[1:],
        *(json.dumps(own | {key: "/srv/a\0b"}).encode() for key in ("cwd", "session_id")),
        *(json.dumps(own | {key: "\ud800"}).encode() for key in ("cwd", "tool_input")),
        b'{"hook_event_name": "SessionStart", ' + raw[1:],
        raw[:-1] + b', "hook_event_name": "SessionStart"}',
    ]
    for payload in unreadable:
        for env in ({}, {"COPILOT_CLI": "1"}, {"CURSOR_VERSION": "1", "CLAUDECODE": "1"}):
            check(desks, Case(dialect=name, event=native, payload=payload, env=env))


@pytest.mark.parametrize("name", NATIVE)
def test_what_is_no_gate_has_no_effect_whatever_the_payload_says(desks: Desks, name: str) -> None:
    rows = registry.dialect(name).support.events
    at_a_gate = next(case.values[1] for case in gates() if case.values[0] == name)
    raw = json.dumps(payload_at(name, at_a_gate)).encode()
    for native, row in rows.items():
        if not row.can_block:
            for payload in (raw, b"", b"{}", raw[:-1]):
                check(desks, Case(dialect=name, event=native, payload=payload))


# ── the fuzz itself ─────────────────────────────────────────────────────────────────────────


def test_a_cwd_with_a_nul_is_said_in_plain_words(desks: Desks) -> None:
    own = payload_at("claude-code", "PreToolUse") | {"cwd": "/srv/a\0b"}
    case = Case(dialect="claude-code", event="PreToolUse", payload=json.dumps(own).encode())
    assert b"the event's cwd has a NUL character in it" in desks.answer(case).stdout


@pytest.mark.parametrize(("name", "native"), gates())
def test_an_open_gate_is_seen(name: str, native: str) -> None:
    payload = json.dumps(payload_at(name, native)).encode()
    silent = Reply(stdout=b"{}\n" if name == "cursor" else b"")
    assert "an open gate" in find_flaw(Case(dialect=name, event=native, payload=payload), silent)


def test_a_case_comes_back_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_fuzz, "REGRESSIONS", tmp_path)
    for payload in (b'{"x": "\xc3\xa9"}', b"\xff", b""):
        case = Case(dialect="gemini", event=None, payload=payload, env={"A": "1"}, rule="ask")
        assert read_case(gate_fuzz.keep(case, "why")) == case


def test_one_seed_makes_the_same_cases() -> None:
    import random

    first, second = (gate_fuzz.make_cases(random.Random(7)) for _ in range(2))
    assert [next(first) for _ in range(200)] == [next(second) for _ in range(200)]
