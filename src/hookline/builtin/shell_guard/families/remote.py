"""Infrastructure, clouds and hosting: what a command line there ends for everybody."""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.families.production import names_production
from hookline.builtin.shell_guard.families.sql import judged_sql
from hookline.builtin.shell_guard.families.tables import Verb, verbs
from hookline.builtin.shell_guard.model import Act, Family, Finding, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["FAMILY"]

_REAL = "it changes real machines and data"
_TERRAFORM = verbs(
    (
        Verb("(destroy)", "changes-remote", _REAL, radius="high", denied=True),
        Verb("apply (-destroy)", "changes-remote", _REAL, radius="high", denied=True),
        Verb("(apply|up|update|deploy)", "changes-remote", _REAL, radius="high"),
        Verb(
            "state (rm|mv|push|replace-provider)",
            "changes-remote",
            "what is no longer in the state is nobody's",
            radius="high",
        ),
        Verb("workspace delete", "changes-remote", _REAL, radius="high"),
        Verb(
            "(force-unlock|taint|untaint|import|refresh)",
            "changes-remote",
            "another run may be under way",
        ),
        Verb("run-all (apply|destroy)", "changes-remote", _REAL, radius="high"),
    )
)
_PULUMI = verbs(
    (
        Verb("(destroy|up|update|cancel|refresh)", "changes-remote", _REAL, radius="high"),
        Verb("stack (rm|remove)", "changes-remote", _REAL, radius="high"),
        Verb("state delete", "changes-remote", _REAL, radius="high"),
    ),
    skipped="-s --stack -C --cwd",
)
_CDK = verbs(
    (
        Verb("(destroy|deploy|bootstrap|rollback)", "changes-remote", _REAL, radius="high"),
        Verb("(remove|delete)", "changes-remote", _REAL, radius="high"),
    )
)

_DEPLOYS = verbs(
    (
        Verb("(deploy|publish|promote|up)", "publishes", "it goes live", radius="medium"),
        Verb("\\w+:(deploy|promote|publish)", "publishes", "it goes live", radius="medium"),
        Verb("[\\w-]+ (deploy|publish|promote|push)", "publishes", "it goes live", radius="medium"),
    )
)

# Verbs of clouds: `delete-table`, `terminate-instances`, `apps:destroy`, `purge`.
_ENDS = re.compile(
    r"(?:[\w-]+:)?(?:delete|destroy|terminate|purge|deprovision|deregister|schedule-key-deletion"
    r"|remove|rm|rb|reset|drop|wipe|revoke|detach|disable|unset|stop|shutdown|down|kill|undeploy"
    r"|scale-down|abandon|cancel|deallocate|expunge|reset-password)(?:-[\w-]+)?(?::[\w-]+)?"
)
_MILD = re.compile(
    r"(?:\w+:)?(?:stop|remove-tags|unset|reset-cache|cancel|rm-cache|down|disable|scale-down)$"
)
_GRANTS = re.compile(
    r"(?:attach|put)-(?:user|role|group|bucket)-policy|create-(?:access-key|login-profile)"
    r"|add-iam-policy-binding|set-iam-policy|put-bucket-(?:acl|policy)|put-public-access-block"
    r"|authorize-security-group-ingress|add-user-to-group|update-assume-role-policy"
)
_GIVES = re.compile(
    r"keys create|role assignment create|service-principal create|sp (?:create|credential)"
    r"|policy-bindings? (?:add|set)|set-iam-policy|credential reset|password add"
)
# Verbs that change what runs, without ending it.
_CHANGES = re.compile(
    r"(?:[\w-]+:)?(?:update|modify|reboot|restart|failover|restore|replace|rollback|scale|change"
    r"|reset)(?:-[\w-]+)?"
    r"|send-command|start-automation-execution|execute-statement|create-invalidation|record-sets"
    r"|create-for-rbac"
)
_LOOKS = re.compile(
    r"(?:describe|list|get|head|show|search|query|scan|lookup|select|test|validate|tail|wait|ls|view"
    r"|versions?|info|status|logs?|print|read|inspect|config|init|login|whoami|sts|plan|diff"
    r"|preview|synth|help)(?:-[\w-]+)?"
)
_SECRETS = re.compile(r"get-secret-value|get-parameters?(?:-by-path)?|access-secret-version")
_DATA = re.compile(r"s3|gs|storage|blob")


