"""Where agents type into a command that still runs, and no hook hears of it, shells are not left open."""

import pytest

from hookline.builtin import shell_guard
from hookline.builtin.shell_guard import Options
from hookline.model.answers import Answer, Verdict
from hookline.model.events import PreToolUse
from hookline.model.ports import Caller
from hookline.model.tools import Tool, ToolKind

OPEN = """
bash
sh
exec sh
/bin/bash -l
bash -i
bash -s
env FOO=1 zsh
cd src && bash
python3
python3 -i setup.py
python -q
node
ruby
bash -e
bash -ex
bash -v
bash -p
bash -m
bash -n
bash -r
bash -E
bash -h
sh -e
bash --norc
bash --login
bash --posix
bash +x
bash -o vi
bash -s foo
bash /dev/stdin
. /dev/stdin
source /dev/stdin
python3 /dev/fd/0
python3.12
python3 -v
python3 -vi
python -Bi x.py
python3 -m code
mksh
rbash
script
cat < x && python3
script -q log
bash -eo pipefail
cd /dev && . ./stdin
python3 -
node -r x
perl -de0
perl
php -a
php
lua5.4 -i x.lua
deno
deno repl
irb
pypy3
bash --rcfile x
node --interactive x.js
pwsh -NoLogo
python3 -X dev
busybox sh
fish -C 'echo hi'
python3 -m IPython
bash -ox vi
timeout 5 bash -e
env -i bash --norc
bash 2>&1
bash -c bash
( bash )
nohup bash -x
nice -n 5 python3
python3 -u
command bash -e
setsid bash
stdbuf -o0 bash
""".strip().splitlines()

FED = r"""
bash build.sh
bash -c 'ls -la'
bash -lc ls
sh < build.sh
python3 -m pytest
python3 -c 'print(1)'
python3 --version
python3 tools/x.py
node -e 'console.log(1)'
echo 'ls' | sh
perl -pe s/a/b/ notes.txt
grep -rn bash .
echo python3
git commit -m 'run bash'
docker exec web bash
bash -e build.sh
bash -ex ./x.sh a
bash -c ls
bash -ec ls
bash -euo pipefail -c ls
bash -eo pipefail x.sh
bash +x x.sh
< build.sh sh
python3 < x.py
python3 x.py < in.txt
cat < a && bash x.sh
python3.12 x.py
python3 -m pytest -q
python3 -mpytest
python3 -W error -m pytest
python3 -X dev x.py
python3 -V
python3 -Bc 'print(1)'
python -u x.py
node x.js
node --version
node --test
node -r ts-node/register x.ts
node -p 1
perl -pe s/a/b/ n.txt
perl -lane 'print 1' f
perl -v
perl -i -pe s/a/b/ f
ruby x.rb
ruby -v
php -v
php x.php
php -i
lua x.lua
deno run x.ts
deno test
bun test
bun run x
bash --version
script -c 'ls -la' out
script -qc 'ls' /dev/null
pwsh -File x.ps1
pwsh x.ps1
echo /dev/stdin
ls /dev/tty
cat script.txt
npm run script
./script
bash -n x.sh
sh -n x.sh
bash ./script
sh ./configure
timeout 5 python3 x.py < in
zsh -c ls
fish -c ls
node --check x.js
python3 -c 'print(1)' 2>/dev/null
""".strip().splitlines()


def said(command: str, dialect: str) -> Answer:
    event = PreToolUse(
        dialect=dialect, cwd="/", tool=Tool(name="shell", kind=ToolKind.SHELL, command=command)
    )
    return shell_guard.make(Options())(event, Caller(env={"HOME": "/home/someone"}))


@pytest.mark.parametrize("command", OPEN)
def test_on_codex_a_program_that_waits_for_code_is_asked_about(command: str) -> None:
    answer = said(command, "codex")
    assert answer.verdict is Verdict.ASK
    assert "typed into it" in answer.reason
    assert answer.metadata["category"] == "runs-unseen-code"


@pytest.mark.parametrize(
    "command", ["sudo bash", "cat | sh", "tee log | bash", "bash < /dev/tty", "cat /dev/tty | bash"]
)
def test_what_is_asked_about_for_another_reason_still_is(command: str) -> None:
    assert said(command, "codex").verdict is Verdict.ASK


@pytest.mark.parametrize("command", FED)
def test_on_codex_a_program_that_has_its_code_passes(command: str) -> None:
    assert said(command, "codex").verdict is Verdict.PASS


@pytest.mark.parametrize("command", [*OPEN, *FED])
def test_elsewhere_nobody_can_type_into_it_so_nobody_is_asked(command: str) -> None:
    assert "typed into it" not in said(command, "claude-code").reason


def test_a_heredoc_is_code_that_is_there_already() -> None:
    assert said("bash <<'E'\nls\nE\n", "codex").verdict is Verdict.PASS
