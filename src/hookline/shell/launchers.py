"""Finds what schedulers, terminals and project tools have run: code given in their arguments."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from hookline.shell.fields import Field, joined
from hookline.shell.inner import Argv, Code, Inner, Stdin, Words
from hookline.shell.options import Options, parse
from hookline.shell.quoting import ansi_c

__all__ = ["LAUNCHERS"]


def _valued(options: str) -> Options:
    return Options(frozenset(options.split()))


# -- later, or elsewhere


def _at(words: Words) -> Iterator[Inner]:
    parsed = parse(words, _valued("-f -q -t"))
    if not parsed.has("-f", "-l", "-c", "-r", "-d"):
        yield Stdin()


def _crontab(words: Words) -> Iterator[Inner]:
    parsed = parse(words, _valued("-u"))
    operands = words[parsed.operands :]
    if parsed.found[-1:] != (("-l", None),) and (not operands or operands[0].text == "-"):
        yield Stdin(scheduled=True)


_TMUX = _valued("-c -f -L -S -T")
_TMUX_COMMANDS = {
    **dict.fromkeys(("new-session", "new"), _valued("-c -e -F -f -n -s -t -x -y")),
    **dict.fromkeys(("new-window", "neww"), _valued("-c -e -F -n -t")),
    **dict.fromkeys(("split-window", "splitw"), _valued("-c -e -F -l -p -t")),
    **dict.fromkeys(
        ("respawn-pane", "respawnp", "respawn-window", "respawnw"), _valued("-c -e -t")
    ),
    **dict.fromkeys(("display-popup", "popup"), _valued("-b -c -d -e -h -s -S -t -T -w -x -y")),
    **dict.fromkeys(("run-shell", "run"), _valued("-c -d -t")),
    **dict.fromkeys(("if-shell", "if", "pipe-pane", "pipep"), _valued("-t")),
    **dict.fromkeys(("send-keys", "send"), _valued("-c -N -t")),
}
# These make one text of their words; the others start the first word, unless it stands alone.
_TMUX_JOINS = frozenset({"send-keys", "send", "run-shell", "run", "pipe-pane", "pipep"})
_KEYS = frozenset({"Enter", "C-m", "C-j", "KPEnter", "Space"})


def _tmux(words: Words) -> Iterator[Inner]:
    parsed = parse(words, _TMUX)
    code = parsed.value("-c")
    if code is not None:
        yield Code(code)
    for separates, command in groupby(words[parsed.operands :], lambda word: word.text == ";"):
        if not separates:
            yield from _tmux_command(list(command))


def _tmux_command(words: Words) -> Iterator[Inner]:
    options = _TMUX_COMMANDS.get(words[0].text)
    if options is None:
        return
    given = words[parse(words, options).operands :]
    typed = [word for word in given if word.text not in _KEYS]
    if words[0].text in ("if", "if-shell"):
        yield from (Code(word) for word in typed)
    elif typed:
        yield Code(joined(typed))
        if len(given) > 1 and words[0].text not in _TMUX_JOINS:
            yield Argv(given)


def _screen(words: Words) -> Iterator[Inner]:
    parsed = parse(words, _valued("-c -e -h -p -s -S -t -T"))
    operands = words[parsed.operands :]
    if parsed.has("-X"):
        typed = [Field(ansi_c(text), exact) for text, exact in operands[1:]]
        yield from [Code(joined(typed))] if typed else []
    elif operands and not parsed.has("-r", "-R", "-x", "-ls"):
        yield Argv(operands)


# -- code in one argument


def _value_of(options: str, others: str = "") -> Callable[[Words], Iterator[Inner]]:
    """Code is the value of any of ``options``, wherever it stands."""
    names = frozenset(options.split())
    syntax = Options(names | frozenset(others.split()))

    def find(words: Words) -> Iterator[Inner]:
        at = 1
        while at < len(words):
            parsed = parse(words, syntax, at)
            for name, value in parsed.found:
                if name in names and value is not None:
                    yield Code(value)
            at = parsed.operands + 1

    return find


def _group(words: Words) -> Iterator[Inner]:
    """``sg GROUP -c CODE``, in which ``-c`` may be left out."""
    operands = [word for word in words[1:] if word.text not in ("-", "-c")]
    if len(operands) > 1:
        yield Code(operands[1])


def _capsh(words: Words) -> Iterator[Inner]:
    at = next((at for at, word in enumerate(words) if word.text in ("--", "==")), None)
    if at is not None:
        yield Argv((Field("bash"), *words[at + 1 :]))


def _pwsh(words: Words) -> Iterator[Inner]:
    for at, word in enumerate(words[1:], start=2):
        if word.text.lower() in ("-c", "-command", "/c", "-commandwithargs"):
            yield from [Code(joined(words[at:]))] if at < len(words) else [Stdin()]
            return


def _after(verb: str, valued: str, operands: int = 0) -> Callable[[Words], Iterator[Inner]]:
    """Code for another machine: what follows a verb, and operands such as the machine's name."""
    options = _valued(valued)

    def find(words: Words) -> Iterator[Inner]:
        at = parse(words, options).operands
        if verb:
            if at >= len(words) or words[at].text != verb:
                return
            at = parse(words, options, at + 1).operands
        rest = words[at + operands :]
        rest = rest[1:] if rest and rest[0].text == "--" else rest
        yield from [Code(joined(rest))] if rest else []

    return find


def _gcloud(words: Words) -> Iterator[Inner]:
    yield from _value_of("--command")(words)
    texts = [word.text for word in words]
    if "ssh" in texts and "--" in texts:
        rest = words[texts.index("--") + 1 :]
        yield from [Code(joined(rest))] if rest else []


