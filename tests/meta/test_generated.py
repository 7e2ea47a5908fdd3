"""What is generated and committed equals what the code generates now."""

import subprocess
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest

from hookline.model.events import EVENTS

ROOT = Path(__file__).resolve().parents[2]


def schema(name: str) -> dict[str, object]:
    """A committed schema."""
    return msgspec.json.decode((ROOT / "schemas" / name).read_bytes(), type=dict[str, object])


def test_generated_files_are_up_to_date() -> None:
    subprocess.run([sys.executable, "tools/generate.py", "--check"], check=True, cwd=ROOT)


@pytest.mark.parametrize("name", ["config.schema.json", "event.schema.json", "answer.schema.json"])
def test_every_schema_is_a_valid_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_every_event_fits_its_own_schema(name: str) -> None:
    event = msgspec.json.decode(msgspec.json.encode(EVENTS[name]()))
    jsonschema.validate(event, schema("event.schema.json"))


def test_an_answer_with_an_unknown_key_does_not_fit_the_schema() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"verdict": "deny", "resaon": "x"}, schema("answer.schema.json"))
