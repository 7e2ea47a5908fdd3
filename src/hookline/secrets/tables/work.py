"""Tokens of what people plan, write, draw and sell with, and those that are of nobody."""

from hookline.secrets.checks import jwt
from hookline.secrets.forms import HEX, START, URLSAFE, UUID, Rule, prefixed

__all__ = ["WORK"]

WORK = (
    prefixed("linear", "lin_api_", "lin_oauth_", size="30,"),
    Rule(
        "notion",
        rf"{START}((?:ntn|secret)_[A-Za-z0-9]{{40,}})",
        ("ntn_", "secret_"),
        r"(?:ntn|secret)_[A-Za-z0-9]{12}",
    ),
    Rule(
        "airtable",
        rf"{START}(pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}})",
        ("pat",),
        r"pat[A-Za-z0-9]{14}\.[0-9a-f]{12}",
    ),
    Rule(
        "asana",
        rf"{START}([12]/\d{{13,17}}(?:/\d{{13,17}})?:[0-9a-f]{{32}})",
        ("1/", "2/"),
        r"[12]\\*/\d{12}",
    ),
    Rule(
        "clickup",
        rf"{START}(pk_\d{{6,9}}_[A-Z0-9]{{32}})",
        ("pk_",),
        r"pk_\d{6}\d{0,3}_[A-Z0-9]{12}",
    ),
    prefixed("klaviyo", "pk_", body=HEX, size="34,34", inside=False),
    prefixed("figma", "figd_", "figo_", "figu_", body=URLSAFE, size="36,", inside=False),
    prefixed("contentful", "CFPAT-", body=URLSAFE, size="40,"),
    Rule(
        "dropbox",
        rf"{START}(sl\.(?:u\.)?[A-Za-z0-9_-]{{60,}})",
        ("sl.",),
        r"sl\.(?:u\.)?[A-Za-z0-9_-]{20}",
    ),
    Rule("hubspot", rf"pat-(?:na|eu|ap)\d-{UUID}", ("pat-na", "pat-eu", "pat-ap")),
    Rule(
        "salesforce",
        rf"{START}(00D[A-Za-z0-9]{{12,15}}![A-Za-z0-9_](?:[A-Za-z0-9_]|\.[A-Za-z0-9_]){{70,}})",
        ("00D",),
        r"00D[A-Za-z0-9]{12}",
    ),
    prefixed("intercom", "dG9r", body="[A-Za-z0-9+/]", size="50,", inside=False),
    prefixed("adobe", "p8e-", body="[a-zA-Z0-9_-]", size="32,", inside=False),
    prefixed(
        "typeform", "tfp_", body=r"(?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-])", size="40,", inside=False
    ),
    Rule("mapbox", r"sk\.eyJ[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}", ("sk.eyJ",)),
    prefixed("frame-io", "fio-u-", body=URLSAFE, size="40,"),
    prefixed("scalingo", "tk-us-", body=URLSAFE, size="40,"),
    prefixed("cal-com", "cal_live_", body="[a-z0-9]", size="24,"),
    prefixed("zuplo", "zpka_", body="[a-z0-9_]", size="30,"),
    Rule(
        "jwt",
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*",
        ("eyJ",),
        r"eyJ[A-Za-z0-9_-]{8}",
        check=jwt,
    ),
)