_HYPERFINE = (
    "-w -r -m -M -P -D -L -S -n -N -i -u --warmup --runs --min-runs --max-runs --shell --style"
    " --export-json --export-csv --export-markdown --command-name --time-unit --input --output"
)
_HYPERFINE_CODE = "-p --prepare -c --cleanup -s --setup --conclude --reference"


_WATCHEXEC = (
    "-w -W -e -f -i -s -d -o -E -j --watch --exts --filter --ignore --signal --debounce --env"
    " --on-busy-update --shell --workdir --project-origin --stop-signal --stop-timeout --delay-run"
)
_CONCURRENTLY = (
    "-m -n -p -c -l -t -s --max-processes --names --prefix --prefix-colors --prefix-length"
    " --success --timestamp-format --name-separator --restart-tries --restart-after --hide --cwd"
)


def _read_operands(others: str, codes: str = "") -> Callable[[Words], Iterator[Inner]]:
    """Every operand is code, and so is the value of any of ``codes``."""

    def find(words: Words) -> Iterator[Inner]:
        yield from _value_of(codes, others)(words)
        operands = words[parse(words, _valued(f"{others} {codes}")).operands :]
        # A word such as `npm:test` or `build:*` is the name of a task.
        yield from (Code(word) for word in operands if ":" not in word.text or " " in word.text)

    return find


def _read_rest(*marks: str) -> Callable[[Words], Iterator[Inner]]:
    """All words behind a mark are one command."""

    def find(words: Words) -> Iterator[Inner]:
        at = next((at for at, word in enumerate(words, 1) if word.text in marks), len(words))
        yield from [Code(joined(words[at:]))] if at < len(words) else []

    return find


def _cargo(words: Words) -> Iterable[Inner]:
    return _value_of("-s --shell")(words) if words[1:] and words[1].text == "watch" else ()


def _entr(words: Words) -> Iterator[Inner]:
    parsed = parse(words, Options())
    if parsed.has("-s") and parsed.operands < len(words):
        yield Code(words[parsed.operands])


# -- git

_GIT = _valued("-c -C --exec-path --git-dir --namespace --work-tree")


_GIT_RUNS = frozenset({"bisect", "difftool", "filter-branch", "mergetool", "rebase", "submodule"})


def _git(words: Words) -> Iterator[Inner]:
    if len(words) > 1 and not words[1].text.startswith("-") and words[1].text not in _GIT_RUNS:
        return
    parsed = parse(words, _GIT)
    for name, value in parsed.found:
        _, bang, code = value.text.partition("=!") if name == "-c" and value else ("", "", "")
        if bang and value is not None:
            yield Code(Field(code, value.exact))
    command = words[parsed.operands :]
    verb = command[0].text if command else ""
    if verb == "submodule":
        texts = [word.text for word in command]
        if "foreach" in texts:
            inner = command[texts.index("foreach") :]
            inner = inner[parse(inner, Options()).operands :]
            yield from [Code(joined(inner))] if inner else []
    elif verb == "bisect":
        yield from [Argv(command[2:])] if len(command) > 2 and command[1].text == "run" else []
    elif verb == "rebase":
        yield from _value_of("-x --exec", "-s -X -C --onto --strategy")(command)
    elif verb == "filter-branch":
        filters = "--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter"
        yield from _value_of(f"{filters} --commit-filter --tag-name-filter")(command)
    elif verb in ("difftool", "mergetool"):
        yield from _value_of("-x --extcmd")(command)


LAUNCHERS: dict[str, Callable[[Words], Iterable[Inner]]] = {
    **dict.fromkeys(("at", "batch"), _at),
    "crontab": _crontab,
    "tmux": _tmux,
    "screen": _screen,
    **dict.fromkeys(("npx", "bunx", "npm"), _value_of("-c --call", "-p -w --package --workspace")),
    "mise": _value_of("-c --command"),
    "nix-shell": _value_of("--run --command", "-p --packages -I --argstr -A --attr"),
    "vagrant": _value_of("-c --command"),
    "gcloud": _gcloud,
    "adb": _after("shell", "-s -t -H -P"),
    "mosh": _after("", "-p --ssh --server --client --predict --port", 1),
    **dict.fromkeys(("pssh", "parallel-ssh"), _after("", "-h -H -l -p -o -e -t -O -x -X")),
    **dict.fromkeys(("pdsh", "clush", "dsh"), _after("", "-w -x -g -l -t -u -f -m -R -X")),
    "salt": _after("", "-L -E -G -C -N -t --timeout", 2),
    "nodemon": _value_of("-x --exec", "-e -w -i --ext --watch --ignore"),
    "sg": _group,
    "capsh": _capsh,
    **dict.fromkeys(("pwsh", "powershell"), _pwsh),
    "hyperfine": _read_operands(_HYPERFINE, _HYPERFINE_CODE),
    "watchexec": _after("", _WATCHEXEC),
    "concurrently": _read_operands(_CONCURRENTLY, "--teardown"),
    **dict.fromkeys(
        ("mprocs", "npm-run-all", "run-p", "run-s", "start-server-and-test"),
        _read_operands("--names"),
    ),
    "chokidar": _value_of("-c --command"),
    "cargo": _cargo,
    **dict.fromkeys(("tsc-watch", "tsup"), _value_of("--onSuccess --onFailure --onFirstSuccess")),
    "just": _read_rest("--command", "-c"),
    **dict.fromkeys(("alacritty", "foot", "konsole", "urxvt", "xterm"), _read_rest("-e")),
    **dict.fromkeys(
        ("gnome-terminal", "lerna", "onchange", "pueue", "reflex", "wezterm", "zellij"),
        _read_rest("--"),
    ),
    "entr": _entr,
    "git": _git,
}
