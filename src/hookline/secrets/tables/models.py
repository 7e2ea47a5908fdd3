"""Tokens of models, and of what agents search and remember with."""

from hookline.secrets.checks import mixed
from hookline.secrets.forms import HEX, START, URLSAFE, UUID, Rule, prefixed

__all__ = ["MODELS"]

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
