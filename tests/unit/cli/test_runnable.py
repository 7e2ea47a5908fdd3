"""Hooks that cannot run are errors in check, doctor, trust and list: each with its line and fix.

What is called broken here really fails when it is run, and what is not runs.
"""

import json
import os
from pathlib import Path

import pytest

from support.cli import Machine

# What stands in `hookline.yaml`, and what the fix says.
BROKEN = {
    "run: ./gone.sh": "put it back",
    "run: [./gone.sh]": "put it back",
    "run: ./link.sh": "put it back",
    "run: sh scripts/gone.sh": "put it back",
    "run: [python3, gone.py]": "put it back",
    "run: . ./gone.sh": "put it back",
    "run: cd scripts && ./gone.sh": "put it back",
    "run: cd nowhere && ./ok.sh": "make it",
    "run: ./scripts": "name the script in it",
    "run: ./noexec.sh": "chmod +x",
    "run: [./noexec.sh]": "chmod +x",
    "run: cat | ./noexec.sh": "chmod +x",
    "run: ./crlf.sh": r"sed -i 's/\r$//'",
    "run: [./crlf-env.sh]": r"sed -i 's/\r$//'",
    "run: ./bom.sh": r"sed -i '1s/^\xef\xbb\xbf//'",
    "run: ./no-interpreter.sh": "install /opt/none/python",
    "run: ./no-env.sh": "install no-such-python",
    "run: ./env-words.sh": "-S python3 -u",
    "run: ./relative.sh": "#!/usr/bin/env NAME",
    "run: [./long.sh]": "shorten it",
    "run: [./plain.sh]": "#!/bin/sh",
    "run: no-such-tool .tool_input": "install no-such-tool",
    "run: [no-such-tool]": "install no-such-tool",
    "run: x=$(cat); no-such-tool": "install no-such-tool",
    "run: no-such-tool || exit 2": "install no-such-tool",
    "run: timeout 9 no-such-tool": "install no-such-tool",
    "run: no-such-tool && true": "install no-such-tool",
    "run: ./gone.sh && true || exit 3": "put it back",
    "run: set -e; no-such-tool; true": "install no-such-tool",
    "run: cat >/dev/null; ./gone.sh": "put it back",
    "run: no-such-tool > log 2>&1": "install no-such-tool",
    "run: [~/ok.sh]": "put it back",
    "run: [sh, ~/ok.sh]": "put it back",
    "run: sh < gone.sh": "put it back",
    "run: ./ok.sh < gone.txt": "put it back",
    "run: ./gone.sh | cat": "put it back",
    "run: ./empty.sh": "put it back",
    "run: [python3, empty.sh]": "put it back",
    "run: 'echo \"$(./gone.sh)\"'": "put it back",
    "run: 'find . -name ok.sh -exec ./gone.sh {} \\;'": "put it back",
    "run: sh ./crlf.sh": r"sed -i 's/\r$//'",
    "run: sh ./scripts": "name the script in it",
    "run: '! ./gone.sh'": "put it back",
    "run: (cd scripts && ./gone.sh)": "put it back",
    "run: bash -c './gone.sh'": "put it back",
    "run: env A=1 sh -ec './noexec.sh'": "chmod +x",
    "run: [bash, -c, '$HOME/gone.sh']": "put it back",
    "run: '{ ./gone.sh; }'": "put it back",
    "run: '{ no-such-tool; } || exit 2'": "install no-such-tool",
    "run: '({ { ./gone.sh; }; })'": "put it back",
    "run: 'cat | { ./noexec.sh; }'": "chmod +x",
    "run: if true; then ./gone.sh; fi": "put it back",
    "run: if true; then ./gone.sh; else true; fi": "put it back",
    "run: if false; then true; else ./noexec.sh; fi": "chmod +x",
    "run: for i in 1; do ./gone.sh; done": "put it back",
    "run: until false; do ./gone.sh || exit 3; done": "put it back",
    "run: case x in y) true;; x) ./gone.sh;; *) true;; esac": "put it back",
    "run: 'gone() { ./gone.sh; }; gone'": "put it back",
    "run: true && ./gone.sh": "put it back",
    "run: false || ./gone.sh": "put it back",
    "run: '[ -f ok.sh ] && ./gone.sh'": "put it back",
    "run: exec ./gone.sh": "put it back",
    "run: nice -n 5 no-such-tool": "install no-such-tool",
    "run: env -u X no-such-tool": "install no-such-tool",
    "run: env --unset=X ./gone.sh": "put it back",
    "run: env -i ./gone.sh": "put it back",
    "run: echo a | xargs ./gone.sh": "put it back",
    "run: 'echo a | xargs -n 1 sh -c ./gone.sh'": "put it back",
    "run: bash -c 'if true; then ./gone.sh; fi'": "put it back",
    "run: [sh, -c, 'if true; then ./gone.sh; fi']": "put it back",
    "run: eval 'if true; then ./gone.sh; fi'": "put it back",
    "run: if true; then sh < gone.txt; fi": "put it back",
    "run: while read -r x; do true; done < gone.txt": "put it back",
    "run: if true; then python3 gone.py; fi": "put it back",
    "run: cd scripts && if true; then ./gone.sh; fi": "put it back",
    'run: "./gone.sh <<E\\nx\\nE"': "put it back",
    "run: . gone.sh": "install gone.sh",
    "run: [bash, -c, source gone.sh]": "install gone.sh",
    "run: source ./ok.sh": "run: [bash, -c,",
    "run: ./syntax.sh": "correct it",
    "run: [bash, syntax.sh]": "correct it",
    "run: . ./syntax.sh": "correct it",
    "run: ./array.sh": "correct it",
    "run: sh array.sh": "correct it",
    "run: if true; then": "correct it",
    "run: [python3, wrong.py]": "correct it",
    "run: ./wrong.py": "correct it",
    "run: ./env-options.sh": "install no-such-python",
    "run: ./env-value.sh": "install no-such-python",
    "run: ./nested.sh": "install /opt/none/python",
    "run: ./foreign": "built for it",
    "run: ./utf-16.sh": "built for it",
    "run: sh scripts": "name the script in it",
    "run: cat gone.sh | sh": "put it back",
    "run: cat crlf.sh | sh": r"sed -i 's/\r$//'",
    "run: sh < crlf.sh": r"sed -i 's/\r$//'",
    "run: make -f gone.mk": "put it back",
    "run: '[[ -f ok.sh ]] && ./ok.sh'": "run: [bash, -c,",
    "run: 'x=$(cat); if [[ $x == *a* ]]; then exit 2; fi'": "run: [bash, -c,",
    "run: [exit, '2']": "as text",
    "run: ['$HOME/ok.sh']": "put it back",
    "python: 'imports.py:f'": "install no_such_package",
    "python: 'package.gone:f'": "package/gone.py",
    "python: 'gone.py:f'": "put it back",
    "python: 'hooks.py:gone'": "define `gone`",
    "python: 'hooks.py:inner'": "define `inner`",
    "python: 'wrong.py:f'": "correct it",
    "python: 'no_such_module_here:f'": "no_such_module_here.py",
}
FINE = [
    "run: ./ok.sh",
    "run: [./ok.sh]",
    "run: sh noexec.sh",
    "run: ./plain.sh",
    "run: ./ok.sh; exit 0",
    "run: if command -v no-such-tool; then no-such-tool; fi",
    "run: command -v no-such-tool || exit 0; no-such-tool",
    "run: no-such-tool 2>/dev/null || true",
    "run: test -x gone.sh && ./gone.sh || true",
    "run: gone() { true; }; gone",
    'run: PATH="$PWD/scripts:$PATH"; helper',
    "run: cd scripts; ./helper",
    "run: cat > /dev/null",
    "run: '\"$HOOKLINE_PROJECT_DIR\"/ok.sh'",
    "run: env A=1 ./ok.sh",
    "run: [env, sh, noexec.sh]",
    "run: ./env.sh",
    "run: no-such-tool || ./ok.sh",
    "run: ./gone.sh >/dev/null 2>&1 || echo failed",
    "run: no-such-tool && true || ./ok.sh",
    "run: x=$(no-such-tool) || ./ok.sh",
    "run: cd nowhere || true",
    "run: cd nowhere 2>/dev/null; ./ok.sh",
    "run: no-such-tool; true",
    "run: no-such-tool; ./ok.sh",
    "run: no-such-tool &",
    "run: no-such-tool 2>&1 | cat &",
    "run: ./gone.sh 2>/dev/null; exit 0",
    "run: x=$(no-such-tool 2>/dev/null); true",
    "run: . ./empty.sh",
    "run: cat < gone.txt || true",
    "run: read x < gone.txt; ./ok.sh",
    "run: ./ok.sh > made && cat < made",
    "run: here=$(cd scripts && echo here); ./ok.sh",
    "run: (cd scripts && ./helper) && ./ok.sh",
    "run: bash -c './gone.sh || true'",
    "run: bash -c 'sh <(cat ok.sh)'",
    "run: '{ ./ok.sh; }'",
    "run: '{ no-such-tool || true; }'",
    "run: '{ ./gone.sh; } || true'",
    "run: if true; then ./gone.sh || true; fi",
    "run: if true; then ./gone.sh; fi || true",
    "run: if [ -x ./gone.sh ]; then ./gone.sh; fi",
    "run: bash -c 'if [[ -x ./gone.sh ]]; then ./gone.sh; fi'",
    "run: test -x gone.sh || exit 0; ./gone.sh",
    "run: if [ ! -x ./gone.sh ]; then exit 0; fi; ./gone.sh",
    "run: if [ -d .venv ]; then . .venv/bin/activate; fi",
    "run: if [ -f package.json ]; then ./node_modules/.bin/eslint; fi",
    "run: case x in y) osascript -e 1;; x) ./ok.sh;; esac",
    "run: if cd scripts; then ./helper; fi",
    "run: 'f() { cd scripts; ./helper; }; f'",
    "run: bash -c 'cd scripts && ./helper'",
    "run: env -C scripts ./helper",
    "run: find . -name helper -execdir ./helper ';'",
    "run: env -u X ./ok.sh",
    "run: 'f=./gone.sh; if [ -x $f ]; then $f; fi'",
    'run: "cat <<E >&2\\n{ ./gone.sh; }\\nE"',
    "run: 'true # { ./gone.sh; }'",
    "run: while read -r x; do true; done < ok.sh",
    "run: bash -n syntax.sh || true",
    "run: bash array.sh",
    "run: ./globs.sh",
    "run: ./payload.sh",
    "run: ~/ok.sh",
    "run: ./this-machine",
    "run: cat ok.sh | sh",
    "run: bash -c '[[ -f ok.sh ]] && ./ok.sh'",
    "run: 'echo \"[[ a ]]\" # [[ b ]]'",
    'run: "cat <<E >&2\\n[[ a ]]\\nE"',
    "python: 'moves.py:f'",
    "python: 'package.inner:f'",
    "python: 'hooks.py:f'",
    "python: 'hooks.py:named'",
    "python: 'hooks.py:maybe'",
]
PROGRAMS = {
    "ok.sh": b"#!/bin/sh\nexit 0\n",
    "noexec.sh": b"#!/bin/sh\nexit 0\n",
    "plain.sh": b"exit 0\n",
    "empty.sh": b"",
    "crlf.sh": b"#!/bin/sh\r\nexit 0\r\n",
    "crlf-env.sh": b"#!/usr/bin/env sh\r\nexit 0\r\n",
    "bom.sh": b"\xef\xbb\xbf#!/usr/bin/python3\nimport sys\n",
    "no-interpreter.sh": b"#!/opt/none/python\n",
    "no-env.sh": b"#!/usr/bin/env no-such-python\n",
    "env-words.sh": b"#!/usr/bin/env python3 -u\n",
    "env.sh": b"#! /usr/bin/env -S sh -e\nexit 0\n",
    "env-options.sh": b"#!/usr/bin/env -S -i no-such-python -u\n",
    "env-value.sh": b"#!/usr/bin/env -S -u HOME A=1 no-such-python\n",
    "nested.sh": b"#!{project}/no-interpreter.sh\n",
    "foreign": b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x02\0\xf3\xf3" + b"\0" * 100,
    "this-machine": Path("/bin/true").read_bytes(),
    "utf-16.sh": "#!/bin/sh\nexit 0\n".encode("utf-16"),
    "imports.py": b"import os, no_such_package.part\ndef f(event): ...\n",
    "moves.py": b"import sys\nsys.path.insert(0, 'scripts')\nimport moved\ndef f(event): ...\n",
    "scripts/moved.py": b"",
    "package/__init__.py": b"",
    "package/inner.py": b"import package, scripts\ndef f(event): ...\n",
    "relative.sh": b"#!sh\n",
    "long.sh": b"#!/usr/bin/" + b"x/../" * 60 + b"env sh\n",
    "scripts/helper": b"#!/bin/sh\nexit 0\n",
    "hooks.py": b"import os.path as named\n"
    b"def f(event):\n    def inner(): ...\n"
    b"named = f\ntry:\n    from gone import maybe\nexcept ImportError:\n    maybe = f\n",
    "wrong.py": b"#!/usr/bin/env python3\ndef f(:\n",
    "syntax.sh": b"#!/bin/sh\nif true; then\n",
    "array.sh": b"#!/bin/sh\na=(1 2)\n",
    "globs.sh": b"#!/bin/bash\nshopt -s extglob\ntrue !(a)\n",
    "payload.sh": b"#!/bin/sh\nexit 0\nif then ((\n",
}


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    machine = Machine(tmp_path, capfdbinary)
    for name, content in PROGRAMS.items():
        file = machine.write(name, "", 0o644 if name == "noexec.sh" else 0o755)
        file.write_bytes(content.replace(b"{project}", os.fsencode(machine.project)))
    (machine.project / "link.sh").symlink_to("nowhere")
    (machine.person / "ok.sh").write_bytes(PROGRAMS["ok.sh"])
    (machine.person / "ok.sh").chmod(0o755)
    return machine


