"""Programs that only run another one are set aside."""

import pytest

from hookline.shell import split


@pytest.mark.parametrize(
    ("prefix", "wrappers"),
    [
        ("sudo", ("sudo",)),
        ("/usr/bin/sudo", ("sudo",)),
        ("'su'do", ("sudo",)),
        ("sudo -n", ("sudo",)),
        ("sudo -u root", ("sudo",)),
        ("sudo -uroot", ("sudo",)),
        ("sudo -nu root -E --", ("sudo",)),
        ("sudo --user=root --group staff", ("sudo",)),
        ("sudo A=1 B=2", ("sudo",)),
        ("doas -u root", ("doas",)),
        ("pkexec --user root", ("pkexec",)),
        ("env", ("env",)),
        ("env -i -u X -C /tmp A=1 B=", ("env",)),
        ("env --unset=X --chdir /tmp -", ("env",)),
        ("timeout 5", ("timeout",)),
        ("timeout -s KILL -k 3 --foreground 5m", ("timeout",)),
        ("nice", ("nice",)),
        ("nice -n 10", ("nice",)),
        ("nice -10", ("nice",)),
        ("ionice -c 3", ("ionice",)),
        ("ionice -c2 -n7", ("ionice",)),
        ("chrt -f 50", ("chrt",)),
        ("taskset -c 0-3", ("taskset",)),
        ("nohup", ("nohup",)),
        ("setsid -w", ("setsid",)),
        ("stdbuf -oL -e 0", ("stdbuf",)),
        ("time", ("time",)),
        ("time -p", ("time",)),
        ("/usr/bin/time -f %e -o", ()),
        ("command", ("command",)),
        ("command -p", ("command",)),
        ("builtin", ("builtin",)),
        ("exec", ("exec",)),
        ("exec -a name", ("exec",)),
        ("coproc", ("coproc",)),
        ("chroot --userspec=a:b /mnt", ("chroot",)),
        ("unshare -r", ("unshare",)),
        ("nsenter -t 1 -m", ("nsenter",)),
        ("fakeroot", ("fakeroot",)),
        ("unbuffer -p", ("unbuffer",)),
        ("strace -f -e trace=file -o log", ("strace",)),
        ("ltrace -o log", ("ltrace",)),
        ("caffeinate -i -t 60", ("caffeinate",)),
        ("busybox", ("busybox",)),
        ("toybox", ("toybox",)),
        ("flock -w 5 /tmp/lock", ("flock",)),
        ("systemd-run --user -p CPUQuota=5% --unit x", ("systemd-run",)),
        ("not", ("not",)),
        ("repeat 3", ("repeat",)),
        ("sudo -u x env A=1 timeout 5 nice", ("sudo", "env", "timeout", "nice")),
    ],
)
def test_a_wrapper_is_stripped_with_its_own_arguments(
    prefix: str, wrappers: tuple[str, ...]
) -> None:
    text = f"{prefix} rm -rf x" if wrappers else f"{prefix} log rm -rf x"
    (command,) = split(text).commands
    assert command.words == ("rm", "-rf", "x")
    assert command.wrappers == (wrappers or ("time",))
    assert command.full[-3:] == ("rm", "-rf", "x")
    assert len(command.full) > 3
    assert command.exact
    assert split(text).plain


@pytest.mark.parametrize(
    "text",
    [
        "sudo", "sudo -l rm", "sudo -e file", "sudo -u root", "env", "env A=1", "timeout 5",
        "command -v rm", "command -V rm", "exec", "nice", "time", "flock 9", "taskset -p 1",
        "ionice -p 1", "xargs", "busybox", "chrt -p 1",
    ],
)  # fmt: skip
def test_a_wrapper_that_runs_nothing_is_a_command_of_its_own(text: str) -> None:
    (command,) = split(text).commands
    assert command.text == text
    assert command.wrappers == ()


