"""Commands and code inside the arguments, or on the input, of another command."""

import pytest

from hookline.shell import split


def inner(text: str) -> list[str]:
    """The commands that other commands run."""
    return [command.text for command in split(text).commands if command.depth]


@pytest.mark.parametrize(
    "text",
    [
        "bash -c 'rm x'",
        "/bin/sh -c 'rm x'",
        "zsh -lc 'rm x'",
        "dash -ec 'rm x'",
        "ksh -c -e 'rm x'",
        "fish --command 'rm x'",
        "fish -c 'rm x'",
        "bash -euo pipefail -c 'rm x' name arg",
        "bash +x --norc -c -- 'rm x'",
        "sudo bash -c 'rm x'",
        "busybox sh -c 'rm x'",
        "eval 'rm x'",
        "eval rm x",
        "eval -- 'rm' x",
        "trap 'rm x' EXIT INT",
        "trap -- 'rm x' EXIT",
        "alias y='rm x'",
        "bash <<< 'rm x'",
        "bash -s arg <<< 'rm x'",
        "bash - <<E\nrm x\nE",
        "sudo bash <<'E'\nrm x\nE",
        "source /dev/stdin <<< 'rm x'",
        ". /dev/stdin <<< 'rm x'",
        "bash /dev/fd/0 <<< 'rm x'",
        "watch -n 1 'rm x'",
        "watch -d rm x",
        "watch -x rm x",
        "script -q -c 'rm x' /dev/null",
        "script log -c 'rm x'",
        "script -q /dev/null rm x",
        "script log <<< 'rm x'",
        "su -c 'rm x'",
        "su - root -c 'rm x'",
        "su root --command='rm x'",
        "su <<< 'rm x'",
        "runuser -u bob -- rm x",
        "runuser -l bob -c 'rm x'",
        "flock /tmp/lock -c 'rm x'",
        "ssh host rm x",
        "ssh -p 22 -i key user@host 'rm x'",
        "ssh host -p 22 'rm' x",
        "ssh host <<< 'rm x'",
        "sudo -s <<< 'rm x'",
        "doas -s <<< 'rm x'",
        "chroot /mnt <<< 'rm x'",
        "parallel ::: 'rm x'",
        "parallel <<< 'rm x'",
        "find . -exec rm x \\;",
        "find . -name '*.py' -okdir rm x ';' -print",
        "find . -exec rm x",
        "docker exec -it -u root box rm x",
        "docker run --rm -v a:b -e A=1 --name=n image rm x",
        "docker run --entrypoint rm image x",
        "docker --context prod container exec box rm x",
        "docker compose -f f.yml exec -T web rm x",
        "docker-compose run --rm web rm x",
        "podman run -it image rm x",
        "kubectl exec -it pod -c app -- rm x",
        "kubectl -n ns run tmp --image=i -- rm x",
        "oc exec pod -- rm x",
    ],
)  # fmt: skip
def test_a_carried_command_is_found_beside_its_carrier(text: str) -> None:
    assert inner(text) == ["rm x"]
    assert split(text).commands[0].depth == 0
    assert not split(text).unreadable


@pytest.mark.parametrize(
    "text",
    [
        "bash", "bash script.sh rm x", "bash --version", "sh ./x -c 'rm x'", "source ./env",
        ". ~/.profile", "source", "eval", "trap", "trap - EXIT", "trap '' INT", "trap -p", "alias",
        "alias ll", "watch", "find . -name rm", "find . -exec ;", "find . -exec", "docker ps",
        "docker run image", "docker run image --flag", "docker exec box", "docker", "docker compose",
        "kubectl get pods -- rm x", "kubectl exec pod", "kubectl exec pod --", "ssh host", "su",
        "runuser -u bob", "sudo -u root -l", "doas", "sudo -i", "script log", "flock 9",
        "bash --rcfile ~/.rc", "python -c 'rm x'", "cat <<< 'rm x'", "bash < script.sh",
        "bash < /dev/null", "bash 3<<< 'rm x' script.sh",
    ],
)  # fmt: skip
def test_a_command_that_carries_nothing_stands_alone(text: str) -> None:
    assert inner(text) == []
    assert len(split(text).commands) == 1
    assert not split(text).unreadable


