"""The many programs, variables and arguments through which one command runs another."""

import pytest

from hookline.shell import split

WRAPPED = [
    "uv run", "uv run --with requests -p 3.12", "uv --directory x run --", "uv tool run",
    "uvx", "uvx --from x", "npx", "npx -y -p y", "npm exec --", "npm x", "pnpm exec", "pnpm dlx",
    "yarn exec", "yarn dlx", "yarn run", "bunx", "bun x", "poetry run", "poetry -C x run",
    "pipenv run", "pdm run", "hatch run", "rye run", "pixi run", "conda run -n base", "micromamba run",
    "mise exec --", "mise x node@20 --", "direnv exec .", "bundle exec", "rbenv exec", "pyenv exec",
    "asdf exec", "rustup run stable", "nix develop -c", "nix develop .#x --command", "aws-vault exec p --",
    "aws-vault exec p", "op run --env-file=x --", "doppler run --", "lxc exec c --",
    "distrobox enter x --", "setarch x86_64 -R", "setarch -R", "linux64", "prlimit --nofile=10",
    "setpriv --reuid 1 --clear-groups", "gosu root", "su-exec root", "chpst -u x",
    "bwrap --ro-bind / / --dev /dev --unshare-all", "xvfb-run -a -s '-screen 0'",
    "dbus-run-session --", "firejail --quiet", "proot -r / -b /x", "numactl -N 0",
    "systemd-inhibit --what=sleep", "systemd-nspawn -D /", "valgrind --tool=x", "perf stat -e x",
    "gdb --args", "lldb --", "/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1 --library-path /x",
]  # fmt: skip


@pytest.mark.parametrize("prefix", WRAPPED)
def test_a_program_started_by_a_tool_is_found_with_the_tool_in_front(prefix: str) -> None:
    (command,) = split(f"{prefix} rm -rf x").commands
    assert command.words == ("rm", "-rf", "x")
    assert len(command.wrappers) == 1
    assert command.full[-3:] == command.words
    assert len(command.full) > 3
    assert split(f"{prefix} rm -rf x").plain


CARRIED = [
    "tmux new-session -d 'rm -rf x'", "tmux new -d -s x rm -rf x", "tmux -L s neww 'rm -rf x'",
    "tmux send-keys -t x 'rm -rf x' Enter", "tmux new -d \\; send 'rm -rf x' C-m",
    "tmux new -d sh -c 'rm -rf x'", "tmux neww -n y env -S rm -rf x",
    "tmux -c 'rm -rf x'", "tmux if-shell true 'rm -rf x'", "screen -dm rm -rf x",
    "screen -dmS n bash -c 'rm -rf x'", "screen -S n -X stuff 'rm -rf x\\n'", "at now <<< 'rm -rf x'",
    "batch <<E\nrm -rf x\nE", "crontab <<< '* * * * * rm -rf x'",
    "crontab - <<E\nA=1\n@daily rm -rf x\nE", "ls | entr -s 'rm -rf x'", "nix-shell -p y --run 'rm -rf x'",
    "csh -c 'rm -rf x'", "tcsh -fc 'rm -rf x'", "yash -c 'rm -rf x'", "pwsh -Command 'rm -rf x'",
    "pwsh -NoProfile -c rm -rf x", "pwsh -c <<< 'rm -rf x'", "npx -c 'rm -rf x'",
    "npm exec -c 'rm -rf x'", "mise exec -c 'rm -rf x'", "su root -- -c 'rm -rf x'",
    "sg root -c 'rm -rf x'", "sg root 'rm -rf x'", "capsh --drop=y -- -c 'rm -rf x'",
    "sem -j 1 rm -rf x", "parallel rm -rf ::: x", "parallel 'rm -rf {}' ::: x",
    "parallel rm -rf {} ::: x", "watchexec -e py -- rm -rf x", "hyperfine 'rm -rf x'",
    "hyperfine -w 3 --prepare 'rm -rf x' ls", "kubectl exec p rm -rf x",
    "kubectl -n y exec -it p -c y rm -rf x", "git submodule foreach 'rm -rf x'",
    "git submodule --quiet foreach --recursive rm -rf x", "git bisect run rm -rf x",
    "git rebase -x 'rm -rf x' main", "git rebase main --exec 'rm -rf x'", "git -C y rebase --exec='rm -rf x'",
    "git -c alias.y='!rm -rf x' y", "git filter-branch --tree-filter 'rm -rf x' HEAD",
    "git difftool -x 'rm -rf x'", "vagrant ssh -c 'rm -rf x'", "nodemon --exec 'rm -rf x'",
    "concurrently 'rm -rf x'", "npx concurrently -k -n a,b 'npm:start' 'rm -rf x'",
    "mprocs 'rm -rf x'", "run-p 'rm -rf x'", "start-server-and-test 'rm -rf x' 80 test",
    "chokidar '**/*.js' -c 'rm -rf x'", "onchange 'src/**' -- rm -rf x", "reflex -r y -- rm -rf x",
    "cargo watch -s 'rm -rf x'", "tsc-watch --onSuccess 'rm -rf x'", "lerna exec -- rm -rf x",
    "just --command rm -rf x", "xterm -e 'rm -rf x'", "gnome-terminal -- rm -rf x",
    "cross-env-shell A=b 'rm -rf x'", "doppler run --command 'rm -rf x'",
]  # fmt: skip
VARIABLES = [
    "export X=rm; $X -rf x", "readonly X=rm; $X -rf x", "declare -x X=rm; $X -rf x",
    "typeset X='rm -rf'; $X x", "export -- X=rm\n\"$X\" -rf x",
    "set -- rm -rf x; \"$@\"", "set rm -rf x; $@", "set -e; set -euo pipefail; set -- rm -rf x; \"$@\"",
    "set -- rm -rf x; $1 $2 \"${3}\"", "set -- rm -rf x; \"${@:1}\"", "set -- rm -rf; $* x",
    "set -- rm -rf x; eval '\"$@\"'", "set -- rm -rf x; (\"$@\")", "set -- rm -rf x; echo $(\"$@\")",
    "bash -c '\"$@\"' _ rm -rf x", "sh -c '$0 $1 $2' rm -rf x", "bash -c 'rm \"$@\"' _ -rf x",
    "bash -c 'set -e; \"$@\"' _ rm -rf x", "find . -exec sh -c '\"$@\"' _ rm -rf x \\;",
    "PROMPT_COMMAND='rm -rf x' bash -i", "env PROMPT_COMMAND='rm -rf x' bash -i",
    "sudo -E PAGER='rm -rf x' git log", "export PROMPT_COMMAND='rm -rf x'", "PROMPT_COMMAND='rm -rf x'",
    "PS1='$(rm -rf x)' bash -i", "BASH_ENV='`rm -rf x`' bash y", "GIT_SSH_COMMAND='rm -rf x' git fetch",
]  # fmt: skip


