"""What is removed decides: homes and systems never, builds always, the rest is asked about."""

from collections.abc import Callable

import pytest

from hookline.model.answers import Answer, Verdict

Guard = Callable[..., Answer]


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "rm -rf ~",
        "rm -r -f ~/",
        "rm -rf /etc",
        "rm -rf /usr/local/lib",
        "rm -rf ~/Documents",
        "rm -rf ~/.ssh",
        "rm -rf .",
        "rm -rf *",
        "rm -rf .git",
        "rm -rf ..",
        "rm -rf ../project",
        "rm -f /etc/hosts",
        "unlink /etc/resolv.conf",
        "find / -delete",
        "find ~ -name '*.txt' -delete",
        "find /var -name '*.db' | xargs rm",
        "shred -u README.md",
        "rsync -a --delete empty/ /etc/",
        "tar --remove-files -cf x.tar ~/Documents",
        "rm -rf /ho?e/*",
        "rm -rf /{etc,usr}",
    ],
)
def test_what_nothing_brings_back_is_denied(guard: Guard, command: str) -> None:
    answer = guard(command)
    assert answer.verdict is Verdict.DENY, answer
    assert answer.metadata["category"] == "deletes"
    assert answer.metadata["blast_radius"] == "high"


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf src",
        "rm -rf docs",
        "rm src/*.py",
        'rm -rf "$UNKNOWN"',
        'rm -rf "$UNKNOWN"/*',
        "rm .env",
        "find . -type f -not -name '*.py' -delete",
        "git ls-files | xargs rm",
        "ls | xargs rm -rf",
        "xargs rm < list.txt",
        "find . | parallel rm",
        "rm a b c d e f g h i j",
        "truncate -s 0 README.md",
        "rmdir /opt/thing",
    ],
)
def test_what_may_be_meant_is_asked_about(guard: Guard, command: str) -> None:
    assert guard(command).verdict in (Verdict.ASK, Verdict.DENY)


@pytest.mark.parametrize(
    "command",
    [
        "rm notes.txt",
        "rm -f *.log",
        "rm -rf build dist node_modules",
        "rm -rf ./target __pycache__ *.egg-info",
        "rm -rf /tmp/build-1234",
        "rm -rf ~/.cache/thing",
        'rm -rf "$(mktemp -d)"',
        "T=$(mktemp -d); rm -rf $T",
        "rm -rf build/../dist",
        "find . -name '*.pyc' -delete",
        "find . -name __pycache__ -type d -exec rm -rf {} +",
        "find . -name '*.orig' -print0 | xargs -0 rm -f",
        "find build -type f -delete",
        "for f in a.tmp b.tmp; do rm -f $f; done",
        "truncate -s +1M build/blob",
        "shred -u /tmp/key",
        "rsync -a --delete docs/ build/docs/",
        "rsync -n -a --delete empty/ ~/",
        "rm --help",
        "rmdir empty",
    ],
)
def test_what_is_made_again_or_left_over_passes(guard: Guard, command: str) -> None:
    assert guard(command).verdict is Verdict.PASS


def test_a_removal_on_another_machine_is_asked_about(guard: Guard) -> None:
    assert guard("ssh web rm -rf app").metadata["category"] == "changes-remote"
    assert guard("docker exec web rm -rf /data").verdict is Verdict.ASK
    assert guard("ssh web rm -rf /tmp/x").verdict is Verdict.PASS
