"""Tokens of services: models, money and parcels, mail and messages, and what people work with."""

from hookline.secrets.checks import jwt, mixed
from hookline.secrets.forms import HEX, START, URLSAFE, UUID, Rule, prefixed

__all__ = ["MESSAGES", "MODELS", "MONEY", "WORK"]

MODELS = (
    prefixed("anthropic", "sk-ant-", body=URLSAFE),
    prefixed("openrouter", "sk-or-v1-", size="48,"),
    Rule("langfuse", rf"sk-lf-{UUID}", ("sk-lf-",)),
    prefixed("kimi", "sk-kimi-", size="40,"),
    prefixed("helicone", "sk-helicone-", body="[a-z0-9-]"),
    Rule(
        "openai",
        rf"{START}(sk-[A-Za-z0-9_-]{{20,}})",
        ("sk-",),
        r"(?:[^A-Za-z0-9_-]|^|\\[bfnrt])sk-[A-Za-z0-9_-]{12}",
        check=mixed,
    ),
    prefixed("hugging-face", "hf_", size="30,", inside=False),
    prefixed("hugging-face-org", "api_org_", size="30,"),
    prefixed("groq", "gsk_", size="40,", inside=False),
    prefixed("xai", "xai-", size="60,", inside=False),
    prefixed("perplexity", "pplx-", size="40,"),
    prefixed("replicate", "r8_", size="36,", inside=False),
    prefixed("nvidia", "nvapi-", body=URLSAFE, size="60,"),
    Rule(
        "langsmith",
        r"lsv2_(?:pt|sk)_[A-Za-z0-9]{32}(?:_[A-Za-z0-9]{10})?",
        ("lsv2_pt_", "lsv2_sk_"),
    ),
    Rule("pinecone", r"pc(?:sk|key)_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,}", ("pcsk_", "pckey_")),
    prefixed("fireworks", "fw_", size="22,24", inside=False, check=mixed),
    prefixed("together", "tgp_v1_", body=URLSAFE, size="40,"),
    prefixed("elevenlabs", "sk_", body=HEX, size="48,48", inside=False),
    prefixed("voyage", "pa-", body=URLSAFE, size="43,43", inside=False, check=mixed),
    prefixed("jina", "jina_", body=URLSAFE, size="50,", inside=False),
    prefixed("tavily", "tvly-", body=URLSAFE, size="24,"),
    prefixed("firecrawl", "fc-", body=HEX, size="32,32", inside=False),
    prefixed("cerebras", "csk-", body="[a-z0-9]", size="40,", inside=False),
    prefixed("e2b", "e2b_", size="40,", inside=False),
    prefixed("cohere-trial", "co_", size="40,40", inside=False),
    prefixed("wandb", "wandb_v1_", body="[A-Za-z0-9_]", size="40,"),
    prefixed("runpod", "rpa_", body="[A-Z0-9]", size="40,", inside=False),
    prefixed("anyscale", "esecret_", body="[a-z0-9]", size="24,"),
    prefixed("apify", "apify_api_", size="30,"),
    prefixed("browserbase", "bb_live_", body=URLSAFE, size="24,"),
    Rule(
        "modal",
        rf"{START}(a[ks]-[A-Za-z0-9]{{22}})",
        ("ak-", "as-"),
        r"a[ks]-[A-Za-z0-9]{12}",
        check=mixed,
    ),
    prefixed("unkey", "unkey_", size="20,"),
    prefixed("braintrust", "bt-st-", body=URLSAFE, size="24,"),
)

