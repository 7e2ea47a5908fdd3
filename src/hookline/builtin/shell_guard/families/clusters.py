"""Clusters and virtual machines: workloads that others use, and what goes with them."""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.families.production import names_production
from hookline.builtin.shell_guard.families.tables import Verb, verbs
from hookline.builtin.shell_guard.model import Act, Family, Finding, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["FAMILY", "LIVE"]

_CLUSTER = "it changes a cluster that others use"
_KUBECTL = verbs(
    (
        Verb(
            "delete (ns|namespaces?|pvc?|persistentvolume\\w*|crds?|customresource\\w*|nodes?)"
            "(/\\S+)?",
            "changes-remote",
            "what is in it goes with it, data too",
            radius="high",
            denied=True,
        ),
        Verb(
            "delete (--all|-A|--all-namespaces)",
            "changes-remote",
            _CLUSTER,
            radius="high",
            denied=True,
        ),
        Verb("delete", "changes-remote", _CLUSTER, radius="high"),
        Verb(
            "drain", "changes-remote", "every workload on the node is moved or ended", radius="high"
        ),
        Verb(
            "(cordon|taint|edit|patch|set|autoscale)", "changes-remote", _CLUSTER, radius="medium"
        ),
        Verb(
            "apply (--prune)",
            "changes-remote",
            "what is not in the files is removed",
            radius="high",
        ),
        Verb(
            "create (clusterrolebinding|rolebinding|clusterrole)",
            "escalates",
            _CLUSTER,
            radius="high",
        ),
        Verb("config (delete-\\S+|unset)", "changes-system", "its settings go"),
        Verb("(label|annotate) (--all|-A|--overwrite)", "changes-remote", _CLUSTER),
        Verb("debug (node\\S*)", "escalates", "it opens a node of the cluster", radius="high"),
        Verb("certificate (approve)", "escalates", _CLUSTER),
    ),
    skipped="-n --namespace --context --cluster --kubeconfig -s --server --user --token --as -f"
    " --filename -l --selector",
)


def _kubectl(act: Act, world: World) -> Iterator[Finding]:
    yield from _KUBECTL(act, world)
    words = [word for word in act.words[1:] if not word.startswith("-")]
    if words[:1] in (["apply"], ["create"]) and any("://" in word for word in words):
        why = "nobody has read what this would run"
        yield risky("runs-unseen-code", act.text, why)
    if "replace" in words and "--force" in act.words:
        yield risky("changes-remote", act.text, "it deletes before it creates", radius="high")
    if "scale" in words and any(word in ("--replicas=0", "0") for word in act.words):
        yield risky("kills", act.text, "nothing of it would run any more", radius="high")
    if words[:2] == ["rollout", "undo"]:
        yield risky("changes-remote", act.text, _CLUSTER)
    if (
        words[:1] == ["get"]
        and any(re.match(r"secrets?(?:/|$)", word) for word in words)
        and any(re.match(r"-o|--output", word) for word in act.words)
    ):
        yield risky("reads-secret", act.text, "the secrets themselves would be shown")


def _applies(act: Act, world: World) -> Iterator[Finding]:
    """What is only tried out elsewhere is another matter in production."""
    words = {"apply", "create", "upgrade", "install", "rollout", "sync"}.intersection(act.words)
    if words and names_production(act) and not {"diff", "template", "lint"}.intersection(act.words):
        yield risky("changes-remote", act.text, "that is what real users use", radius="high")


_HELM = verbs(
    (
        Verb("(uninstall|delete|del|un)", "changes-remote", _CLUSTER, radius="high"),
        Verb("rollback", "changes-remote", _CLUSTER),
        Verb("(push)", "publishes", "a chart leaves for a registry"),
    ),
    skipped="-n --namespace --kube-context --kubeconfig",
)

FAMILY: Family = {
    **dict.fromkeys(("kubectl", "oc", "k", "microk8s.kubectl"), _kubectl),
    "helm": _HELM,
    **dict.fromkeys(
        (
            "argocd",
            "flux",
            "nomad",
            "fleetctl",
            "rancher",
            "k9s",
            "istioctl",
            "linkerd",
            "cilium",
            "kubeadm",
            "talosctl",
            "k0s",
            "velero",
            "virsh",
            "qm",
            "pct",
            "VBoxManage",
            "prlctl",
            "crictl",
            "ctr",
            "buildah",
            "limactl",
            "lima",
            "colima",
            "helmfile",
            "skaffold",
            "tilt",
        ),
        verbs(
            (
                Verb(
                    "\\w+ (delete\\S*|remove|rm|stop|rollback|suspend|terminate-op|purge)",
                    "changes-remote",
                    _CLUSTER,
                    radius="high",
                ),
                Verb(
                    "(uninstall|delete|stop|suspend|purge|drain|destroy|reset|down|rmi?|undefine"
                    "|unregistervm|closemedium|\\w+-delete|prune)",
                    "changes-remote",
                    _CLUSTER,
                    radius="high",
                ),
                Verb("app sync (--force|--prune|--replace)", "changes-remote", _CLUSTER),
            )
        ),
    ),
    **dict.fromkeys(
        ("minikube", "kind", "k3d", "eksctl", "kops", "vagrant", "multipass", "lxc", "incus"),
        verbs(
            (
                Verb(
                    "(delete|destroy|rm|purge)",
                    "deletes",
                    "a machine and all in it goes",
                    radius="high",
                ),
                Verb(
                    "(cluster|nodegroup|node) delete",
                    "deletes",
                    "a machine and all in it goes",
                    radius="high",
                ),
                Verb(
                    "delete (cluster|nodegroup|node)",
                    "deletes",
                    "a machine and all in it goes",
                    radius="high",
                ),
            )
        ),
    ),
}
LIVE: Family = dict.fromkeys(
    ("kubectl", "oc", "k", "helm", "kustomize", "argocd", "helmfile", "skaffold"), _applies
)
"""The same tools once more, where they name production."""
