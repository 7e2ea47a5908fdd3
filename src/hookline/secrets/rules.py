r"""The table of token families: what each looks like, and what the first look searches for.

To add a family, add a row. A regex is for re2, over bytes as Latin-1. The secret is its first
group, or all of it where there is none. These keep a row safe:

- what may repeat without end must not need something after it (``[^"]*"``): a search that runs on
  to the end of the text and then takes little of it would be started over again and again;
- a secret holds no quote mark, so that a JSON text stays one: ``\x02`` is a quote mark that
  is not escaped, as the finder shows it;
- what stands before a secret may be the letter of an escape (``\nghp_…``): see ``START``;
- a secret and the name before it hold no space but the one around ``=`` or ``:``, or else the row
  says that it is long: only the words around a hint are searched;
- a hint counts little and ends soon (``{12}``, not ``{40}`` or ``{12,}``): a search for the first
  of all hints would wait for the end of a long one, again and again; and texts can be made in
  which every count is another state of the machine that searches them, and many states are slow.
"""

from msgspec import Struct

__all__ = ["ASSIGNS_HINT", "GAP", "QUOTE", "RULES", "Rule"]

QUOTE = r"\\*[\"'`\x02]"
START = r"(?:^|[^A-Za-z0-9_-]|\\[bfnrt])"
"""What stands before a token whose beginning is common inside words."""
ASSIGNS = rf"(?:{QUOTE}\]?)?\s*(?::=|=>|={{1,3}}|:)[ \t]*"
"""What stands between a name and its value, in shell, JSON, YAML and most languages."""


GAP = r"(?:\s|\\+[nrt])"
"""A space as the first look sees it: in JSON it may be written as an escape."""
ASSIGNS_HINT = rf"(?:{QUOTE}\]?)?{GAP}*[:=]"


class Rule(Struct, frozen=True):
    """One family of tokens."""

    name: str
    regex: str
    keywords: tuple[str, ...]
    """One of these, in whatever case, is in every such token or its name, and where the hint is."""
    hint: str = ""
    """A regex for the first look, where the keywords are common in texts without a secret. It
    sees JSON escapes as they are written, so no slash (``\\/``) without ``\\\\*`` before it."""
    names: str = ""
    """A regex for the names before such a token, where there are any: in place of a hint when there
    is none, and beside it when there is."""
    long: bool = False
    """Whether it may go on over spaces and lines."""


def _named(names: str, value: str) -> str:
    """A value that is only known by the name before it."""
    return rf"(?i:{names})[\w.-]{{0,30}}{ASSIGNS}(?:{QUOTE})?({value})"


