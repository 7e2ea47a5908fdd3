"""The programs that only run another one, and where among their words that other one begins."""

from typing import NamedTuple

from hookline.shell.options import Options

__all__ = ["Wrapper", "wrapper_named"]


class Wrapper(NamedTuple):
    """How to find the program that a wrapper runs."""

    options: Options
    operands: int = 0
    """Operands of its own before the program it runs."""
    assigns: bool = False
    """True when ``NAME=value`` may stand before the program."""
    not_with: frozenset[str] = frozenset()
    """Options with which it runs no program."""
    only_with: frozenset[str] = frozenset()
    """Options of which one must be given."""
    verbs: frozenset[str] = frozenset()
    """Its own commands that run another program: ``run`` of ``uv run``."""
    through: frozenset[str] = frozenset()
    """Words passed over on the way: ``tool`` of ``uv tool run``."""
    after: frozenset[str] = frozenset()
    """Words such as ``--``: up to the first of them, if there is one, all is the wrapper's own."""


def _wrapper(
    valued: str = "",
    *,
    operands: int = 0,
    assigns: bool = False,
    not_with: str = "",
    only_with: str = "",
    verbs: str = "",
    through: str = "",
    after: str = "",
    double: str = "",
    splits: str = "",
) -> Wrapper:
    last = frozenset(splits.split())
    return Wrapper(
        Options(frozenset(valued.split()) | last, double=frozenset(double.split()), last=last),
        operands,
        assigns,
        frozenset(not_with.split()),
        frozenset(only_with.split()),
        frozenset(verbs.split()),
        frozenset(through.split()),
        frozenset(after.split()),
    )


def _same(names: str, wrapper: Wrapper) -> dict[str, Wrapper]:
    return dict.fromkeys(names.split(), wrapper)