def _cloud(act: Act, world: World) -> Iterator[Finding]:
    words = [word for word in act.words[1:] if not word.startswith("-")][:6]
    options = [word for word in act.words[1:] if word.startswith("-")]
    ending = next((word for word in words if _ENDS.fullmatch(word)), "")
    if act.name == "aws" and words[:2] == ["s3", "sync"] and "--delete" in options:
        yield risky("changes-remote", act.text, "what is not here is removed there", radius="high")
    elif ending and not (_MILD.search(ending) and words[:1] != ["compute"]):
        yield risky(
            "changes-remote", f"{act.name} … {ending}", "nothing brings it back", radius="high"
        )
    elif ending:
        yield risky("changes-remote", f"{act.name} … {ending}", "others may be using it")
    yield from _verbs(act, words)
    if words[:2] == ["configure", "get"] and any(
        "secret" in word or "token" in word for word in words
    ):
        yield risky("reads-secret", act.text, "the secret would be shown")
    if act.name in ("gcloud", "az") and _GIVES.search(" ".join(words)):
        yield risky("escalates", act.text, "it gives somebody rights", radius="high")
    if act.name in ("gcloud", "az") and _is_secret_read(words):
        yield risky("reads-secret", act.text, "the secret would be shown")
    if act.name == "aws" and words[:2] == ["s3", "mv"]:
        yield risky("changes-remote", act.text, "it is no longer where it was")
    if not ending and not _looks(words) and names_production(act):
        yield risky("changes-remote", act.text, "that is what real users use", radius="high")
    if act.name in ("gcloud", "az"):
        yield from _DEPLOYS(act, world)
    if act.name == "gsutil" and words[:1] == ["rsync"] and "-d" in options:
        yield risky("changes-remote", act.text, "what is not here is removed there", radius="high")


def _verbs(act: Act, words: list[str]) -> Iterator[Finding]:
    """Rights that are given, things that are changed, secrets that are shown."""
    for word in words:
        if _GRANTS.fullmatch(word):
            yield risky(
                "escalates", f"{act.name} … {word}", "it gives somebody rights", radius="high"
            )
        elif _CHANGES.fullmatch(word) and not _looks(words):
            yield risky("changes-remote", f"{act.name} … {word}", _REAL, radius="high")
        elif _SECRETS.fullmatch(word):
            yield risky("reads-secret", f"{act.name} … {word}", "the secret would be shown")


def _looks(words: list[str]) -> bool:
    return any(_LOOKS.fullmatch(word) for word in words)


def _is_secret_read(words: list[str]) -> bool:
    joined = " ".join(words)
    return bool(
        re.match(
            r"secrets versions access|keyvault secret show|auth print-\w+-token"
            r"|account get-access-token",
            joined,
        )
    )


_HOSTING = (
    "heroku", "fly", "flyctl", "vercel", "netlify", "doctl", "linode-cli", "hcloud", "scw",
    "ibmcloud",
    "oci", "railway", "render", "supabase", "firebase", "wrangler", "neonctl", "planetscale",
    "pscale",
    "eb", "cf", "aliyun", "openstack", "nova", "rclone", "s3cmd", "mc", "gsutil", "bq", "turso",
    "ovhai",
)  # fmt: skip


def _hosting(act: Act, world: World) -> Iterator[Finding]:
    yield from _cloud(act, world)
    yield from _DEPLOYS(act, world)
    if act.name == "vercel" and "--prod" in act.words:
        yield risky("publishes", act.text, "it goes live")
    for option, word in zip(act.words, act.words[1:], strict=False):
        if option in ("--command", "--query", "-c", "-q", "--sql"):
            yield from judged_sql(word, act.name)
    if act.name == "heroku" and act.words[1:2] in (("config",), ("config:get",), ("config:edit",)):
        yield risky("reads-secret", act.text, "the values usually are secrets")
    if act.name == "rclone" and act.words[1:2] in (("sync",), ("move",), ("delete",), ("purge",)):
        yield risky(
            "changes-remote", act.text, "what is not in the source is removed", radius="high"
        )


def _ansible(act: Act, world: World) -> Iterator[Finding]:
    if not {"--check", "-C", "--syntax-check", "--list-hosts", "--list-tasks"}.intersection(
        act.words
    ):
        yield risky("changes-remote", act.text, _REAL)


FAMILY: Family = {
    **dict.fromkeys(("terraform", "tofu", "terragrunt"), _TERRAFORM),
    "pulumi": _PULUMI,
    **dict.fromkeys(("cdk", "cdktf", "serverless", "sls", "sam", "sst", "copilot"), _CDK),
    **dict.fromkeys(("aws", "gcloud", "az", "gsutil", "bq"), _cloud),
    **dict.fromkeys(_HOSTING, _hosting),
    **dict.fromkeys(("ansible-playbook", "ansible"), _ansible),
}
