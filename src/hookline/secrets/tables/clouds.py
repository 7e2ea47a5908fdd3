"""Tokens of clouds, of databases in them and of what watches over them."""

from hookline.secrets.forms import (
    GAP,
    HEX,
    START,
    URLSAFE,
    UUID,
    Rule,
    assigned,
    prefixed,
)

__all__ = ["CLOUDS"]

_UPPER = "[A-Z0-9]"
_AWS = "AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA"

CLOUDS = (
    Rule(
        "aws-key-id",
        rf"{START}((?:A3T[A-Z0-9]|{_AWS})[A-Z0-9]{{16}})",
        (*_AWS.split("|"), "A3T"),
        rf"(?:A3T[A-Z0-9]|{_AWS})[A-Z0-9]{{12}}",
    ),
    Rule(
        "aws-secret",
        assigned(r"secret[_-]?access[_-]?key|aws[_-]?secret", r"[A-Za-z0-9/+]{38,}=*"),
        ("access", "secret"),
        names=r"access[_-]?key|aws[_-]?secret",
    ),
    Rule(
        "aws-session",
        r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9+/%]{60,}={0,2}",
        ("IQoJb3JpZ2lu", "FwoGZXIvYXdz"),
        r"IQoJb3JpZ2lu|FwoGZXIvYXdz|FwoGZXIv\\+/YXdz",
    ),
    Rule(
        "aws-bedrock",
        rf"{START}(ABSK[A-Za-z0-9+/]{{60,}}={{0,2}})",
        ("ABSK",),
        r"ABSK(?:[A-Za-z0-9+]|\\*/){12}",
    ),
    Rule("aws-mws", rf"amzn\.mws\.{UUID}", ("amzn.mws.",)),
    Rule("amazon-oauth", r"amzn1\.oa2-cs\.v1\.[0-9a-f]{64}", ("amzn1.oa2-cs.",)),
    Rule("google", r"AIza[A-Za-z0-9_-]{35,}|GOCSPX-[A-Za-z0-9_-]{20,}", ("AIza", "GOCSPX-")),
    Rule(
        "google-oauth",
        r"ya29\.[A-Za-z0-9_-](?:[A-Za-z0-9_-]|\.[A-Za-z0-9_-]){19,}|1//0[A-Za-z0-9_-]{30,}",
        ("ya29.", "1//0"),
        r"ya29\.|1(?:\\*/){2}0[A-Za-z0-9_-]{12}",
    ),
    Rule("firebase", r"AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,}", (":APA91b",)),
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
    Rule(
        "azure-ad",
        r"(?:^|[^A-Za-z0-9_~.-]|\\[bfnrt])([A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~-](?:[A-Za-z0-9_~-]|\.[A-Za-z0-9_~-]){29,33})",
        ("Q~",),
        r"Q~[A-Za-z0-9_~.-]{12}",
    ),
    Rule(
        "azure-devops",
        r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}",
        ("AZDO",),
        r"AZDO[A-Za-z0-9]{4}",
    ),
    Rule("azure-ai", r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}", ("JQQJ99",)),
    Rule(
        "azure-functions",
        rf"{START}([A-Za-z0-9_-]{{44}}AzFu[A-Za-z0-9_-]{{6}}==)",
        ("AzFu",),
        r"AzFu[A-Za-z0-9_-]{5}",
    ),
    prefixed("digitalocean", "dop_v1_", "doo_v1_", "dor_v1_", size="32,"),
    Rule(
        "heroku",
        r"HRKU-[A-Za-z0-9_-]{30,}|" + assigned("heroku", UUID),
        ("HRKU-", "eroku", "EROKU"),
        "HRKU-",
        names="heroku",
    ),
    Rule(
        "cloudflare",
        r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}|cf[aku]t_[A-Za-z0-9_-]{30,}|"
        + assigned(r"cloudflare|cf[_-](?:api|global)", r"[A-Za-z0-9_-]{37,}"),
        ("v1.0-", "cfat_", "cfkt_", "cfut_", "loudflare", "LOUDFLARE", "CF", "cf"),
        r"v1\.0-[0-9a-f]{12}|cf[aku]t_",
        names=r"cloudflare|cf[_-](?:api|global)",
    ),
    Rule(
        "vercel",
        rf"{START}(vc[acipkr]_[A-Za-z0-9]{{24,}})|" + assigned("vercel", r"[A-Za-z0-9]{24}"),
        ("vca_", "vcc_", "vci_", "vcp_", "vck_", "vcr_", "ercel", "ERCEL"),
        r"vc[acipkr]_[A-Za-z0-9]{12}",
        names="vercel",
    ),
    Rule("vercel-blob", r"vercel_blob_rw_[A-Za-z0-9]{10,}_[A-Za-z0-9]{20,}", ("vercel_blob_rw_",)),
    prefixed("netlify", "nfp_", "nfc_", "nfo_", "nfu_", size="30,", inside=False),
    prefixed("render", "rnd_", size="24,", inside=False),
    Rule(
        "fly-io",
        rf"{START}(fo1_[A-Za-z0-9_-]{{40,}}|fm[12][ar]?_[A-Za-z0-9+/]{{60,}}={{0,3}})",
        ("fo1_", "fm1", "fm2"),
        r"fo1_[A-Za-z0-9_-]{12}|fm[12][ar]?_(?:[A-Za-z0-9+]|\\*/){12}",
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
    Rule(
        "planetscale",
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_-](?:[A-Za-z0-9_-]|[=.][A-Za-z0-9_-]){30,}",
        ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
    ),
    prefixed("neon", "napi_", body="[a-z0-9]", size="40,", inside=False),
    prefixed("mongodb-atlas", "mdb_sa_sk_", body=URLSAFE, size="30,"),
    prefixed("aiven", "AVNS_", body=URLSAFE, size="16,"),
    prefixed("confluent", "cflt", body="[A-Za-z0-9+/]", size="56,", inside=False),
    prefixed("scaleway", "SCW", body=_UPPER, size="17,17", inside=False),
    Rule(
        "yandex",
        rf"{START}(AQVN[A-Za-z0-9_-]{{35,38}}|t1\.[A-Za-z0-9_-]{{10,}}\.[A-Za-z0-9_-]{{80,}}={{0,2}})",
        ("AQVN", "t1."),
        r"AQVN[A-Za-z0-9_-]{12}|t1\.[A-Za-z0-9_-]{12}",
    ),
    prefixed("alibaba", "LTAI", size="16,24", inside=False),
    prefixed("tencent", "AKID", size="32,36", inside=False),
    Rule(
        "ibm-cloud",
        assigned(r"ibm(?:[_-]?cloud)?|bluemix", r"[A-Za-z0-9_-]{44}"),
        ("ibm", "bluemix"),
        names=r"ibm|bluemix",
    ),
    prefixed("openshift", "sha256~", body=URLSAFE, size="43,"),
    Rule(
        "rancher",
        rf"{START}(token-[a-z0-9]{{5}}:[a-z0-9]{{54}})",
        ("token-",),
        r"token-[a-z0-9]{5}:[a-z0-9]{12}",
    ),
    Rule("tailscale", r"tskey-[a-z]{2,20}-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{8,})?", ("tskey-",)),
    # What watches.
    Rule(
        "grafana",
        r"glc_[A-Za-z0-9+/]{32,}={0,2}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|eyJrIjoi[A-Za-z0-9]{60,}={0,2}",
        ("glc_", "glsa_", "eyJrIjoi"),
    ),
    Rule(
        "sentry",
        r"sntrys_eyJ[A-Za-z0-9+/_=-]{60,}|sntry[ua]_[0-9a-f]{64}",
        ("sntrys_", "sntryu_", "sntrya_"),
    ),
    Rule(
        "new-relic",
        rf"{START}(NR(?:AK|RA|IQ|II|SP)-[A-Za-z0-9_-]{{26,}}|NRJS-[0-9a-f]{{19}}|[0-9a-f]{{36}}NRAL)",
        ("NRAK-", "NRRA-", "NRIQ-", "NRII-", "NRSP-", "NRJS-", "NRAL"),
    ),
    Rule("dynatrace", r"dt0[a-z]\d{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}", ("dt0",), r"dt0[a-z]\d{2}\."),
    Rule("honeycomb", r"hc[abx]ik_[0-9a-z]{26,}", ("hcaik_", "hcbik_", "hcxik_")),
    Rule("axiom", rf"xa[ap]t-{UUID}", ("xaat-", "xapt-")),
    prefixed("posthog", "phx_", "phs_", size="40,", inside=False),
    prefixed("logfire", "pylf_v1_", body="[A-Za-z0-9_]", size="30,"),
    prefixed("checkly", "cu_", body=HEX, size="32,32", inside=False),
)
