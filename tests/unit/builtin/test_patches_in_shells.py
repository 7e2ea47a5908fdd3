"""Patches that a shell command makes: the files they name are as protected as any other."""

import os
from pathlib import Path

import pytest

from hookline.testing import assert_denied, assert_passed, fire, shell

CONFIG = "version: 1\nhooks:\n  - use: protect-paths\n"


def patch(path: str, deed: str = "Update") -> str:
    return f"*** Begin Patch\n*** {deed} File: {path}\n@@\n-A=1\n+A=2\n*** End Patch"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in (".env", "sub/.env"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("A=1\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        f"apply_patch <<'EOF'\n{patch('.env')}\nEOF",
        f"applypatch <<EOF\n{patch('.env')}\nEOF",
        f"apply_patch '{patch('.env')}'",
        f"apply_patch <<'EOF'\n{patch('.env', 'Delete')}\nEOF",
        f"apply_patch <<'EOF'\n{patch('.env', 'Add')}\nEOF",
        f"apply_patch <<'EOF'\n  {patch('.env')}\nEOF".replace("\n***", "\n  ***"),
        f"cd sub && apply_patch <<'EOF'\n{patch('.env')}\nEOF",
        f"cd sub && apply_patch <<'EOF'\n{patch('../.env')}\nEOF",
        f"bash -lc \"apply_patch <<'EOF'\n{patch('.env')}\nEOF\"",
        f"printf '%s' '{patch('.env')}' | apply_patch",
        f"apply_patch <<'EOF'\n{patch('a.py')}\n*** Move to: .env\nEOF",
    ],
)
def test_a_patch_of_a_protected_file_is_denied(project: Path, command: str) -> None:
    assert_denied(fire(CONFIG, shell(command, cwd=str(project))), ".env")


@pytest.mark.parametrize(
    "command",
    [
        f"apply_patch <<'EOF'\n{patch('a.py')}\nEOF",
        f"cat > notes.md <<'EOF'\n{patch('.env')}\nEOF",
        f"git commit -m 'how to: {patch('.env')}'",
        "apply_patch --help",
    ],
)
def test_other_files_and_texts_that_only_look_like_a_patch_are_left_alone(
    project: Path, command: str
) -> None:
    assert_passed(fire(CONFIG, shell(command, cwd=str(project))))


DIFF = "--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-A=1\n+A=2\n"


@pytest.mark.parametrize(
    "command",
    [
        "git apply p.diff",
        "git -C . apply --index p.diff",
        "git am p.diff",
        "git apply *.diff",
        "patch -p1 < p.diff",
        "patch -p1 --input=p.diff",
        "cat p.diff | patch -p1",
        "cd sub && git apply ../p.diff",
        "sh -c 'git apply p.diff'",
        f"git apply <<'EOF'\n{DIFF.format(path='.env')}EOF",
        "printf '%s\\n' '--- /dev/null' '+++ b/.env' | git apply",
    ],
)
def test_a_diff_that_a_program_makes_is_judged_by_the_files_it_names(
    project: Path, command: str
) -> None:
    (project / "p.diff").write_text(DIFF.format(path=".env"), encoding="utf-8")
    assert_denied(fire(CONFIG, shell(command, cwd=str(project))))


@pytest.mark.parametrize(
    "command", ["git apply p.diff", "git apply --check e.diff", "cat e.diff", "git apply pipe"]
)
def test_other_diffs_and_those_that_are_only_looked_at_pass(project: Path, command: str) -> None:
    (project / "p.diff").write_text(DIFF.format(path="a.py"), encoding="utf-8")
    (project / "e.diff").write_text(DIFF.format(path=".env"), encoding="utf-8")
    os.mkfifo(project / "pipe")
    assert_passed(fire(CONFIG, shell(command, cwd=str(project))))