def config_lines(hooks: list[str]) -> str:
    parts = [f"  - name: h{at}\n    on: stop\n    {hook}\n" for at, hook in enumerate(hooks)]
    return "version: 1\nhooks:\n" + "".join(parts)


def test_every_command_shows_every_hook_that_cannot_run_with_its_line_and_fix(
    machine: Machine,
) -> None:
    machine.write(machine.config, config_lines([*BROKEN]))
    shown = [machine.call("check"), machine.call("trust", "--yes", HOOKLINE_TRUST="all")]
    shown += [machine.call("list"), machine.call("doctor")]
    assert [done.code for done in shown] == [1, 0, 0, 1]
    for at, fix in enumerate(BROKEN.values()):
        where, who = f"{machine.config}:{3 * at + 3}", f"hook `h{at}` cannot run: "
        for done in shown:
            assert where in done.out
            told = done.out.partition(who)[2].split("hook `h")[0]
            assert fix in told, (who, done.out)
    data = machine.call("list", "--json").json["hooks"]
    assert [len(hook["problems"]) for hook in data] == [1] * len(BROKEN)
    assert all(problem["hint"] for hook in data for problem in hook["problems"])
    problems = machine.call("check", "--json").json[0]["problems"]
    assert [problem["line"] for problem in problems] == [3 * at + 3 for at in range(len(BROKEN))]


