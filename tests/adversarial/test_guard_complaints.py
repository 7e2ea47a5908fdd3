"""What users of other guards complained about, thread by thread: none of it happens with these.

Each thread is named by its repository and number; its facts are here, in our own words.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import pytest
from accuracy.cases import cases
from msgspec import convert

from hookline.builtin import (
    mcp_guard,
    no_secrets_in,
    protect_branches,
    protect_paths,
    redact_secrets,
    shell_guard,
)
from hookline.model.answers import BLOCKING, Answer, Verdict
from hookline.model.events import PostToolUse, PreToolUse
from hookline.model.ports import NOBODY, Caller
from hookline.model.tools import Tool, tool
from hookline.testing import fire, shell

ROOT = Path(__file__).parents[2]
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
KEY = "-----BEGIN OPENSSH " + "PRIVATE KEY-----\n" + "b3BlbnNzaC1rZXktdjEAAAAA\n" * 3
KEY += "-----END OPENSSH " + "PRIVATE KEY-----"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository on ``main`` in somebody's home, with sources, a test and a build."""
    project = tmp_path_factory.mktemp("complaints") / "home" / "dev" / "project"
    for name in ("src/app.py", "lib/benchmark.py", "tests/test_app.py", "build/out.o"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("x = 1\n", encoding="utf-8")
    (project / ".env").write_text("PASSWORD=\n", encoding="utf-8")
    who = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"]
    for words in (["init", "-qb", "main"], ["add", "src"], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", "-C", project, *who, *words], check=True)
    return project


def caller(project: Path) -> Caller:
    """The person whose project it is."""
    env = {"HOME": str(project.parent), "USER": "dev", "PATH": os.environ["PATH"]}
    return Caller(env=env, project_dir=str(project))


def judged(command: str, project: Path, **options: Any) -> Answer:
    """What shell-guard says about a command."""
    answer = shell_guard.make(shell_guard.Options(**options))
    return answer(shell(command, cwd=str(project)), caller(project))


def protected(event: PreToolUse, project: Path, **options: Any) -> Answer:
    """What protect-paths says about a call."""
    return protect_paths.make(convert(options, protect_paths.Options))(event, caller(project))


def said(command: str) -> Any:
    """A case under the name of its thread."""
    thread, _, text = command.partition(" ")
    return pytest.param(text.replace("⏎", "\n"), id=f"{thread}:{text[:40]}")


def listed(text: str) -> list[Any]:
    """One case to a line: the thread, and the command with ⏎ for its line ends."""
    return [said(line) for line in text.strip().splitlines()]


# -- row 5: tools that go round the hooks


@pytest.mark.parametrize(
    ("name", "given"),
    [
        # codex#16732 #27833: patches are files that are written, whatever tool carries them.
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: .env\n+X=1\n*** End Patch"}),
        # codex#23411, claude-code#34692: several edits in one call.
        ("MultiEdit", {"file_path": ".env", "edits": [{"old_string": "a", "new_string": "b"}]}),
        # openclaw#70147, codex#26751: a file tool of an MCP server.
        ("mcp__files__write_file", {"path": ".env", "content": "X=1"}),
        # opencode#5894: a tool nobody has a table for.
        ("batch_write", {"filePaths": ["src/app.py", ".env"], "content": "X=1"}),
    ],
    ids=["codex#16732", "codex#23411", "openclaw#70147", "opencode#5894"],
)
def test_a_protected_file_is_protected_from_every_tool(
    name: str, given: Mapping[str, Any], project: Path
) -> None:
    event = PreToolUse(tool=tool(name, **given), cwd=str(project))
    assert protected(event, project).verdict in BLOCKING


@pytest.mark.parametrize(
    ("name", "given"),
    [
        # codex#26733: code mode and other shells under names of their own.
        ("unified_exec", {"cmd": "rm -rf ~"}),
        # claude-code#40580: a shell of an MCP server, program and words apart.
        ("mcp__shell__run", {"command": "rm", "args": ["-rf", "/etc"]}),
        # opencode#5894: several commands in one call.
        ("batch", {"commands": ["ls", "rm -rf ~"]}),
    ],
    ids=["codex#26733", "claude-code#40580", "opencode#5894"],
)
def test_a_command_is_judged_under_every_tool_name(
    name: str, given: Mapping[str, Any], project: Path
) -> None:
    event = PreToolUse(tool=tool(name, **given), cwd=str(project))
    guard = shell_guard.make(shell_guard.Options())
    assert guard(event, caller(project)).verdict is Verdict.DENY


# -- row 6: text that only mentions danger

MENTIONED = """
dcg#181 true <<'EOF'⏎git worktrees and active sessions restore only selected agents⏎EOF
dcg#277 cat > notes/undo.md <<'EOF'⏎Never `rm -rf ~/`; `git clean -fdx` is no undo.⏎EOF
dcg#278 python3 - <<'PY'⏎msg = "rm -rf /home/will"⏎print(msg)⏎PY
dcg#341 cat > runbook.md <<EOF⏎git reset --hard origin/main⏎EOF
dcg#341 echo "git reset --hard origin/main"
dcg#357 gh api X -f body="$(cat <<'EOF'⏎`rm -rf ~`⏎EOF⏎)"
dcg#363 cat > d.md <<'EOF'⏎`~/.app/instances/<i>/store-data/` — sqlite `index.db` (+ `-wal`)⏎EOF
dcg#393 git commit -F - <<'EOF'⏎rows restore byte identical⏎EOF
dcg#393 git commit -m "reset --hard and restore explained"
dcg#313 pwsh -c 'Get-ChildItem src | Measure-Object'
dcg#313 cleanup() { echo "removed nothing"; }
dcg#404 bash -c 'echo "a" > /dev/null' 2>/dev/null
gsd-pi#1024 git add -A && git commit -m "$(cat <<'EOF'⏎fix: stop calling rm -rf /⏎EOF⏎)"
PACT#1140 grep -rn 'git push --force' docs
PACT#258 echo "gh pr merge 255"
PACT#258 X="gh pr merge 255" && echo "$X"
Astra#697 printf '%s' 'git reset --hard undoes work' >> notes.md
claude-code#39911 find src -name "*.js" -exec grep -l "x" {} \\; 2>/dev/null | head -5
claude-code#37391 find src -name "*.erb" -exec grep -l "special_offer\\|claim_offer" {} \\;
claude-code#10783 git status --porcelain | awk '/^??/ {print $2}'
claude-code#76795 grep -E "drop table|truncate" migrations/*.sql
loom#5181 cat > report.md <<'EOF'⏎gh api repos/x -X DELETE -f body=@path⏎EOF
loom#5158 rg -n "curl .*\\| *sh" hooks
melodic#1680 echo "message" >&2
melodic#546 bash fetch.sh 526 > build/pr526.json; echo "EXIT: $?"
FMT#193 git push origin HEAD && [ -f /tmp/x ] && echo ok
dcg#132 ee preflight check --cmd "rm -rf /"
"""


@pytest.mark.parametrize("command", listed(MENTIONED))
def test_what_only_mentions_danger_passes(command: str, project: Path) -> None:
    assert judged(command, project).verdict is Verdict.PASS


@pytest.mark.parametrize("command", listed(MENTIONED))
def test_what_only_mentions_a_branch_or_a_file_passes(command: str, project: Path) -> None:
    branches = protect_branches.make(protect_branches.Options(allow=("commit", "push")))
    event = shell(command, cwd=str(project))
    assert branches(event, caller(project)).verdict is Verdict.PASS
    assert protected(event, project).verdict is Verdict.PASS
    secrets = no_secrets_in.make(no_secrets_in.Options())
    assert secrets(event, caller(project)).verdict is Verdict.PASS


# -- row 7: bypasses

BYPASSES = """
dcg#231 LANG=C rm -rf /
dcg#231 A=1 B="x y" rm -rf ~
dcg#464 sudo python3 -c "open('/etc/passwd','w').write('')"
dcg#464 FOO=1 ruby -e 'FileUtils.rm_rf("/etc")'
LifeOS#620   SPACED=val rm -rf /etc
hermes-agent#104308 /usr/bin/sudo rm -rf /opt
hermes-agent#76219 $'\\x72\\x6d' -rf $'\\x2f'
hermes-agent#76219 command $'\\x72\\x6d' -rf /
LifeOS#732 rm -rf ../../../../../../../../../../
LifeOS#732 find / | xargs -I% rm -f %
LifeOS#732 find / | xargs -I% unlink %
LifeOS#732 $(rm -rf /)
LifeOS#732 `rm -rf /`
LifeOS#732 echo 'rm -rf /' > script.sh && chmod +x script.sh && ./script.sh
gsd-2#4177 r''m -rf ~
gsd-2#4177 rm$IFS-rf$IFS/
hooks-mastery#4 bash -c 'rm -rf ~'
hooks-mastery#4 /bin/rm -rf ~
pi-packages#492 sudo rm -rf /important
pi-packages#492 bash -c 'rm -rf /important'
pi-packages#492 xargs rm < paths.txt
OpenHands#3944 $(echo rm) -rf /
OpenHands#3944 r"m" -rf /
OpenHands#3944 $'\\162\\155' -rf ~
kubernetes-sigs#1690 /bin/r[m] -rf /
ECC#2832 env -S 'rm -rf /important/data'
ECC#2832 env --split-string='rm -rf /important/data'
loom#3586 env FOO=bar halt
claude-code#86667 cmd /c rd /s /q "C:\\\\"
claude-code#56603 cmd /c "rd /s /q \\"D:\\\\Projects\\""
claude-code#95426 rm -rf "$(cygpath -u 'C:\\\\')" 2>/dev/null
codex#43343 cmd.exe /d /c 'rd /s /q "\\\\?\\$resolved"'
opencode#9516 gh api r -q '.[].id' | xargs -I{} gh api -X DELETE repos/o/r/{}
claude-code#92542 cross-env FOO=1 rm -rf ~
"""


@pytest.mark.parametrize("command", listed(BYPASSES))
def test_no_spelling_gets_past_the_guard(command: str, project: Path) -> None:
    assert judged(command, project).verdict in BLOCKING


FORCED = """
erikunha#214 git push --mirror origin
erikunha#214 git push --delete origin main
erikunha#214 git push -dq origin main
erikunha#214 git push origin :main
erikunha#214 git push --force --all
erikunha#214 git push origin +HEAD:main
roadhero#1 git commit -m ok && git push -f origin main
dcg#231 GIT_SSH= git push --force origin main
"""


@pytest.mark.parametrize("command", listed(FORCED))
def test_no_spelling_reaches_a_protected_branch(command: str, project: Path) -> None:
    guard = protect_branches.make(protect_branches.Options(allow=("commit",)))
    assert guard(shell(command, cwd=str(project)), caller(project)).verdict is Verdict.DENY


# -- row 8: another way to the same end, within one call

WAYS_ROUND = """
damage-control#8 python3 -c "import shutil; shutil.rmtree('/home')"
damage-control#8 printf 'rm -rf ~' > /tmp/x.sh; sh /tmp/x.sh
damage-control#8 find ~ -delete
prismor#357 node -e "require('fs').rmSync('/etc', {recursive: true})"
prismor#357 perl -e 'use File::Path; remove_tree("/home")'
jetbrains-index-mcp#252 cat > /tmp/x.py <<'E'⏎import shutil⏎shutil.rmtree("/home")⏎E⏎python3 /tmp/x.py
"""


@pytest.mark.parametrize("command", listed(WAYS_ROUND))
def test_another_language_is_no_way_round(command: str, project: Path) -> None:
    assert judged(command, project).verdict in BLOCKING


WRITES = """
autonomous-dev#546 cat > tests/test_app.py << 'TESTEOF'⏎x = 2⏎TESTEOF
autonomous-dev#549 python3 << 'PYEOF'⏎from pathlib import Path⏎Path("tests/test_app.py").write_text("")⏎PYEOF
autonomous-dev#558 python3 -c "open('tests/test_app.py', 'w').write('')"
autonomous-dev#572 cp /tmp/content.txt lib/benchmark.py
autonomous-dev#572 mv /tmp/content.txt lib/benchmark.py
melodic#4243 bash -c 'echo secret > tests/test_app.py'
melodic#118 tee tests/test_app.py < /tmp/x
"""


@pytest.mark.parametrize("command", listed(WRITES))
def test_a_file_that_may_not_be_written_is_not_written_by_the_shell(
    command: str, project: Path
) -> None:
    event = shell(command, cwd=str(project))
    rules = {"deny": {"write": ["tests/**", "lib/**"]}}
    assert protected(event, project, **rules).verdict is Verdict.DENY


# -- row 9: secrets in what tools answer

SHOWN = {
    "claude-code#32105": f"GITHUB_TOKEN={TOKEN}\nUSER=dev\n",
    "claude-code#54196": f'{{"env": {{"TOKEN": "{TOKEN}"}}}}',
    "claude-code#65403": f"remote: https://x-access-token:{TOKEN}@github.com/acme/app.git",
    "claude-code#64326": f"fatal: Authentication failed for 'https://{TOKEN}@github.com/acme/app'",
    "codex#31015": f"$ cat id_ed25519\n{KEY}\n$",
    "codex#34895": f"Authorization: token {TOKEN}",
    "opencode#32183": f"export A=1 B={TOKEN} C=3",
    "agent-guard#77": f"2026-01-01T00:00:00Z WARN retry with {TOKEN}, attempt 2",
}


@pytest.mark.parametrize("thread", SHOWN)
def test_secrets_are_taken_out_of_what_the_model_reads_and_nothing_else_is(thread: str) -> None:
    text = SHOWN[thread]
    secret = KEY if KEY in text else TOKEN
    answer = redact_secrets.make(redact_secrets.Options())
    shown = answer(PostToolUse(tool=Tool(output=text)), NOBODY).rewrite.output or text
    before, after = text.split(secret)
    marker = shown.removeprefix(before).removesuffix(after)
    assert re.fullmatch(r"\[redacted:[a-z0-9-]+\]", marker), shown
    again = answer(PostToolUse(tool=Tool(output=shown)), NOBODY).rewrite.output
    assert again is None


# -- row 23: verdicts under load (dcg#213 #241 #245, disk-hygiene#3523)


def test_a_busy_machine_changes_no_verdict(project: Path) -> None:
    commands = [case.values[0] for case in (*listed(BYPASSES), *listed(MENTIONED))]
    alone = [judged(command, project).verdict for command in commands]

    def again(_: int) -> list[Verdict]:
        return [judged(command, project).verdict for command in commands]

    with ThreadPoolExecutor(8) as busy:
        assert all(found == alone for found in busy.map(again, range(8)))


def test_more_than_is_looked_at_is_never_let_through(project: Path) -> None:
    hidden = "; ".join(["echo hi"] * 5_000) + "; rm -rf ~"
    assert judged(hidden, project).verdict in BLOCKING


# -- row 24: its own advice, and its own commands (dcg#316 #170 #132)


def dangerous() -> Iterator[str]:
    for case in cases():
        if case.dangerous:
            yield case.command(home="/home/dev", project="/home/dev/project")


def test_every_advice_over_all_cases_passes_in_every_mode(project: Path) -> None:
    given: dict[str, str] = {}
    for mode in ("strict", "balanced", "autonomous"):
        for command in dangerous():
            safer = judged(command, project, mode=mode).metadata.get("safer", "")
            if safer and f"{mode} {safer}" not in given:
                given[f"{mode} {safer}"] = command
                assert judged(safer, project, mode=mode).verdict is Verdict.PASS, safer
                event = shell(safer, cwd=str(project))
                assert protected(event, project).verdict is Verdict.PASS, safer
    assert len(given) > 100


@pytest.mark.parametrize(
    "command",
    [
        "hookline explain e1",
        "hookline check",
        "hookline check hookline.yaml",
        "hookline list --json",
        "hookline log --limit 5",
        "hookline matrix claude-code",
        "hookline status claude-code",
        "hookline doctor",
        "hookline fire pre_tool_use --tool shell --command 'rm -rf /'",
        'echo \'{"event": "pre_tool_use"}\' | hookline fire --jsonl',
        "hookline pause --help",
        "python -m hookline list",
        "cat hookline.yaml",
    ],
)
def test_what_explains_a_verdict_is_never_blocked(command: str, project: Path) -> None:
    assert judged(command, project).verdict is Verdict.PASS
    assert protected(shell(command, cwd=str(project)), project).verdict is Verdict.PASS


# -- row 29: a guard says what it does not look at (melodic#1802 #1821)


@pytest.mark.parametrize(
    ("page", "heading"),
    [
        ("shell-guard.md", "What it does not see"),
        ("redaction.md", "What it does not see"),
        ("guards.md", "protect-paths"),
        ("guards.md", "protect-branches"),
        ("guards.md", "no-secrets-in"),
        ("guards.md", "mcp-guard"),
    ],
)
def test_the_documents_say_what_a_guard_does_not_see(page: str, heading: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = re.search(rf"(?ms)^## {heading}\n(.*?)(?=^## |\Z)", text)
    assert found is not None
    told = found[1] if page != "guards.md" else found[1].partition("**Not seen**")[2]
    assert len(told.split()) > 20, told


# -- row 30: which word was rejected (fak#2771)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("ls && rm -rf ~/Documents && echo done", "rm -rf ~/Documents"),
        ("make test; git push --force origin main", "git push --force origin main"),
        ("cd /tmp && psql -c 'DROP TABLE users' && ls", "DROP TABLE users"),
        ("npm test && npm publish", "npm publish"),
        ("true; HOOKLINE_TRUST=all make", "HOOKLINE_TRUST=all"),
    ],
)
def test_the_reason_names_the_words_that_decided(command: str, words: str, project: Path) -> None:
    answer = judged(command, project)
    assert words in answer.reason
    assert words in str(answer.metadata["words"])
    assert answer.metadata["category"] in get_args(shell_guard.Category)


def test_a_person_is_told_which_hook_said_so_and_in_which_line(project: Path) -> None:
    config = "version: 1\nhooks:\n  - use: shell-guard\n"
    outcome = fire(config, shell("rm -rf ~/Documents", cwd=str(project)))
    assert "shell-guard" in outcome.signature
    assert re.search(r"hookline\.yaml:3", outcome.signature)


# -- row 31: tools that nobody has heard of (qrspi-plus#64)


@pytest.mark.parametrize(
    "key", ["command", "cmd", "script", "shell_command", "commandLine", "commands"]
)
def test_an_unknown_tool_with_a_command_is_judged(key: str, project: Path) -> None:
    given = {key: ["rm -rf ~"] if key == "commands" else "rm -rf ~"}
    event = PreToolUse(tool=tool("brand_new_tool", **given), cwd=str(project))
    guard = shell_guard.make(shell_guard.Options())
    assert guard(event, caller(project)).verdict is Verdict.DENY


@pytest.mark.parametrize("key", ["path", "file_path", "filePath", "target_file", "filename"])
def test_an_unknown_tool_with_a_path_is_judged(key: str, project: Path) -> None:
    event = PreToolUse(tool=tool("brand_new_tool", **{key: ".env"}), cwd=str(project))
    assert protected(event, project).verdict in BLOCKING


def test_an_unknown_mcp_tool_is_asked_about() -> None:
    guard = mcp_guard.make(mcp_guard.Options(allow=("docs",)))
    assert guard(PreToolUse(tool=tool("mcp__new__anything")), NOBODY).verdict is Verdict.ASK


def test_an_unknown_tool_that_sends_a_secret_is_denied(project: Path) -> None:
    guard = no_secrets_in.make(no_secrets_in.Options())
    event = PreToolUse(tool=tool("mcp__new__post", body=f"key {TOKEN}"), cwd=str(project))
    assert guard(event, caller(project)).verdict is Verdict.DENY
