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
_SEEN = "docker ps -a"

_DOCKER = verbs(
    (
        Verb("system prune --volumes", "deletes", _DATA, "docker system df", "high", True),
        Verb("system (prune|reset)", "deletes", _GONE, "docker system df"),
        Verb("volume (rm|remove|prune)", "deletes", _DATA, "docker volume ls", "high", True),
        Verb("(image|container|network|builder|buildx|network) prune", "deletes", _GONE, _SEEN),
        Verb("compose down (-v|--volumes)", "deletes", _DATA, "docker compose ps", "high", True),
        Verb("compose rm", "deletes", _GONE, "docker compose ps"),
        Verb("compose (kill)", "kills", "services end at once", "docker compose stop"),
        Verb("(rm|rmi) (-f|--force|-v|--volumes)", "deletes", _GONE, _SEEN),
        Verb("(container|image) (rm|remove) (-f|--force|-v|--volumes)", "deletes", _GONE, _SEEN),
        Verb(
            "(swarm) (leave|init)", "changes-remote", "the cluster loses a node", "docker node ls"
        ),
        Verb(
            "(stack|service|secret|config|node) (rm|remove)",
            "changes-remote",
            _GONE,
            "docker stack ls",
            "high",
        ),
        Verb("push", "publishes", "an image leaves for a registry", "docker images"),
        Verb(
            "(image|manifest|compose) push",
            "publishes",
            "an image leaves for a registry",
            "docker images",
        ),
        Verb(
            "context (rm|use)",
            "changes-remote",
            "commands would go to another machine",
            "docker context ls",
            "low",
        ),
        Verb("machine (rm|reset)", "deletes", _DATA, "podman machine list", "high"),
    ),
    skipped="-H --host --context -c --config -l --log-level -f --file -p --project-name",
)
_COMPOSE = verbs(
    (
        Verb("down (-v|--volumes)", "deletes", _DATA, "docker-compose ps", "high", True),
        Verb("(rm|kill)", "deletes", _GONE, "docker-compose ps"),
        Verb("push", "publishes", "images leave for a registry", "docker-compose images"),
    ),
    skipped="-f --file -p --project-name",
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


_CLUSTER = "it changes a cluster that others use"
_KUBECTL = verbs(
    (
        Verb(
            "delete (ns|namespaces?|pvc?|persistentvolume\\w*|crds?|customresource\\w*|nodes?)"
            "(/\\S+)?",
            "changes-remote",
            "what is in it goes with it, data too",
            "kubectl get all",
            "high",
            True,
        ),
        Verb(
            "delete (--all|-A|--all-namespaces)",
            "changes-remote",
            _CLUSTER,
            "kubectl get all",
            "high",
            True,
        ),
        Verb("delete", "changes-remote", _CLUSTER, "kubectl get all", "high"),
        Verb(
            "drain",
            "changes-remote",
            "every workload on the node is moved or ended",
            "kubectl describe nodes",
            "high",
        ),
        Verb(
            "(cordon|taint|edit|patch|set|autoscale)",
            "changes-remote",
            _CLUSTER,
            "kubectl diff -f .",
            "medium",
        ),
        Verb(
            "apply (--prune)",
            "changes-remote",
            "what is not in the files is removed",
            "kubectl diff -f .",
            "high",
        ),
        Verb(
            "create (clusterrolebinding|rolebinding|clusterrole)",
            "escalates",
            _CLUSTER,
            "kubectl auth can-i --list",
            "high",
        ),
        Verb(
            "config (delete-\\S+|unset)", "changes-system", "its settings go", "kubectl config view"
        ),
        Verb("certificate (approve)", "escalates", _CLUSTER, "kubectl get csr"),
    ),
    skipped="-n --namespace --context --cluster --kubeconfig -s --server --user --token --as -f"
    " --filename -l --selector",
)


def _kubectl(act: Act, world: World) -> Iterator[Finding]:
    yield from _KUBECTL(act, world)
    words = [word for word in act.words[1:] if not word.startswith("-")]
    if words[:1] in (["apply"], ["create"]) and any("://" in word for word in words):
        why = "nobody has read what this would run"
        yield risky("runs-unseen-code", act.text, why, "kubectl diff -f .")
    if "replace" in words and "--force" in act.words:
        yield risky(
            "changes-remote", act.text, "it deletes before it creates", "kubectl diff -f .", "high"
        )
    if "scale" in words and any(word in ("--replicas=0", "0") for word in act.words):
        yield risky(
            "kills", act.text, "nothing of it would run any more", "kubectl get deploy", "high"
        )
    if words[:2] == ["rollout", "undo"]:
        yield risky("changes-remote", act.text, _CLUSTER, "kubectl rollout history deploy")
    if (
        words[:1] == ["get"]
        and any(re.match(r"secrets?(?:/|$)", word) for word in words)
        and any(re.match(r"-o|--output", word) for word in act.words)
    ):
        yield risky(
            "reads-secret", act.text, "the secrets themselves would be shown", "kubectl get secrets"
        )


_HELM = verbs(
    (
        Verb("(uninstall|delete|del|un)", "changes-remote", _CLUSTER, "helm list", "high"),
        Verb("rollback", "changes-remote", _CLUSTER, "helm history web"),
        Verb("(push)", "publishes", "a chart leaves for a registry", "helm lint ."),
    ),
    skipped="-n --namespace --kube-context --kubeconfig",
)

FAMILY: Family = {
    **dict.fromkeys(
        ("docker", "podman", "nerdctl", "docker-compose", "podman-compose"), _container
    ),
    **dict.fromkeys(("kubectl", "oc", "k", "microk8s.kubectl"), _kubectl),
    "helm": _HELM,
    **dict.fromkeys(
        ("minikube", "kind", "k3d", "eksctl", "kops", "vagrant", "multipass", "lxc", "incus"),
        verbs(
            (
                Verb(
                    "(delete|destroy|rm|purge)",
                    "deletes",
                    "a machine and all in it goes",
                    "",
                    "high",
                ),
                Verb(
                    "(cluster|nodegroup|node) delete",
                    "deletes",
                    "a machine and all in it goes",
                    "",
                    "high",
                ),
                Verb(
                    "delete (cluster|nodegroup|node)",
                    "deletes",
                    "a machine and all in it goes",
                    "",
                    "high",
                ),
            )
        ),
    ),
}
