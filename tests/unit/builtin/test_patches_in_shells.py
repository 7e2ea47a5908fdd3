"""Patches that a shell command makes: the files they name are as protected as any other."""

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