@pytest.mark.parametrize("text", [*CARRIED, *VARIABLES])
def test_the_command_is_found_however_it_is_started(text: str) -> None:
    assert "rm -rf x" in [command.text for command in split(text).commands]


@pytest.mark.parametrize(
    "text",
    [
        "export X=ls; $X -l", "export X=ls; echo $X", "set -- ls -l; \"$@\"", "bash -c '$0' ls",
        "bash -c 'ls \"$1\"' _ a",
    ],
)  # fmt: skip
def test_a_value_that_another_command_set_is_no_ground_for_a_grant(text: str) -> None:
    result = split(text)
    assert result.assumes
    assert not result.plain


@pytest.mark.parametrize(
    "text",
    [
        "declare -i X=rm; $X y", "declare -u X=rm; $X y", "export X=$y; $X", "false && export X=rm; $X y",
        "export X=rm | cat; $X y", "export X=rm; unset X; $X y", "export X=rm X=ls; $X y", "\"$@\"", "$1 x",
        "false && set -- rm; $1 x", "set -e; $1 x", "set -o pipefail; $1", "bash -c '$2' _ $1",
        "bash -c '$1' _ \"$x\"", "f() { \"$@\"; }; set -- ls; f rm", "set -- ls; shift; \"$@\"",
    ],
)  # fmt: skip
def test_a_program_in_a_variable_of_doubtful_value_stays_unreadable(text: str) -> None:
    assert split(text).unreadable


@pytest.mark.parametrize(
    "text",
    [
        "uv sync", "uv run", "uv run -m pytest", "uv tool list", "npm run build", "npm ci", "npx",
        "poetry install", "conda activate x", "nix develop", "nix build x", "gdb x", "perf report",
        "tmux ls", "tmux attach -t x", "tmux", "screen -ls", "screen -r x", "at -l", "crontab -l",
        "crontab file", "git rebase main", "git submodule update", "git submodule foreach", "git bisect good",
        "git -c user.name=x commit", "git", "hyperfine", "watchexec", "sg x", "capsh", "pwsh",
        "kubectl exec p", "kubectl get exec", "setarch", "bwrap --ro-bind / /", "prlimit -p 1",
        "export A=1", "mise install", "aws-vault list", "lldb x", "nodemon x", "entr",
        "concurrently npm:test", "run-s build:x test:x", "cargo build -s x", "lerna run x", "just x",
    ],
)  # fmt: skip
def test_a_tool_that_starts_nothing_stands_alone(text: str) -> None:
    (command,) = split(text).commands
    assert command.text == text
    assert command.wrappers == ()
    assert split(text).plain


def test_what_entr_runs_gets_words_that_the_text_does_not_show() -> None:
    command = split("ls | entr rm -rf x").commands[1]
    assert command.words == ("rm", "-rf", "x")
    assert not command.exact


def test_many_arguments_of_parallel_make_many_commands() -> None:
    found = [c.text for c in split("parallel -j4 rm {} ::: a b").commands if c.depth]
    assert found == ["rm a", "rm b"]
