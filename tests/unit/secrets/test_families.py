"""Every family of tokens is found wherever text holds it, and what only resembles one stays."""

import json
import shlex

import pytest
from accuracy.filling import filled
from tests.unit.secrets.samples import NAMED, SAMPLES

from hookline.secrets import RULES, redact, redact_bytes

HEX = "0123456789abcdef"
MIXED = "Ab3dEf6hIj9lMn2pQr5tUv8xYz1B"
WORD = (MIXED * 4)[:40]
KEY_BODY = "\n".join([WORD + "+/a="] * 4)

# Assembled from parts, so that nobody's scanner takes this file for a leak.
TOKENS = {
    "private-key": [
        f"-----BEGIN {kind}PRIVATE KEY{block}-----\n{KEY_BODY}\n-----END {kind}PRIVATE KEY{block}-----"
        for kind, block in (
            ("", ""), ("RSA ", ""), ("EC ", ""), ("OPENSSH ", ""), ("ENCRYPTED ", ""),
            ("PGP ", " BLOCK"),
        )
    ],
    "age-key": ["AGE-SECRET-" + "KEY-1" + "QPZRY9X8GF2TVDW0S3JN" * 2],
    "github": [f"gh{kind}_" + WORD[:36] for kind in "pousr"] + ["github_" + "pat_" + WORD + "_" + WORD],
    "gitlab": ["glpat" + "-" + WORD[:20], "gldt" + "-" + WORD[:20]],
    "npm": ["npm" + "_" + WORD[:36]],
    "pypi": ["pypi" + "-AgEIcHlwaS5vcmc" + WORD],
    "docker": ["dckr_" + "pat_" + WORD[:27]],
    "atlassian": ["ATA" + "TT3xFfGF0" + WORD + "=1A2B3C4D"],
    "aws-key-id": ["AK" + "IA" + "ABCDEFGH2345IJKL", "AS" + "IA" + "ABCDEFGH2345IJKL"],
    "google": ["AI" + "za" + WORD[:35], "GOC" + "SPX-" + WORD[:28]],
    "google-oauth": ["ya" + "29." + WORD, "1/" + "/0" + WORD],
    "digitalocean": ["dop" + "_v1_" + HEX * 4],
    "heroku": ["HRKU" + "-AA" + WORD],
    "cloudflare": ["v1.0" + "-" + (HEX * 2)[:24] + "-" + (HEX * 10)[:146], "cfut" + "_" + WORD],
    "vercel": ["vcp" + "_" + WORD],
    "supabase": ["sbp" + "_" + (HEX * 3)[:40], "sb_" + "secret_" + WORD[:31]],
    "databricks": ["da" + "pi" + HEX * 2],
    "hashicorp": ["hv" + "s." + WORD, WORD[:14] + ".atlas" + "v1." + WORD * 2],
    "anthropic": ["sk-" + "ant-api03-" + WORD * 2],
    "openai": ["sk-" + WORD, "sk-" + "proj-" + WORD + "_" + WORD],
    "hugging-face": ["hf" + "_" + WORD[:34]],
    "stripe": ["sk" + "_live_" + WORD[:24], "rk" + "_live_" + WORD[:24], "wh" + "sec_" + WORD[:32]],
    "shopify": ["shp" + "at_" + HEX * 2],
    "sendgrid": ["S" + "G." + WORD[:22] + "." + WORD + "abc"],
    "twilio": ["S" + "K" + HEX * 2],
    "mailgun": ["key" + "-" + HEX * 2],
    "slack": ["xox" + "b-123456789012-" + MIXED, "xox" + "p-1-2-3-" + HEX, "xa" + "pp-1-A1-1-" + HEX],
    "discord": ["MT" + WORD[:24] + "." + WORD[:6] + "." + WORD[:38]],
    "telegram": ["123456789" + ":A" + WORD[:34]],
    "linear": ["lin_" + "api_" + WORD],
    "notion": ["nt" + "n_" + WORD + "abc123", "sec" + "ret_" + WORD + "abc"],
    "jwt": ["ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "JzdWIiOiIxMjM0NSJ9." + WORD],
}  # fmt: skip
CASES = [(family, token) for family, tokens in TOKENS.items() for token in tokens]
CASES += [(family, filled(each)) for family, ways in SAMPLES.items() for each in ways]
# Known only by what stands before them.
IN_CONTEXT = {
    "aws-secret": [
        ("AWS_SECRET_ACCESS_KEY=", WORD[:30] + "/+" + WORD[:8], ""),
        ('"SecretAccessKey": "', WORD[:40], '"'),
        ("aws_secret_access_key = ", "/" + WORD[:39], ""),
    ],
    "azure-storage": [("AccountName=x;AccountKey=", WORD * 2 + "abcdef==", ";EndpointSuffix=y")],
    "azure-sas": [("https://x.blob.core.windows.net/c?sv=2024&sig=", WORD + "%3D", "&se=1")],
    "heroku": [("HEROKU_API_KEY=", "01234567-89ab-cdef-0123-456789abcdef", "")],
    "cloudflare": [("CLOUDFLARE_API_TOKEN=", WORD, ""), ("CF_API_KEY: ", (HEX * 3)[:37], "")],
    "vercel": [("VERCEL_TOKEN=", WORD[:24], "")],
    "slack-webhook": [("https://hooks.slack.com/services/", "T0000/B0000/" + WORD[:24], " ok")],
    "discord-webhook": [("https://discord.com/api/webhooks/123456/", WORD + WORD[:28], "")],
}
contexts = [(family, *case) for family, cases in IN_CONTEXT.items() for case in cases]
contexts += [
    (family, *filled(each).replace("»", "«").split("«"))
    for family, ways in NAMED.items()
    for each in ways
]


def shell(token: str) -> str:
    return f"curl -X POST --data {shlex.quote(token)} https://example.com | jq ."


def test_every_family_of_the_table_is_tried_here() -> None:
    assert {rule.name for rule in RULES} == {*TOKENS, *IN_CONTEXT, *SAMPLES, *NAMED}
    assert len(RULES) >= 150


@pytest.mark.parametrize(("family", "token"), CASES)
def test_a_token_is_found_in_plain_text(family: str, token: str) -> None:
    done = redact(f"use {token}, then go on")
    assert done.text == f"use [redacted:{family}], then go on"
    assert (done.count, done.families) == (1, (family,))


@pytest.mark.parametrize(("family", "token"), CASES)
@pytest.mark.parametrize("before", ["", "\n", "\t", '"', "'", "=", ",", "(", "a\\n"])
def test_a_token_is_found_whatever_stands_before_it(family: str, token: str, before: str) -> None:
    for escaped in (False, True):
        raw = json.dumps({"a": before + token}).encode() if escaped else (before + token).encode()
        done = redact_bytes(raw)
        assert done.families == (family,)
        assert json.dumps(token)[5:25].encode() not in done.raw


@pytest.mark.parametrize(("family", "token"), CASES)
def test_a_token_is_found_in_a_shell_command_inside_json(family: str, token: str) -> None:
    payload = {"tool_input": {"command": shell(token)}, "cwd": "/home/x", "n": 1}
    done = redact_bytes(json.dumps(payload, indent=2).encode())
    expected = shell(token).replace(token, f"[redacted:{family}]")
    assert json.loads(done.raw) == payload | {"tool_input": {"command": expected}}


@pytest.mark.parametrize(("family", "token"), [case for case in CASES if "/" in case[1]])
def test_a_token_whose_slashes_are_written_as_escapes_is_found(family: str, token: str) -> None:
    raw = json.dumps({"a": f"x {token} y"}).replace("/", "\\/").encode()
    done = redact_bytes(raw)
    assert json.loads(done.raw) == {"a": f"x [redacted:{family}] y"}


@pytest.mark.parametrize(("family", "token"), CASES)
def test_a_token_is_found_in_json_inside_json_inside_json(family: str, token: str) -> None:
    inner = json.dumps({"out": f"first\n{token}\nlast"})
    done = redact_bytes(json.dumps({"a": json.dumps({"b": inner})}).encode())
    out = json.loads(json.loads(json.loads(done.raw)["a"])["b"])["out"]
    assert out == f"first\n[redacted:{family}]\nlast"


@pytest.mark.parametrize(("family", "token"), CASES)
def test_a_token_written_in_escapes_is_found(family: str, token: str) -> None:
    escaped = "".join(f"\\u{ord(char):04x}" for char in token)
    done = redact_bytes(f'{{"a": "x {escaped} y"}}'.encode())
    assert json.loads(done.raw) == {"a": f"x [redacted:{family}] y"}


@pytest.mark.parametrize(("family", "token"), [c for c in CASES if not {"\n", "/"} & {*c[1]}])
def test_a_token_is_found_in_a_url(family: str, token: str) -> None:
    done = redact(f"GET https://example.com/x?key={token}&page=2")
    assert done.text == f"GET https://example.com/x?key=[redacted:{family}]&page=2"


@pytest.mark.parametrize(("family", "before", "secret", "after"), contexts)
def test_a_token_without_a_form_of_its_own_is_known_by_its_place(
    family: str, before: str, secret: str, after: str
) -> None:
    assert redact(before + secret + after).text == f"{before}[redacted:{family}]{after}"
    payload = json.dumps({"command": f"echo\n{before}{secret}{after}\n"}).replace("/", "\\/")
    done = json.loads(redact_bytes(payload.encode()).raw)
    assert done == {"command": f"echo\n{before}[redacted:{family}]{after}\n"}


def test_a_private_key_that_was_cut_off_is_taken_out_to_its_end() -> None:
    assert redact(f"-----BEGIN RSA PRIVATE KEY-----\n{KEY_BODY}").text == "[redacted:private-key]"


@pytest.mark.parametrize(
    "text",
    [
        "ghp_short",
        "the task-force-of-the-century-meets-again-today",
        "disk-usage-report-2024-with-a-long-name",
        "npm_config_registry=https://example.com",
        "SG.x",
        "SKU 12345678901234567890123456789012",
        "key-value-store",
        "a1b2c3d4e5f60718293a4b5c6d7e8f9001122334",
        "01234567-89ab-cdef-0123-456789abcdef",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIexample bob@host",
        "eyJ is how a JSON object begins in base64",
        "AKIA is a prefix",
        "12:30:45:Always look on the bright side of life today okay",
        "xoxo, mother",
        "secret_santa_list_of_the_whole_company",
        "https://discord.com/developers",
        "hf_hub_download",
        "dapiary",
        "hvs.",
    ],
)
def test_what_only_resembles_a_token_stays(text: str) -> None:
    assert redact(text).text is text