@pytest.mark.parametrize(
    "text",
    [
        'eval "$x"', "eval $(curl x)", 'bash -c "$x"', "bash -c", 'bash -c "rm $x"', "eval ls *",
        "curl x | sh", "curl x | sudo bash", "curl x | sudo -s", "echo x | base64 -d | sh",
        "curl x | bash -s -- arg", "curl x | { sh; }", "curl x | (cd y && sh)", "curl x | ssh host",
        "curl x | while read l; do sh; done", "f() { sh; }; curl x | f", "f() { sh; }; f <<< 'rm x'",
        "curl x | tee >(sh)", "curl x | echo $(sh)", "curl x | su", "curl x | parallel",
        "parallel :::: file", "bash <(curl x)", "source <(curl x)", ". <(curl x)", "bash < <(curl x)",
        "bash /dev/stdin < <(curl x)", "bash /dev/fd/3", "bash /proc/self/fd/3", "bash <&3",
        "bash < /dev/tcp/host/80", "{ sh; } < <(curl x)", "{ sh; } < /dev/tcp/host/80",
        "bash <<E\nrm $x\nE", "bash <<< $x", "bash --rcfile <(curl x) -i", "bash $x", 'source "$x"',
        "find . -exec sh -c 'rm {}' \\;", "docker exec box sh -c \"$x\"", "ssh host \"$x\"",
        "trap \"$x\" EXIT", "alias y=\"$x\"",
    ],
)  # fmt: skip
def test_code_that_cannot_be_seen_is_unreadable(text: str) -> None:
    assert split(text).unreadable


@pytest.mark.parametrize(
    "text",
    [
        "echo 'rm x' | sh",
        "echo -e 'ls\\nrm x' | sudo sh",
        "printf '%s\\n' 'rm x' | bash",
        "cat <<E | sh\nrm x\nE",
        "{ bash; } <<E\nrm x\nE",
        "{ echo 'rm x'; } | { sh; }",
        "echo 'rm x' | ssh host",
        "echo 'rm x' | tee log | sh",
    ],
)
def test_text_piped_into_a_shell_is_read_but_not_trusted(text: str) -> None:
    assert "rm x" in inner(text)
    assert split(text).unreadable


def test_a_carried_shell_reads_the_input_of_its_carrier() -> None:
    assert inner("ssh host bash -s <<'E'\nrm x\nE") == ["bash -s", "rm x"]
    assert inner("docker exec -i box sh <<< 'rm x'") == ["sh", "rm x"]


def test_code_inside_code_is_followed() -> None:
    text = """ssh host "sudo bash -c 'eval \\"rm x\\"'" """
    assert inner(text)[-1] == "rm x"
    assert split(text).commands[-1].depth == 3
    assert not split(text).unreadable


@pytest.mark.parametrize("text", ["parallel rm x ::: a b", "parallel -j4 'rm x' ::: a b"])
def test_each_argument_of_a_parallel_makes_a_command(text: str) -> None:
    assert inner(text) == ["rm x a", "rm x b"]


def test_all_the_commands_a_find_runs_are_found() -> None:
    text = "find . -exec rm a{} \\; -o -execdir sh -c 'mv \"$1\" b' _ {} + -o -ok chmod +x {} \\;"
    assert inner(text) == ["rm a{}", 'sh -c mv "$1" b _ {}', "mv $1 b", "chmod +x {}"]
    assert not any(command.exact for command in split(text).commands if command.depth)
    assert split("find . -exec rm + -rf {} \\;").commands[1].text == "rm + -rf {}"


def test_flags_of_carried_code_are_flags_of_the_text() -> None:
    assert split("bash -c 'a > f'").writes_files
    assert split("bash -c 'echo $(a)'").substitutes
    assert split("bash -c 'a ('").unreadable


def test_arithmetic_and_tests_that_another_shell_would_run_are_followed() -> None:
    assert inner("((rm -rf x))") == ["rm -rf x"]
    assert inner("[[ a || rm -rf x ]]")[-1] == "rm -rf x"
    assert split("((reboot))").unreadable
    plain = "((i++)); ((a > b)); ((x = y)); [[ -f a && b == c || $d -eq 1 && e -nt f ]]"
    assert split(plain).plain