@pytest.mark.parametrize(
    ("string", "words"),
    [
        ("env -S 'rm -rf x'", ("rm", "-rf", "x")),
        ("env -iS 'A=1 rm -rf' x", ("rm", "-rf", "x")),
        ("env '-Srm -rf' x", ("rm", "-rf", "x")),
        ("env --split-string='rm \"a b\"'", ("rm", "a b")),
        ('env -S "rm it\'s"', ("rm", "it's")),
        # The words after the string belong to the program in it.
        ("env -S rm -C ~ -rf", ("rm", "-C", "~", "-rf")),
        ("env -i -S rm -u x", ("rm", "-u", "x")),
        ("env -vS rm -S x", ("rm", "-S", "x")),
        ("env --split-string rm -i x", ("rm", "-i", "x")),
        ("env --split-string='rm -i' -u x", ("rm", "-i", "-u", "x")),
        ("env --sp rm A=1", ("rm", "A=1")),
        # Options and variables of env go on in the string, and after it until there is a program.
        ("env -S '-u A -C /tmp B=1 rm' -u x", ("rm", "-u", "x")),
        ("env -S -i -u A B=1 rm -u x", ("rm", "-u", "x")),
        ("env -S '' -C / rm -C x", ("rm", "-C", "x")),
        ("env -S A=1 B=2 rm -S x", ("rm", "-S", "x")),
        ("env -S '-iS \"rm -f\"' -S x", ("rm", "-f", "-S", "x")),
        ("env -S -- rm -S x", ("rm", "-S", "x")),
        # Its quoting is its own.
        ("env -S 'rm\\_-rf\\_\"a\\_b\"'", ("rm", "-rf", "a b")),
        (r"env -S 'rm a#b #c' d", ("rm", "a#b", "d")),
        (r"env -S 'rm\c x' d", ("rm", "d")),
        (r"""env -S "rm 'a\_\'b' \"\"" d""", ("rm", r"a\_'b", "", "d")),
    ],
)
def test_env_splits_its_string_into_words(string: str, words: tuple[str, ...]) -> None:
    (command,) = split(string).commands
    assert command.words == words
    assert command.exact


def test_a_variable_that_env_puts_into_its_string_makes_the_command_inexact() -> None:
    (command,) = split("env -S 'rm ${A}'").commands
    assert command.words == ("rm", "${A}")
    assert not command.exact


@pytest.mark.parametrize(
    "options",
    [
        "",
        "-0",
        "-n1",
        "-n 1",
        "-P 4 -t",
        "-I{}",
        "-I {}",
        "-i",
        "--max-args 3",
        "--replace=X",
        "-a f",
    ],
)
def test_what_xargs_runs_is_found_but_never_exact(options: str) -> None:
    command = split(f"ls | xargs {options} rm -f").commands[1]
    assert command.words == ("rm", "-f")
    assert command.wrappers == ("xargs",)
    assert not command.exact


@pytest.mark.parametrize(
    "text",
    [
        "ls | xargs -I{} {} x",
        "ls | xargs -I X sh -c 'rm X'",
        "ls | xargs -i sh -c 'rm {}'",
        "ls | xargs --replace=@ bash -c 'rm @'",
        "ls | xargs sh -c",
        "ls | xargs sh",
        "sudo $flags rm x",
        'env -S "$x"',
        "env -S '${A} x'",
    ],
)
def test_input_that_becomes_code_is_unreadable(text: str) -> None:
    assert split(text).unreadable


def test_an_expansion_among_the_arguments_of_a_wrapper_makes_the_command_inexact() -> None:
    (command,) = split('sudo -u "$who" rm x').commands
    assert command.words == ("rm", "x")
    assert not command.exact
    assert not split('sudo -u "$who" rm x').unreadable


def test_time_before_an_assignment_is_the_keyword_which_is_no_wrapper() -> None:
    (command,) = split("time -p A=1 rm -rf x").commands
    assert command.words == ("rm", "-rf", "x")
    assert command.wrappers == ()