MONEY = (
    Rule(
        "stripe",
        r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{20,}",
        ("k_live_", "k_test_", "k_prod_", "whsec_"),
    ),
    Rule(
        "stripe-intent",
        r"(?:pi|seti|cs)_[A-Za-z0-9]{16,}_secret_[A-Za-z0-9]{16,}",
        ("_secret_",),
        r"_secret_[A-Za-z0-9]{12}",
    ),
    Rule(
        "shopify",
        r"shp(?:at|ca|pa|ss|tka)_[A-Za-z0-9]{24,}",
        ("shpat_", "shpca_", "shppa_", "shpss_", "shptka_"),
    ),
    Rule("razorpay", r"rzp_(?:live|test)_[A-Za-z0-9]{14,}", ("rzp_live_", "rzp_test_")),
    Rule(
        "square",
        rf"sq0(?:atp|csp|idp|idb)-[A-Za-z0-9_-]{{22,}}|{START}(EAAA[A-Za-z0-9_-]{{60}})",
        ("sq0", "EAAA"),
        r"sq0(?:atp|csp|idp|idb)-|EAAA[A-Za-z0-9_-]{12}",
    ),
    Rule(
        "braintree",
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
        ("access_token$",),
    ),
    Rule(
        "plaid",
        rf"access-(?:sandbox|development|production)-{UUID}",
        ("access-sandbox-", "access-develop", "access-product"),
    ),
    Rule("flutterwave", r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{32}-X", ("FLWSECK",)),
    Rule("paypal", r"access_token=(A21AA[A-Za-z0-9_-]{60,})|(A21AA[A-Za-z0-9_-]{60,})", ("A21AA",)),
    Rule(
        "easypost",
        rf"{START}(EZ[AT]K[A-Za-z0-9]{{54}})",
        ("EZAK", "EZTK"),
        r"EZ[AT]K[A-Za-z0-9]{12}",
    ),
    prefixed("shippo", "shippo_live_", "shippo_test_", size="40,"),
    prefixed("duffel", "duffel_live_", "duffel_test_", body=URLSAFE, size="40,"),
    prefixed("paddle", "pdl_live_", "pdl_sdbx_", body="[A-Za-z0-9_]", size="30,"),
    prefixed("polar", "polar_oat_", "polar_pat_", size="30,"),
)

MESSAGES = (
    Rule(
        "sendgrid",
        r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        ("SG.",),
        r"SG\.[A-Za-z0-9_-]{12}",
    ),
    Rule("twilio", rf"{START}(SK[0-9a-fA-F]{{32}})", ("SK",), r"SK[0-9a-fA-F]{12}"),
    Rule("mailgun", rf"{START}(key-[0-9a-zA-Z]{{32}})", ("key-",), r"key-[0-9a-zA-Z]{12}"),
    Rule("mailchimp", rf"{START}([0-9a-f]{{32}}-us\d{{1,2}})", ("-us",), r"-us\d"),
    Rule("brevo", r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}", ("xkeysib-", "xsmtpsib-")),
    Rule(
        "resend",
        rf"{START}(re_[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{24}})",
        ("re_",),
        r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{12}",
    ),
    prefixed("mandrill", "md-", body=URLSAFE, size="22,22", inside=False),
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
        "teams-webhook",
        r"webhook\.office\.com/webhookb2/([A-Za-z0-9@-]{30,}/IncomingWebhook/[A-Za-z0-9]{20,}/[A-Za-z0-9-]{30,})",
        ("webhook.office.",),
    ),
    Rule(
        "google-chat-webhook",
        r"chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]+/messages\?key=([A-Za-z0-9_-]{20,}&token=[A-Za-z0-9_%-]{20,})",
        ("chat.googleapis",),
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
    Rule("facebook", rf"{START}(EAA[A-Za-z0-9]{{90,}})", ("EAA",), r"EAA[A-Za-z0-9]{12}"),
    prefixed("instagram", "IGQV", "IGAA", body=URLSAFE, size="80,", inside=False),
    prefixed("twitter-bearer", "AAAAAAAAAAAAAAAA", body="[A-Za-z0-9%]", size="60,", inside=False),
    prefixed("pinterest", "pina_", size="32,", inside=False),
    prefixed("linkedin-client", "WPL_AP1.", body=r"(?:[A-Za-z0-9]|[.=][A-Za-z0-9])", size="16,"),
)

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
