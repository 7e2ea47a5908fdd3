"""docker-agent's table of shell commands: what destroys what, how badly, and what is safe.

``<x>`` stands for one word, ``...`` for any rest.
"""

from collections.abc import Mapping, Sequence

__all__ = ["DESTRUCTIVE", "SAFE"]

DESTRUCTIVE: Mapping[str, Sequence[tuple[str, str]]] = {
    "fs-delete": (
        ("rm -rf <path>", "HIGH"),
        ("rm -r <path>", "HIGH"),
        ("rm -R <path>", "HIGH"),
        ("rm -f <file>", "MEDIUM"),
        ("rm <file>", "LOW"),
        ("rmdir <path>", "LOW"),
        ("find <path> -delete", "HIGH"),
        ("find <path> -exec rm {} \\;", "HIGH"),
    ),
    "fs-secure-delete": (("shred <file>", "HIGH"), ("shred -u <file>", "HIGH")),
    "fs-overwrite": (
        ("dd if=/dev/zero of=<file>", "HIGH"),
        ("> <file>", "MEDIUM"),
        ("truncate -s 0 <file>", "MEDIUM"),
    ),
    "block-device": (
        ("dd if=... of=/dev/<disk>", "HIGH"),
        ("mkfs.<fs> <device>", "HIGH"),
        ("mkfs -t <fs> <device>", "HIGH"),
        ("wipefs <device>", "HIGH"),
    ),
    "fs-modify": (
        ("mv -f <source> <dest>", "MEDIUM"),
        ("mv <source> <dest>", "MEDIUM"),
        ("cp -f <source> <dest>", "MEDIUM"),
        ("cp -rf <source> <dest>", "MEDIUM-HIGH"),
        ("rsync --delete <source> <dest>", "HIGH"),
        ("ln -sf <target> <link>", "LOW-MEDIUM"),
    ),
    "fs-permissions": (
        ("chmod -R 000 <path>", "MEDIUM"),
        ("chown -R <user> <path>", "MEDIUM"),
        ("chmod -R 777 <path>", "LOW"),
    ),
    "dk-volume-del": (
        ("docker volume rm <name>", "HIGH"),
        ("docker volume prune", "MEDIUM"),
        ("docker volume prune -f", "MEDIUM"),
        ("docker volume prune --force", "MEDIUM"),
    ),
    "dk-container-del": (
        ("docker container rm <id>", "MEDIUM"),
        ("docker container rm -v <id>", "HIGH"),
        ("docker rm -fv <id>", "HIGH"),
        ("docker rm -f -v <id>", "HIGH"),
        ("docker container prune", "LOW-MEDIUM"),
    ),
    "dk-image-del": (
        ("docker image rm <image>", "LOW-MEDIUM"),
        ("docker rmi <image>", "LOW-MEDIUM"),
        ("docker image prune", "LOW"),
        ("docker image prune -a", "MEDIUM"),
    ),
    "dk-network-del": (
        ("docker network rm <name>", "LOW-MEDIUM"),
        ("docker network prune", "LOW-MEDIUM"),
    ),
    "dk-multi-del": (
        ("docker system prune", "MEDIUM"),
        ("docker system prune -a", "MEDIUM-HIGH"),
        ("docker system prune --volumes", "HIGH"),
        ("docker system prune -af --volumes", "HIGH"),
    ),
    "dk-build-cache": (
        ("docker buildx prune", "MEDIUM"),
        ("docker buildx prune --all", "MEDIUM-HIGH"),
    ),
    "dk-compose": (
        ("docker compose down", "LOW-MEDIUM"),
        ("docker compose down -v", "HIGH"),
        ("docker compose down --volumes", "HIGH"),
        ("docker compose down --volumes --remove-orphans", "HIGH"),
        ("docker compose rm -v <service>", "MEDIUM-HIGH"),
    ),
    "dk-context": (("docker context rm <name>", "LOW"),),
    "dk-plugin": (("docker plugin rm <name>", "MEDIUM"),),
    "dk-runtime": (("docker stop $(docker ps -q)", "LOW-MEDIUM"), ("docker kill <id>", "LOW")),
    "dk-exec-host": (("docker exec <container> rm -rf <path>", "HIGH"),),
    "dk-bind-mount": (
        ("docker run --rm -v $(pwd):<dir> <image> rm -rf <path>", "HIGH"),
        ("docker run --rm -v /:/host <image> <command>", "HIGH"),
    ),
}

SAFE: Mapping[str, Sequence[str]] = {
    "fs-read": (
        *("ls", "ls <path>", "ls -<flags>", "ls -<flags> <path>", "cat <file>", "head <file>"),
        *("head -n <n> <file>", "tail <file>", "tail -n <n> <file>", "pwd", "stat <file>"),
        *("file <file>", "wc <file>", "wc -l <file>", "df", "df -h", "du -sh <path>"),
        *("tree", "tree <path>"),
    ),
    "text-read": ("grep ...", "rg ...", "sort <file>", "uniq <file>"),
    "proc-read": (
        *("ps", "ps -<flags>", "ps aux", "top -n 1", "whoami", "hostname", "uname"),
        *("uname -<flags>", "date", "env", "printenv", "printenv <variable>", "which <command>"),
        "type <command>",
    ),
    "git-read": (
        *("git status", "git status ...", "git diff", "git diff ...", "git log", "git log ..."),
        *("git show", "git show ...", "git branch", "git remote", "git remote -v"),
        *("git rev-parse ...", "git config --list", "git config --get <key>", "git blame <file>"),
    ),
    "dk-read": (
        *("docker ps", "docker ps ...", "docker images", "docker images ..."),
        *("docker inspect <id>", "docker inspect <id> ...", "docker logs <id>"),
        *("docker logs <id> ...", "docker stats --no-stream", "docker top <container>"),
        *("docker version", "docker info", "docker system df"),
    ),
    "k8s-read": (
        *("kubectl get ...", "kubectl describe ...", "kubectl logs ...", "kubectl top ..."),
        *("kubectl version", "kubectl version ...", "kubectl config view"),
    ),
    "io": ("echo", "echo ...", "printf ...", "basename <path>", "dirname <path>"),
}
