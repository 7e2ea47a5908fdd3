"""Recorded payloads say nothing of the machine and the person, and all there is of the client."""

import json
from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline.lab.ports import Room
from hookline.lab.sanitising import Sanitiser, names_of, places_of
from hookline.lab.shapes import outline

DIALECTS = Path(hookline.__file__).parent / "dialects"
SESSION = "5b1f6f0e-9a51-4f0c-8a53-0d7f5f4a3c21"
ROOM = Room(
    root="/tmp/hl-x7f",
    home="/tmp/hl-x7f/home",
    project="/tmp/hl-x7f/project",
    tmp="/tmp/hl-x7f/tmp",
    env={},
)


def cleaned(payload: Any, **options: Any) -> Any:
    """The payload as it would be recorded in ROOM."""
    return Sanitiser(places_of(ROOM), **options).clean(payload)


def test_the_places_of_a_session_are_those_of_everybodys_recordings() -> None:
    assert cleaned(
        {
            "cwd": "/tmp/hl-x7f/project",
            "file": "/tmp/hl-x7f/project/app.py",
            "home": "/tmp/hl-x7f/home/.claude/settings.json",
            "tmp": "/tmp/hl-x7f/tmp/claude-0",
            "other": "/tmp/hl-x7f/spied",
        }
    ) == {
        "cwd": "/home/dev/project",
        "file": "/home/dev/project/app.py",
        "home": "/home/dev/.claude/settings.json",
        "tmp": "/tmp/claude-0",
        "other": "/home/lab/spied",
    }


def test_a_path_that_became_a_file_name_is_found_too() -> None:
    path = "/tmp/hl-x7f/home/.claude/projects/-tmp-hl-x7f-project/memory"
    assert cleaned(path) == "/home/dev/.claude/projects/-home-dev-project/memory"


def test_a_path_inside_escaped_text_is_found_too() -> None:
    inner = json.dumps({"said": "first\n/tmp/hl-x7f/project/app.py"})
    assert "hl-x7f" not in cleaned({"output": inner})["output"]


def test_a_path_is_taken_out_of_keys_as_well() -> None:
    assert cleaned({"/tmp/hl-x7f/project/a": 1}) == {"/home/dev/project/a": 1}


def test_the_home_of_whoever_records_is_not_the_end_of_another_path() -> None:
    places = places_of(ROOM, own_home="/root")
    clean = Sanitiser(places).clean
    home = "/" + "root"
    assert clean(f"{home}/.cache and {home}fs and a{home}") == (
        f"/home/dev/.cache and {home}fs and a{home}"
    )


def test_where_the_client_is_installed_is_not_said() -> None:
    places = places_of(ROOM, ("node", "/home/ann/.npm/client/bin/run.js"))
    clean = Sanitiser(places).clean
    assert clean("/home/ann/.npm/client/bin/run.js --help") == "/usr/local/bin/run.js --help"


def test_one_id_stays_one_id_wherever_it_stands() -> None:
    found = cleaned(
        {
            "session_id": SESSION,
            "transcript_path": f"/tmp/hl-x7f/home/{SESSION}.jsonl",
            "short": f"session-{SESSION[:8]}.json",
            "agent_id": "a4e66bbc2d60546c7",
            "agent_path": "agents/agent-a4e66bbc2d60546c7.jsonl",
        }
    )
    assert SESSION not in json.dumps(found)
    assert found["session_id"] in found["transcript_path"]
    assert found["short"] == f"session-{found['session_id'][:8]}.json"
    assert found["agent_path"] == f"agents/agent-{found['agent_id']}.jsonl"
    assert found["agent_id"] != "a4e66bbc2d60546c7"


def test_an_id_keeps_its_form() -> None:
    found = cleaned({"session_id": SESSION, "tool_use_id": "toolu_577197b0a3e94718ad26"})
    assert len(found["session_id"]) == len(SESSION)
    assert found["session_id"][14] == SESSION[14], "the version of a UUID is part of its form"
    assert found["tool_use_id"].startswith("toolu_")
    assert len(found["tool_use_id"]) == len("toolu_577197b0a3e94718ad26")


def test_two_recordings_of_the_same_session_are_the_same_whatever_the_ids_were() -> None:
    other = "ffffffff-1111-4222-8333-444444444444"
    assert cleaned({"session_id": SESSION}) == cleaned({"session_id": other})


def test_two_ids_stay_two_and_sessions_are_told_apart() -> None:
    found = cleaned({"session_id": SESSION, "prompt_id": "0a" + SESSION[2:]})
    assert found["session_id"] != found["prompt_id"]
    assert cleaned({"session_id": SESSION}, seed="other") != cleaned({"session_id": SESSION})


def test_a_counted_id_stays() -> None:
    assert cleaned({"task_id": "1", "server_id": "filesystem"}) == {
        "task_id": "1",
        "server_id": "filesystem",
    }


def test_times_keep_their_shape_and_lose_the_moment() -> None:
    assert cleaned(
        {
            "timestamp": "2027-03-09T19:09:24.058Z",
            "path": "sessions/2027/03/09/rollout-2027-03-09T19-19-15-x.jsonl",
            "minutes": "session-2027-03-09T19-09-x",
            "said": "Today's date is Tuesday, March 9, 2027 (in your language).",
        }
    ) == {
        "timestamp": "2026-01-01T00:00:00.000Z",
        "path": "sessions/2026/01/01/rollout-2026-01-01T00-00-00-x.jsonl",
        "minutes": "session-2026-01-01T00-00-x",
        "said": "Today's date is Thursday, January 1, 2026 (in your language).",
    }


def test_a_time_that_is_a_number_stays_one_of_the_same_size() -> None:
    found = cleaned({"timestamp": 1794768567350, "created_at": 1794768567, "count": 1794})
    assert found == {"timestamp": 1767225600000, "created_at": 1767225600, "count": 1794}


def test_how_long_it_took_and_which_process_it_was_is_not_said() -> None:
    found = cleaned(
        {"duration_ms": 93, "totalDurationMs": 1.5, "out": "hi\nProcess Group PGID: 6678"}
    )
    assert found == {
        "duration_ms": 1,
        "totalDurationMs": 1.0,
        "out": "hi\nProcess Group PGID: 4242",
    }


def test_the_names_of_person_and_machine_are_others_and_only_as_whole_words() -> None:
    names = names_of("ann", "mars.example.net")
    clean = Sanitiser({}, names).clean
    said = "ann@mars.example.net, ann on mars: announce the marsh"
    assert clean(said) == "dev@devhost, dev on devhost: announce the marsh"


def test_names_that_are_words_everywhere_stay() -> None:
    assert names_of("root", "localhost") == {}


def test_the_port_of_the_model_is_not_said() -> None:
    assert cleaned("http://127.0.0.1:43121/v1") == "http://127.0.0.1:8080/v1"


def test_secrets_are_redacted() -> None:
    found = cleaned({"tool_response": {"stdout": "key=ghp_" + "a1B2c3D4e5" * 4}})
    assert "a1B2c3D4e5" not in json.dumps(found)


@pytest.mark.parametrize("name", sorted(each.parent.name for each in DIALECTS.glob("*/captures")))
def test_no_payload_loses_its_shape(name: str) -> None:
    for path in sorted((DIALECTS / name / "captures").glob("*.json")):
        payload = json.loads(path.read_text(encoding="utf-8"))["payload"]
        assert outline(Sanitiser({}).clean(payload)) == outline(payload), path