_PLAIN = {
    "sudo": _wrapper(
        "-C -D -g -h -p -R -r -T -t -U -u --chdir --chroot --close-from --command-timeout --group"
        " --host --other-user --prompt --role --type --user",
        assigns=True,
        not_with="-e --edit -l --list",
    ),
    "doas": _wrapper("-C -u"),
    "pkexec": _wrapper("--user"),
    **_same("env genv", _wrapper(
        "-a -C -L -P -u --argv0 --chdir --unset",
        assigns=True,
        splits="-S --s --sp --spl --spli --split --split- --split-s --split-st --split-str"
        " --split-stri --split-strin --split-string",
    )),
    "timeout": _wrapper("-k -s --kill-after --signal", operands=1),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c -n -P -p -u --class --classdata --pgid --pid --uid"),
    "chrt": _wrapper("-D -P -T", operands=1, not_with="-p --pid"),
    "taskset": _wrapper(operands=1, not_with="-p --pid"),
    "prlimit": _wrapper("-o -p --output --pid", not_with="-p --pid"),
    "stdbuf": _wrapper("-e -i -o --error --input --output"),
    "time": _wrapper("-f -o --format --output", assigns=True),
    **_same("cross-env cross-env-shell", _wrapper(assigns=True)),
    "sshpass": _wrapper("-d -f -P -p"),
    **_same("run0 dzdo", _wrapper(
        "-D -g -p -u --chdir --description --group --machine --nice --property --setenv --unit"
        " --user",
        assigns=True,
    )),
    "cpulimit": _wrapper("-c -e -l -p --exe --limit --path --pid", not_with="-p --pid -e --exe"),
    **_same("chronic eatmydata nocache run-one run-this-one shx", _wrapper()),
    "dtach": _wrapper("-A -c -e -n -N -r", only_with="-A -c -n -N"),
    "ip": _wrapper("-n -netns", verbs="exec", through="netns", operands=1),
    "gtimeout": _wrapper("-k -s --kill-after --signal", operands=1),
    "command": _wrapper(not_with="-v -V"),
    "exec": _wrapper("-a"),
    "coproc": _wrapper(assigns=True),
    "xargs": _wrapper(
        "-a -d -E -I -J -L -n -P -R -S -s --arg-file --delimiter --max-args --max-chars --max-procs"
        " --process-slot-var"
    ),
    **_same("builtin nohup setsid unbuffer busybox toybox", _wrapper()),
    **_same("and or not noglob nocorrect", _wrapper()),  # fish and zsh
    "repeat": _wrapper(operands=1),
    "chroot": _wrapper(operands=1),
    "unshare": _wrapper("-G -R -S -w --root --setgid --setuid --wd"),
    "nsenter": _wrapper("-G -S -t --setgid --setuid --target"),
    "fakeroot": _wrapper("-b -i -l -s --faked --lib"),
    "strace": _wrapper("-a -b -E -e -I -O -o -P -p -S -s -U -u -X --env --output --trace --user"),
    "ltrace": _wrapper("-A -a -D -e -F -l -n -o -p -s -u -w -x --output"),
    "caffeinate": _wrapper("-t -w"),
    "flock": _wrapper("-E -w --conflict-exit-code --timeout --wait", operands=1, not_with="-c"),
    "systemd-run": _wrapper(
        "-E -H -M -p -u --description --gid --host --machine --nice --property --service-type"
        " --setenv --slice --timer-property --uid --unit --working-directory"
        " --on-active --on-boot --on-calendar --on-startup --on-unit-active --on-unit-inactive"
    ),
    "systemd-inhibit": _wrapper("--mode --what --who --why", not_with="--list"),
    "systemd-nspawn": _wrapper(
        "-D -E -i -M -u -U --bind --bind-ro --chdir --directory --hostname --image --machine"
        " --setenv --user --uuid"
    ),
    **_same("gosu su-exec setuidgid envdir envuidgid", _wrapper(operands=1)),
    "chpst": _wrapper("-/ -b -c -d -e -f -l -L -m -n -o -p -r -t -u -U"),
    "setpriv": _wrapper(
        "--ambient-caps --apparmor-profile --bounding-set --egid --euid --groups --inh-caps"
        " --landlock-access --landlock-rule --pdeathsig --regid --reuid --rgid --ruid"
        " --seccomp-filter --securebits --selinux-label"
    ),
    "setarch": _wrapper(through="i386 i486 i586 i686 x86_64 linux32 linux64 aarch64 arm64 uname26"),
    **_same("linux32 linux64 i386 x86_64", _wrapper()),
    "numactl": _wrapper(
        "-C -i -m -N -p -w --cpunodebind --interleave --membind --physcpubind --preferred"
        " --weighted-interleave",
        not_with="-H -s --hardware --show",
    ),
    "xvfb-run": _wrapper(
        "-e -f -n -p -s -w --auth-file --error-file --server-args --server-num --wait"
        " --xauth-protocol"
    ),
    **_same("dbus-run-session dbus-launch", _wrapper("--config-file --dbus-daemon")),
    "bwrap": _wrapper(
        "--add-seccomp-fd --args --argv0 --block-fd --cap-add --cap-drop --chdir --dev --dir"
        " --exec-label --file-label --gid --hostname --info-fd --json-status-fd --lock-file"
        " --mqueue --overlay-src --perms --pidns --proc --remount-ro --ro-overlay --seccomp"
        " --size --sync-fd --tmp-overlay --tmpfs --uid --unsetenv --userns --userns2"
        " --userns-block-fd",
        double="--bind --bind-data --bind-fd --bind-try --chmod --dev-bind --dev-bind-try --file"
        " --ro-bind --ro-bind-data --ro-bind-fd --ro-bind-try --setenv --symlink",
    ),
    "firejail": _wrapper(),
    "proot": _wrapper("-b -k -m -q -r -R -S -w --bind --cwd --kernel-release --mount --rootfs"),
    "valgrind": _wrapper(),
    "gdb": _wrapper("-ex -x --command --eval-command", only_with="--args"),
    "lldb": _wrapper("-o -s --one-line --source", after="--", only_with="--"),
    "entr": _wrapper(not_with="-s"),
    "proxychains": _wrapper("-f"),
    **_same("proxychains4 torsocks torify tsocks", _wrapper("-f")),
    **_same("rlwrap script-exec", _wrapper()),
    "daemonize": _wrapper("-c -e -E -l -o -p -u"),
    "start-stop-daemon": _wrapper(not_with="-K --stop"),
    "dumb-init": _wrapper(),
    "tini": _wrapper("-e -p"),
    "wsl": _wrapper("-d -u --distribution --user --cd",
                    not_with="--list -l --unregister --uninstall --shutdown --terminate -t"),
}  # fmt: skip