def test_what_is_called_broken_fails_and_what_is_not_runs(machine: Machine) -> None:
    machine.trust(config_lines([*BROKEN, *FINE]))
    assert machine.call("check").out.count("cannot run") == len(BROKEN)
    runs = json.loads(machine.run("fire", "stop", "--json").out)["runs"]
    failed = {run["hook"] for run in runs if run["failed"]}
    assert failed == {f"h{at}" for at in range(len(BROKEN))}


def test_a_guard_that_cannot_run_blocks_even_if_its_command_ends_well(machine: Machine) -> None:
    ends_well = ["run: ./gone.sh | cat", "run: sh ./crlf.sh", "run: '! ./gone.sh'"]
    ends_well += ["run: ./empty.sh", "run: cat gone.sh | sh", "run: echo $(./gone.sh)"]
    for hook in ends_well:
        machine.trust(f"version: 1\nhooks:\n  - {{on: pre_tool_use, {hook}}}\n")
        fired = machine.run("fire", "pre_tool_use", "--tool", "shell", "--command", "true")
        assert fired.out.startswith("deny"), hook


def test_what_an_earlier_command_may_make_is_not_missed(machine: Machine) -> None:
    makes = [
        "make",
        "curl -sf http://127.0.0.1/t -o t.sh",
        "printf x > t.sh",
        "cat > t.sh",
        "sh ok.sh",
        "cp ok.sh t.sh",
        "mkdir -p t",
    ]
    uses = ("sh t.sh", "./t", "cd t && ./t", "if true; then sh t.sh; fi")
    hooks = [f"run: {made}; {use}" for made in makes for use in uses]
    hooks += [f"run: if {made}; then ./t; fi" for made in makes]
    machine.write(machine.config, config_lines([*hooks, "run: printf x > t.sh && sh t.sh"]))
    assert "script-missing" not in machine.call("check").out
    assert "cannot run" not in machine.call("check").out
    # Its output is what the rest works on.
    machine.write(machine.config, config_lines(["run: x=$(no-such-tool); true"]))
    assert "install no-such-tool" in machine.call("check").out