RULES = (
    # Longer than one token, so ahead of all that might be found inside.
    Rule(
        "private-key",
        r"-----BEGIN[A-Z0-9 ]{0,30} PRIVATE KEY(?: BLOCK)?-----"
        r"(?:-?[A-Za-z0-9+/=\s\\:,.()@_])*"
        r"(?:-----END[A-Z0-9 ]{0,30} PRIVATE KEY(?: BLOCK)?-----)?",
        ("PRIVATE KEY",),
        long=True,
    ),
    Rule("age-key", r"AGE-SECRET-KEY-1[0-9A-Za-z]{20,}", ("AGE-SECRET-KEY-1",)),
    # Code hosts and registries.
    Rule(
        "github",
        r"gh[opsur]_[A-Za-z0-9_]{20,}|github_pat_[A-Za-z0-9_]{20,}",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    Rule(
        "gitlab",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|agent|oas|soat|imt|ffct)-[A-Za-z0-9_.-]{20,}",
        (
            "glpat-",
            "gldt-",
            "glrt-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glagent-",
            "gloas-",
            "glsoat-",
            "glimt-",
            "glffct-",
        ),
    ),
    Rule("npm", r"npm_[A-Za-z0-9]{30,}", ("npm_",), r"npm_[A-Za-z0-9]{12}"),
    Rule("pypi", r"pypi-AgE[A-Za-z0-9_-]{16,}", ("pypi-AgE",)),
    Rule("docker", r"dckr_[po]at_[A-Za-z0-9_-]{16,}", ("dckr_pat_", "dckr_oat_")),
    Rule("atlassian", r"AT(?:ATT|CTT|BB)[A-Za-z0-9_=.-]{20,}", ("ATATT", "ATCTT", "ATBB")),
    # Clouds.
    Rule(
        "aws-key-id",
        rf"{START}((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}})",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{12}",
    ),
    Rule(
        "aws-secret",
        _named(r"secret[_-]?access[_-]?key|aws[_-]?secret", r"[A-Za-z0-9/+]{38,}=*"),
        ("access", "secret"),
        names=r"access[_-]?key|aws[_-]?secret",
    ),
    Rule("google", r"AIza[A-Za-z0-9_-]{35,}|GOCSPX-[A-Za-z0-9_-]{20,}", ("AIza", "GOCSPX-")),
    Rule(
        "google-oauth",
        r"ya29\.[A-Za-z0-9_.-]{20,}|1//0[A-Za-z0-9_-]{30,}",
        ("ya29.", "1//0"),
        r"ya29\.|1(?:\\*/){2}0[A-Za-z0-9_-]{12}",
    ),
    Rule(
        "azure-storage",
        r"(?i:AccountKey|SharedAccessKey)\s*=\s*([A-Za-z0-9+/%]{20,}={0,2})",
        ("ccount", "CCOUNT", "ccess", "CCESS"),
        rf"(?i:AccountKey|SharedAccessKey){GAP}*=",
    ),
    Rule(
        "azure-sas",
        r"[?&;]sig=([A-Za-z0-9%+/_-]{20,}={0,2})",
        ("sig=",),
        r"sig=[A-Za-z0-9%+/_\\-]{12}",
    ),
    Rule("digitalocean", r"do[opr]_v1_[A-Za-z0-9]{32,}", ("dop_v1_", "doo_v1_", "dor_v1_")),
    Rule(
        "heroku",
        r"HRKU-[A-Za-z0-9_-]{30,}|"
        + _named("heroku", r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
        ("HRKU-", "eroku", "EROKU"),
        "HRKU-",
        names="heroku",
    ),
    Rule(
        "cloudflare",
        r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}|cf[aku]t_[A-Za-z0-9_-]{30,}|"
        + _named(r"cloudflare|cf[_-](?:api|global)", r"[A-Za-z0-9_-]{37,}"),
        ("v1.0-", "cfat_", "cfkt_", "cfut_", "loudflare", "LOUDFLARE", "CF", "cf"),
        r"v1\.0-[0-9a-f]{12}|cf[aku]t_",
        names=r"cloudflare|cf[_-](?:api|global)",
    ),
    Rule(
        "vercel",
        rf"{START}(vc[acipkr]_[A-Za-z0-9]{{24,}})|" + _named("vercel", r"[A-Za-z0-9]{24}"),
        ("vca_", "vcc_", "vci_", "vcp_", "vck_", "vcr_", "ercel", "ERCEL"),
        r"vc[acipkr]_[A-Za-z0-9]{12}",
        names="vercel",
    ),
    Rule(
        "supabase",
        r"sb[ps]_[A-Za-z0-9_]{32,}|sb_secret_[A-Za-z0-9_-]{20,}",
        ("sbp_", "sbs_", "sb_secret_"),
    ),
    Rule("databricks", rf"{START}(dapi[0-9a-f]{{32}}(?:-\d)?)", ("dapi",), r"dapi[0-9a-f]{12}"),
    Rule(
        "hashicorp",
        r"hv[sbr]\.[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}",
        ("hvs.", "hvb.", "hvr.", ".atlasv1."),
    ),
    # Models.
    Rule("anthropic", r"sk-ant-[A-Za-z0-9_-]{20,}", ("sk-ant-",)),
    Rule(
        "openai",
        rf"{START}(sk-[A-Za-z0-9_-]{{20,}})",
        ("sk-",),
        r"(?:[^A-Za-z0-9_-]|^|\\[bfnrt])sk-[A-Za-z0-9_-]{12}",
    ),
    Rule("hugging-face", rf"{START}(hf_[A-Za-z0-9]{{30,}})", ("hf_",), r"hf_[A-Za-z0-9]{12}"),
    # Money, mail and messages.
    Rule(
        "stripe",
        r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{20,}",
        ("k_live_", "k_test_", "k_prod_", "whsec_"),
    ),
    Rule(
        "shopify",
        r"shp(?:at|ca|pa|ss|tka)_[A-Za-z0-9]{24,}",
        ("shpat_", "shpca_", "shppa_", "shpss_", "shptka_"),
    ),
    Rule(
        "sendgrid",
        r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        ("SG.",),
        r"SG\.[A-Za-z0-9_-]{12}",
    ),
    Rule("twilio", rf"{START}(SK[0-9a-fA-F]{{32}})", ("SK",), r"SK[0-9a-fA-F]{12}"),
    Rule("mailgun", rf"{START}(key-[0-9a-zA-Z]{{32}})", ("key-",), r"key-[0-9a-zA-Z]{12}"),
    Rule(
        "slack",
        r"xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}",
        ("xox", "xapp-"),
        r"xox[abceoprs](?:\.xox[bp])?-|xapp-",
    ),
    Rule(
        "slack-webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/-]{10,})",
        ("hooks.slack.com",),
    ),
    Rule(
        "discord-webhook",
        r"discord(?:app)?\.com/api(?:/v\d+)?/webhooks/\d+/([A-Za-z0-9_-]{20,})",
        ("discord",),
        r"discord(?:app)?\.com",
    ),
    Rule(
        "discord",
        rf"{START}([MNO][A-Za-z0-9_-]{{22,}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,}})",
        (".",),
        r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{20}",
    ),
    Rule(
        "telegram",
        r"(?:^|[^0-9A-Za-z_-]|bot|\\[bfnrt])(\d{8,10}:A[A-Za-z0-9_-]{34})",
        (":A",),
        r"\d{8}:A[A-Za-z0-9_-]{12}",
    ),
    # Work.
    Rule("linear", r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}", ("lin_api_", "lin_oauth_")),
    Rule(
        "notion",
        rf"{START}((?:ntn|secret)_[A-Za-z0-9]{{40,}})",
        ("ntn_", "secret_"),
        r"(?:ntn|secret)_[A-Za-z0-9]{12}",
    ),
    Rule(
        "jwt",
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*\.?",
        ("eyJ",),
        r"eyJ[A-Za-z0-9_-]{8}",
    ),
)
