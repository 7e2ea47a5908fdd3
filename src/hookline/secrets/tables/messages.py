"""Tokens of what sends mail and messages, and of what people post with."""

from hookline.secrets.forms import START, URLSAFE, Rule, prefixed

__all__ = ["MESSAGES"]

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