def test_a_builtin_that_needs_a_program_says_so(machine: Machine) -> None:
    machine.trust("version: 1\nhooks:\n  - use: add-git-status\n")
    assert machine.call("check").code == 0
    empty = machine.base / "empty"
    empty.mkdir()
    done = machine.call("check", PATH=str(empty))
    assert done.code == 1
    assert "install git" in done.out


def test_a_path_that_hooks_do_not_get_finds_nothing(machine: Machine) -> None:
    machine.trust(config_lines(["run: helper"]))
    done = machine.call("check", PATH=f"scripts:::{os.defpath}", cwd=machine.project)
    assert "install helper" in done.out


def test_an_included_file_of_another_platform_is_held_to_the_same(machine: Machine) -> None:
    entry = {"type": "command", "command": "$CLAUDE_PROJECT_DIR/noexec.sh"}
    settings = {"hooks": {"Stop": [{"hooks": [entry]}]}}
    machine.write(".claude/settings.json", json.dumps(settings))
    machine.trust("version: 1\ninclude: [.claude]\n")
    for command in ("check", "list", "doctor"):
        out = machine.call(command).out
        assert f"{machine.project}/.claude/settings.json:1" in out
        assert out.count(f"chmod +x {machine.project}/noexec.sh") == 1


def test_a_powershell_hook_needs_powershell(machine: Machine) -> None:
    entry = {"type": "command", "command": "Write-Output 1", "shell": "powershell"}
    settings = {"hooks": {"Stop": [{"hooks": [entry]}]}}
    machine.write(".claude/settings.json", json.dumps(settings))
    machine.write(machine.config, "version: 1\ninclude: [.claude]\n")
    out = machine.call("check", PATH="/usr/bin:/bin").out
    assert "install pwsh" in out
    assert "install Write-Output" not in out


