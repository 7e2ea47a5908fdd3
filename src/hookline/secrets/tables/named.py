"""Keys without a form of their own, known by the vendor's name before them."""

from hookline.secrets.checks import random
from hookline.secrets.forms import ASSIGNS, QUOTE, UUID, Rule

__all__ = ["NAMED"]

_TELLING = r"(?i:key|token|secret|auth|passw|api|pat)"
_LOWER = "[a-z0-9]"
_MIXED = "[A-Za-z0-9]"
_URLSAFE = "[A-Za-z0-9_-]"

# Family, how its name may be written, and what its keys look like.
_SHAPES = (
    ("algolia", "algolia", _LOWER + "{32}"),
    ("assemblyai", "assembly[_-]?ai", _LOWER + "{32}"),
    ("auth0", "auth0", _URLSAFE + "{64}"),
    ("beamer", "beamer", r"b_[A-Za-z0-9=_-]{44}"),
    ("binance", "binance", _MIXED + "{64}"),
    ("bitbucket", "bitbucket", "[A-Za-z0-9_=-]{32,64}"),
    ("box", "box[_-]?(?:api|app|client|dev|access)", _MIXED + "{32}"),
    ("brave-search", "brave", r"BSA[A-Za-z0-9_-]{20,28}"),
    ("bugsnag", "bugsnag", "[0-9a-f]{32}"),
    ("chargebee", "chargebee", r"(?:live|test)_[A-Za-z0-9]{32,40}"),
    ("codecov", "codecov", rf"{UUID}|{_LOWER}{{32}}"),
    ("cohere", "cohere|co[_-]api", _MIXED + "{40}"),
    ("coinbase", "coinbase", _URLSAFE + "{64}"),
    ("coveralls", "coveralls", _MIXED + "{32,37}"),
    ("datadog", "datadog|dd[_-]api|dd[_-]app", "[0-9a-f]{40}|[0-9a-f]{32}"),
    ("deepgram", "deepgram", "[0-9a-f]{40}"),
    ("drone-ci", "drone", _MIXED + "{32}"),
    ("etsy", "etsy", _LOWER + "{24}"),
    ("exa", "exa[_-](?:api|search)", UUID),
    ("fastly", "fastly", _URLSAFE + "{32}"),
    ("finnhub", "finnhub", _LOWER + "{20}|[a-z0-9]{40}"),
    ("flickr", "flickr", _LOWER + "{16}|[a-z0-9]{32}"),
    ("freshbooks", "freshbooks", _LOWER + "{64}"),
    ("gitea", "gitea|forgejo|codeberg", "[0-9a-f]{40}"),
    ("hetzner", "hetzner|hcloud", _MIXED + "{64}"),
    ("infura", "infura", "[0-9a-f]{32}"),
    ("jira", "jira|confluence", _MIXED + "{24}"),
    ("kraken", "kraken", r"[A-Za-z0-9/+]{54,86}={0,2}"),
    ("kucoin", "kucoin", rf"{UUID}|[0-9a-f]{{24}}"),
    ("linkedin", "linked[_-]?in", _MIXED + "{16}"),
    ("linode", "linode", "[0-9a-f]{64}"),
    ("looker", "looker", _LOWER + "{20,24}"),
    ("mailgun-key", "mailgun", "[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"),
    ("mailjet", "mailjet|mj[_-]api", "[0-9a-f]{32}"),
    ("mattermost", "mattermost", _LOWER + "{26}"),
    ("messagebird", "message[_-]?bird", _MIXED + "{25}"),
    ("mistral", "mistral", _MIXED + "{32}"),
    ("ngrok", "ngrok", r"[A-Za-z0-9]{20,30}_[A-Za-z0-9]{20,30}"),
    ("okta", "okta", r"00[A-Za-z0-9_-]{40}"),
    ("opsgenie", "opsgenie", UUID),
    ("pagerduty", "pager[_-]?duty", r"u\+[A-Za-z0-9_+-]{18}|[A-Za-z0-9_+-]{20}"),
    ("plivo", "plivo", _MIXED + "{40}"),
    ("postmark", "postmark", UUID),
    ("railway", "railway", UUID),
    ("rapidapi", "rapid[_-]?api", _MIXED + "{50}"),
    ("reddit", "reddit", _URLSAFE + "{27,30}"),
    ("rollbar", "rollbar", "[0-9a-f]{32}"),
    ("sendbird", "sendbird", "[0-9a-f]{40}"),
    ("serpapi", "serp[_-]?api", "[0-9a-f]{64}"),
    ("snowflake", "snowflake", r"ver:[0-9]-hint:[A-Za-z0-9:_+/=-]{40,}"),
    ("sparkpost", "spark[_-]?post", "[0-9a-f]{40}"),
    ("splunk", "splunk", UUID),
    ("spotify", "spotify", "[0-9a-f]{32}"),
    ("squarespace", "squarespace", UUID),
    ("sumologic", "sumo(?:[_-]?logic)?", _MIXED + "{64}"),
    ("travis-ci", "travis", _URLSAFE + "{22}"),
    ("twitch", "twitch", _LOWER + "{30}"),
    (
        "twitter",
        "twitter",
        _MIXED + r"{50}|\d{15,20}-[A-Za-z0-9]{20,40}|[A-Za-z0-9]{45}|[A-Za-z0-9]{25}",
    ),
    ("upstash", "upstash", r"[A-Za-z0-9_-]{40,80}={0,2}"),
    ("vultr", "vultr", "[A-Z0-9]{36}"),
    ("yelp", "yelp", _URLSAFE + "{128}"),
    ("zendesk", "zendesk", _MIXED + "{40}"),
    ("zoom", "zoom", _MIXED + "{32}"),
    # Beside tokens of the same vendor that have a form of their own.
    ("airtable-key", "airtable", "key[A-Za-z0-9]{14}"),
    ("confluent-key", "confluent|ccloud", "[A-Z0-9]{16}|[A-Za-z0-9+/]{64}"),
    ("discord-client", "discord", _URLSAFE + "{32}"),
    ("dropbox-app", "dropbox", _LOWER + "{15}"),
    ("facebook-app", "facebook|fb[_-]app", "[0-9a-f]{32}"),
    ("hubspot-key", "hubspot|hapi", UUID),
    ("pusher", "pusher", "[0-9a-f]{20}"),
    ("snyk-token", "snyk", UUID),
    ("stytch", "stytch", r"secret-(?:live|test)-[A-Za-z0-9_-]{30,}=?"),
    ("trello-key", "trello", "[0-9a-f]{64}|[0-9a-f]{32}"),
    ("twilio-auth", "twilio", "[0-9a-f]{32}"),
    ("vonage", "vonage|nexmo", _MIXED + "{16}"),
)


def _rule(name: str, names: str, value: str) -> Rule:
    # Behind the vendor's name one that says what it is, and the whole of a word that is so long.
    regex = (
        rf"(?i:{names})[\w.-]{{0,20}}{_TELLING}[\w.-]{{0,12}}{ASSIGNS}(?:{QUOTE})?((?:{value}))"
        + ("" if "=" in value[-6:] else r"\b")
    )
    return Rule(name, regex, _keywords(names), names=names, check=random)


def _keywords(names: str) -> tuple[str, ...]:
    """What is in every name: each of its ways, up to where it may go on differently."""
    ways = [names] if "(?:" in names else names.split("|")
    return tuple(way.partition("(?:")[0].partition("[")[0] for way in ways)


NAMED = tuple(_rule(*shape) for shape in _SHAPES)
