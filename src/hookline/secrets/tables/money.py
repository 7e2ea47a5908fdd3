"""Tokens of what moves money and parcels."""

from hookline.secrets.forms import START, URLSAFE, UUID, Rule, prefixed

__all__ = ["MONEY"]

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
