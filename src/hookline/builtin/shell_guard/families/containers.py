"""Containers and clusters: volumes, images, workloads, and doors into the machine itself."""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.families.tables import Verb, verbs
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.targets import targets
from hookline.builtin.shell_guard.world import Place, World

__all__ = ["FAMILY"]

_DATA = "data in volumes has no other copy"
_GONE = "containers and images are removed that something may still need"

_DOCKER = verbs(
    (
        Verb("system prune --volumes", "deletes", _DATA, radius="high", denied=True),
        Verb("system (prune|reset)", "deletes", _GONE),
        Verb("volume (rm|remove|prune)", "deletes", _DATA, radius="high", denied=True),
        Verb("(image|container|network|builder|buildx|network) prune", "deletes", _GONE),
        Verb("compose down (-v|--volumes)", "deletes", _DATA, radius="high", denied=True),
        Verb("compose rm", "deletes", _GONE),
        Verb("compose (kill)", "kills", "services end at once"),
        Verb("(rm|rmi) (-f|--force|-v|--volumes)", "deletes", _GONE),
        Verb("(container|image) (rm|remove) (-f|--force|-v|--volumes)", "deletes", _GONE),
        Verb("(swarm) (leave|init)", "changes-remote", "the cluster loses a node"),
        Verb(
            "(stack|service|secret|config|node) (rm|remove)", "changes-remote", _GONE, radius="high"
        ),
        Verb("push", "publishes", "an image leaves for a registry"),
        Verb("(image|manifest|compose) push", "publishes", "an image leaves for a registry"),
        Verb("(build|buildx|bake) (--push)", "publishes", "an image leaves for a registry"),
        Verb(
            "context (rm|use)",
            "changes-remote",
            "commands would go to another machine",
            radius="low",
        ),
        Verb("machine (rm|reset)", "deletes", _DATA, radius="high"),
    ),
    skipped="-H --host --context -c --config -l --log-level -f --file -p --project-name",
)
_COMPOSE = verbs(
    (
        Verb("down (-v|--volumes)", "deletes", _DATA, radius="high", denied=True),
        Verb("(rm|kill)", "deletes", _GONE),
        Verb("push", "publishes", "images leave for a registry"),
    ),
    skipped="-f --file -p --project-name",
)
_CAPABLE = re.compile(
    r"^--cap-add[= ](?:CAP_)?(?:ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE|SYS_RAWIO|DAC_READ_SEARCH)\b",
    re.I,
)
_MOUNT = re.compile(r"(?:^|,)(?:src|source)=([^,]+)")


def _container(act: Act, world: World) -> Iterator[Finding]:
    if act.name == "docker-compose":
        yield from _COMPOSE(act, world)
        return
    words = act.words[1:]
    if "run" in words or "create" in words:
        yield from _run(act, world)
        return
    if "exec" in words:
        return
    yield from _DOCKER(act, world)
    ending = {"down", "stop", "restart", "rm", "kill", "prune"}.intersection(words)
    if act.elsewhere and ending:
        why = f"this runs through {act.elsewhere}, where others use it"
        yield risky("changes-remote", act.text, why, radius="high")
    verbs = {"stop", "kill", "restart", "pause", "rm", "rmi"}.intersection(words)
    if verbs and (_EVERY.search(act.text) or "xargs" in act.wrappers):
        yield risky("kills", act.text, "that is every container here", radius="high")


# `docker stop $(docker ps -q)`; with a filter, fewer are meant.
_EVERY = re.compile(r"(?:\$\(|`)\s*\w+ (?:container |image )?(?:ps|ls|images) (?:-\w+ ?)*(?:\)|`)")


def _run(act: Act, world: World) -> Iterator[Finding]:
    """A container with a door to the machine is no container."""
    words = act.words
    for option, value in zip(words, (*words[1:], ""), strict=True):
        if option in ("--privileged", "--privileged=true") or option == "--pid=host":
            yield risky(
                "escalates",
                option,
                "the container could do anything to this machine",
                radius="high",
            )
        if _CAPABLE.search(f"{option} {value}"):
            yield risky("escalates", f"{option} {value}", "it may do what only the system does")
        source = _source(option, value)
        if not source:
            continue
        for target in targets(source, act, world):
            if "docker.sock" in source or target.place in (Place.HOME, Place.DEVICE):
                yield risky(
                    "escalates",
                    f"-v {source}",
                    f"it opens {target.place.value} to a container",
                    radius="high",
                )
            elif target.place is Place.SYSTEM and target.path in (
                "/",
                "/etc",
                "/var",
                "/usr",
                "/boot",
                "/root",
                "/proc",
                "/sys",
            ):
                yield fatal("escalates", f"-v {source}", "it opens the whole system to a container")


def _source(option: str, value: str) -> str:
    if option in ("-v", "--volume"):
        return value.partition(":")[0] if value[:1] in ("/", "~", "$", ".") else ""
    if option.startswith("--volume="):
        return option.partition("=")[2].partition(":")[0]
    mount = (
        value
        if option == "--mount"
        else option.partition("=")[2]
        if option.startswith("--mount=")
        else ""
    )
    found = _MOUNT.search(mount)
    return found.group(1) if found is not None and "type=volume" not in mount else ""


FAMILY: Family = {
    **dict.fromkeys(
        ("docker", "podman", "nerdctl", "docker-compose", "podman-compose"), _container
    ),
}
