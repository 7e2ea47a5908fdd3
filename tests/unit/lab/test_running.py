"""Running a client: bounded in time and output, spoken with or left alone."""

import os
import sys
from collections.abc import Iterator

import pytest

from hookline.lab.isolation import Place, place
from hookline.lab.ports import Dialogue, Launch
from hookline.lab.running import CAP, Ran, run
from hookline.model.errors import HooklineError

ENV = {"PATH": os.environ["PATH"]}


@pytest.fixture
def where() -> Iterator[Place]:
    with place(isolate=False) as there:
        yield there


def shell(there: Place, words: str, *, stdin: bytes = b"", timeout: float = 60) -> Ran:
    """Run a shell's words to their end."""
    launch = Launch(argv=("/bin/sh", "-c", words), env=ENV, stdin=stdin, timeout=timeout)
    return run(there, launch, "/")


def test_what_a_client_says_and_how_it_ended_is_kept(where: Place) -> None:
    ran = shell(where, "cat; echo oops >&2; exit 3", stdin=b"a prompt")
    assert (ran.exit_code, ran.stdout, ran.stderr, ran.cut) == (3, b"a prompt", b"oops\n", "")


def test_a_client_that_a_signal_ended_has_a_negative_exit_code(where: Place) -> None:
    assert shell(where, "kill -SEGV $$").exit_code == -11


def test_a_client_that_hangs_is_ended_at_its_limit_and_what_it_said_is_kept(where: Place) -> None:
    ran = shell(where, "echo working; exec sleep 600", timeout=0.5)
    assert ran.exit_code is None
    assert ran.stdout == b"working\n"
    assert ran.cut == "it took longer than 0.5 seconds"


def test_a_client_that_ignores_being_asked_to_end_is_killed(where: Place) -> None:
    ran = shell(where, "trap '' TERM; echo deaf; while :; do sleep 1; done", timeout=0.5)
    assert ran.exit_code is None
    assert ran.stdout == b"deaf\n"


def test_a_client_that_never_stops_talking_is_ended_and_kept_to_the_cap(where: Place) -> None:
    ran = shell(where, "exec yes")
    assert ran.exit_code is None
    assert ran.cut == "it wrote more than 20 MB"
    assert len(ran.stdout) == CAP


def test_a_client_that_does_not_read_its_input_is_not_waited_for(where: Place) -> None:
    assert shell(where, "exit 0", stdin=b"x" * 1_000_000).exit_code == 0


def test_more_input_than_a_pipe_holds_reaches_a_client_that_answers_as_it_reads(
    where: Place,
) -> None:
    text = b"x" * 3_000_000
    assert shell(where, "cat", stdin=text).stdout == text


def test_a_helper_that_keeps_the_clients_output_open_does_not_keep_us(where: Place) -> None:
    ran = shell(where, "setsid sleep 600 & echo done")
    assert ran.exit_code == 0
    assert ran.stdout == b"done\n"


ECHO = """
import sys
for line in sys.stdin:
    print("heard", line.strip(), flush=True)
print("bye", flush=True)
"""


def spoken(there: Place, script: str, talk: object, timeout: float = 60) -> Ran:
    """A conversation with a small program."""
    argv = (sys.executable, "-I", "-S", "-c", script)
    return run(there, Launch(argv=argv, env=ENV, timeout=timeout, talk=talk), "/")  # type: ignore[arg-type]


def test_a_client_can_be_spoken_with_line_by_line(where: Place) -> None:
    heard: list[bytes] = []

    def talk(client: Dialogue) -> None:
        for word in (b"one", b"two"):
            client.write(word + b"\n")
            heard.append(client.readline())

    ran = spoken(where, ECHO, talk)
    assert heard == [b"heard one\n", b"heard two\n"]
    assert ran.exit_code == 0
    assert ran.stdout == b"heard one\nheard two\nbye\n"


def test_the_last_line_of_a_client_is_followed_by_an_empty_one(where: Place) -> None:
    heard: list[bytes] = []

    def talk(client: Dialogue) -> None:
        heard.extend((client.readline(), client.readline()))

    spoken(where, "print('only', end='')", talk)
    assert heard == [b"only", b""]


def test_a_client_that_never_answers_is_an_error_at_the_limit_and_is_ended(where: Place) -> None:
    def talk(client: Dialogue) -> None:
        client.readline()

    with pytest.raises(HooklineError, match=r"did not answer within 0\.5 seconds"):
        spoken(where, "import time; time.sleep(600)", talk, timeout=0.5)


def test_speaking_to_a_client_that_has_ended_is_an_error(where: Place) -> None:
    def talk(client: Dialogue) -> None:
        assert client.readline() == b""
        while True:  # it has closed its output, and closes its input in the same breath
            client.write(b"anybody there?\n")

    with pytest.raises(HooklineError, match="no longer reads its input"):
        spoken(where, "", talk)


def test_a_client_before_a_terminal_draws_asks_and_is_answered(where: Place) -> None:
    words = "[ -t 0 ] && [ -t 1 ] && printf 'sure? ' && read answer < /dev/tty && echo got $answer"

    def talk(client: Dialogue) -> None:
        assert client.read_until(b"sure? ") == b"sure? "
        client.write(b"yes\r")
        client.read_until(b"got yes")

    launch = Launch(argv=("/bin/sh", "-c", words), env=ENV, timeout=60, terminal=True, talk=talk)
    ran = run(where, launch, "/")
    assert ran.exit_code == 0
    assert ran.stdout.endswith(b"got yes\r\n")


def test_ctrl_c_at_the_terminal_reaches_the_client(where: Place) -> None:
    words = "trap 'echo stopped; exit 9' INT; echo ready; while :; do sleep 0.1; done"

    def talk(client: Dialogue) -> None:
        client.read_until(b"ready")
        client.write(b"\x03")
        client.read_until(b"stopped")

    launch = Launch(argv=("/bin/sh", "-c", words), env=ENV, timeout=60, terminal=True, talk=talk)
    assert run(where, launch, "/").exit_code == 9


def test_a_client_that_ends_without_the_word_that_was_waited_for_is_an_error(where: Place) -> None:
    def talk(client: Dialogue) -> None:
        client.read_until(b"welcome")

    with pytest.raises(HooklineError, match="ended without saying b'welcome'"):
        spoken(where, "print('go away')", talk)