def test_a_script_whose_trusted_copy_runs_is_an_error_on_disk_alone(machine: Machine) -> None:
    machine.trust(config_lines(["run: ./ok.sh"]))
    (machine.project / "ok.sh").unlink()
    assert machine.call("check").code == 1
    assert "cannot run" not in machine.call("list").out
    assert "script-missing" not in machine.call("doctor").out
    runs = json.loads(machine.run("fire", "stop", "--json").out)["runs"]
    assert [run["failed"] for run in runs] == [None]


def test_the_persons_own_config_is_held_to_the_same(machine: Machine) -> None:
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text(config_lines(["run: ./gone.sh", "run: ~/gone.sh"]))
    out = machine.call("check").out
    assert f"`{machine.user_file.parent}/gone.sh`" in out
    assert f"`{machine.person}/gone.sh`" in out


def test_nothing_of_a_project_runs_while_it_is_looked_at(machine: Machine) -> None:
    machine.write("touches.py", "open('touched', 'w')\ndef f(event): ...\n")
    machine.write("touches.sh", "#!/bin/sh\ntouch touched\n", 0o755)
    machine.write(machine.config, config_lines(["python: 'touches.py:f'", "run: ./touches.sh"]))
    assert machine.call("check").code == 0
    os.mkfifo(machine.project / "pipe", 0o755)
    machine.write(machine.config, config_lines(["run: ./pipe", "run: sh ./pipe"]))
    machine.call("check")  # and does not wait for whoever writes to it
    assert not (machine.project / "touched").exists()


def test_that_a_hook_blocks_until_it_can_run_is_said_where_it_is_so(machine: Machine) -> None:
    machine.user_file.parent.mkdir(parents=True)
    for event, blocks in (("pre_tool_use", True), ("stop", False), ("[stop, post_tool_use]", True)):
        more = "guard: true, on_error: block"
        lines = f"version: 1\nhooks:\n  - {{on: {event}, run: ./gone.sh, {more}}}\n"
        machine.write(machine.user_file, lines)
        for command in ("check", "doctor", "list"):
            told = machine.call(command).out
            assert "gone.sh" in told
            assert ("blocks what it guards" in told) is blocks, (event, command)


def test_a_fix_in_a_persons_own_file_is_said_once_and_speaks_of_no_trust(machine: Machine) -> None:
    machine.call("install", "claude-code")
    machine.user_file.parent.mkdir(parents=True, exist_ok=True)
    machine.write(machine.user_file, "version: 1\nhooks:\n  - {on: stop, run: ./gone.sh}\n")
    told = machine.call("check").out
    assert told.count("put it back, or correct the path") == 1
    assert "hookline trust" not in told


def test_a_script_that_came_after_its_config_was_trusted_is_named_until_it_is_trusted_too(
    machine: Machine,
) -> None:
    machine.trust("version: 1\nhooks:\n  - {on: pre_tool_use, run: ./later.sh}\n")
    assert "blocks what it guards" in machine.call("list").out
    machine.write("later.sh", "#!/bin/sh\nexit 0\n", 0o755)
    for command in ("list", "doctor"):
        told = machine.call(command).out
        assert "was not there when the config was trusted" in told
        assert "run `hookline trust`" in told
    machine.run("trust", "--yes", HOOKLINE_TRUST="all")
    assert "cannot run" not in machine.call("list").out