# Tools that run a program in an environment of their making.
_ENVIRONMENTS = {
    "uv": _wrapper(
        "-c -C -f -i -p -P -w --allow-insecure-host --build-constraints --cache-dir --color"
        " --config-file --config-setting --constraints --default-index --directory --env-file"
        " --exclude-newer --extra --extra-index-url --find-links --fork-strategy --from --group"
        " --index --index-strategy --index-url --keyring-provider --link-mode --no-binary-package"
        " --no-build-package --no-extra --no-group --only-group --overrides --package --prerelease"
        " --project --python --python-platform --refresh-package --reinstall-package --resolution"
        " --upgrade-package --with --with-editable --with-requirements",
        verbs="run",
        through="tool",
        not_with="-m --module",
    ),
    **_same("npx bunx pnpx", _wrapper("-c -p -w --call --package --prefix --workspace",
                                      not_with="-c --call")),
    "npm": _wrapper(
        "-c -C -w --call --cache --package --prefix --userconfig --workspace",
        verbs="exec x",
        not_with="-c --call",
    ),
    "pnpm": _wrapper("-C -F --dir --filter --package", verbs="exec dlx", not_with="-c"),
    "yarn": _wrapper("-p --cwd --package", verbs="exec dlx run",
                     through="workspace"),
    "bun": _wrapper("-c --config --cwd", verbs="x"),
    "poetry": _wrapper("-C -P --directory --project", verbs="run"),
    "pipenv": _wrapper("--python", verbs="run"),
    "pdm": _wrapper("-c -p --config --project --venv", verbs="run"),
    "hatch": _wrapper("-e -p --cache-dir --config --data-dir --env --project", verbs="run"),
    "pipx": _wrapper("-i --index-url --pip-args --python --spec", verbs="run"),
    "rye": _wrapper("--pyproject", verbs="run"),
    "pixi": _wrapper("-e -m --environment --manifest-path", verbs="run exec"),
    **_same("conda mamba micromamba", _wrapper("-n -p --cwd --name --prefix", verbs="run")),
    "mise": _wrapper("-C -c -E -j --cd --command --env --jobs", verbs="exec x", after="--",
                     not_with="-c --command"),
    "direnv": _wrapper(verbs="exec", operands=1),
    **_same("bundle bundler", _wrapper("--gemfile", verbs="exec")),
    **_same("rbenv pyenv nodenv goenv plenv asdf jenv", _wrapper(verbs="exec")),
    "volta": _wrapper("--node --npm --yarn --pnpm", verbs="run"),
    "fnm": _wrapper("--using", verbs="exec"),
    "nvm": _wrapper(verbs="exec", operands=1),
    "opam": _wrapper("--switch", verbs="exec"),
    "stack": _wrapper("--stack-yaml", verbs="exec"),
    "cabal": _wrapper(verbs="exec"),
    "rustup": _wrapper(verbs="run", operands=1),
    "nix": _wrapper(verbs="develop shell", after="-c --command", only_with="-c --command"),
    "guix": _wrapper("-m -p", verbs="shell environment", after="--", only_with="--"),
    **_same("devbox flox", _wrapper("-c -d --config --dir", verbs="run activate", after="--")),
    "aws-vault": _wrapper("-d -j -n -t --duration --mfa-token --region", verbs="exec",
                          operands=1, after="--"),
    "chamber": _wrapper("-b --backend", verbs="exec", operands=1, after="--"),
    **_same("dotenv dotenvx env-cmd", _wrapper(
        "-c -e -f -p -v --config --env-file --file", through="run exec", after="--")),
    **_same("op doppler infisical vals teller envchain", _wrapper(
        "-c -f -p --config --env --env-file --project", verbs="run exec", after="--")),
    **_same("lxc incus multipass", _wrapper("--cwd --env --mode --user", verbs="exec",
                                            operands=1, after="--")),
    **_same("distrobox toolbox", _wrapper("-c -n --container --name --release", verbs="enter run",
                                          after="--", not_with="--help")),
    "perf": _wrapper(
        "-c -C -e -F -m -o -p -r -t --call-graph --cpu --event --output --pid --repeat --tid",
        verbs="record stat trace",
    ),
    "machinectl": _wrapper("-E -M -H --setenv --uid --machine --host", verbs="shell", operands=1),
}  # fmt: skip
_WRAPPERS = {**_PLAIN, **_ENVIRONMENTS, "uvx": _ENVIRONMENTS["uv"]._replace(verbs=frozenset())}

# The loader itself can be told to start a program.
_LOADER = _wrapper(
    "--argv0 --audit --inhibit-rpath --library-path --preload", not_with="--list --verify"
)


def wrapper_named(name: str) -> Wrapper | None:
    """How to read the words after a program of this name, if it is a wrapper."""
    found = _WRAPPERS.get(name)
    return _LOADER if found is None and name.startswith(("ld-linux", "ld-musl")) else found
