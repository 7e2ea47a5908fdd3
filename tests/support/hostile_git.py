"""Repositories in which every setting that can name a program names one that leaves a mark."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

__all__ = ["PATH", "SHAPES", "Traps", "configure", "git"]

PATH = os.environ["PATH"]
_WHO = ("-c", "user.name=Dev", "-c", "user.email=dev@example.com", "-c", "init.defaultBranch=main")
_PLAIN = ("-c", "protocol.file.allow=always", "-c", "core.hooksPath=/dev/null")

# What takes a program by itself, and what takes one for a driver that `.gitattributes` names.
_SETTINGS = (
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.gitProxy"),
    *("core.askPass", "core.alternateRefsCommand", "pager.status", "pager.diff", "pager.log"),
    *("pager.config", "sequence.editor", "diff.external", "diff.guiTool", "credential.helper"),
    *("gpg.program", "gpg.ssh.program", "uploadpack.packObjectsHook", "interactive.diffFilter"),
    *("trailer.trap.command", "trailer.trap.cmd", "merge.trap.driver", "submodule.sub.update"),
    *("alias.status", "alias.diff"),
    *("browser.trap.cmd", "difftool.trap.cmd", "man.trap.cmd", "sendemail.smtpserver"),
)
_TALKS = ("remote.evil.uploadpack", "remote.evil.receivepack")
_HOOKS = (
    *("post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc", "pre-commit"),
    *("fsmonitor-watchman", "post-commit", "pre-push", "post-rewrite", "prepare-commit-msg"),
)
_ATTRIBUTES = """\
a.txt filter=trap
b.txt filter=process
c.txt filter=included
d.txt filter=worktree
e.txt diff=trap
f.txt diff=command
g.txt filter=condition
new.txt filter=trap
"""
_FILES = "abcdefgh"


def git(directory: Path, *words: str, fails: bool = False, **env: str) -> str:
    """What plain git prints, as a person would run it."""
    variables = {"PATH": PATH, "HOME": str(directory / "nobody"), "LC_ALL": "C.UTF-8", **env}
    command = ["git", "-C", str(directory), *_WHO, *words]
    done = subprocess.run(command, check=not fails, env=variables, capture_output=True, text=True)
    return done.stdout


def configure(root: Path, values: Mapping[str, str]) -> None:
    """Add settings to a repository's own."""
    with (root / ".git/config").open("a") as file:
        for key, value in values.items():
            section, _, rest = key.partition(".")
            inner, _, name = rest.rpartition(".")
            file.write(f'[{section} "{inner}"]\n' if inner else f"[{section}]\n")
            file.write(f'{name} = "{value}"\n')


class Traps:
    """What the programs of hostile repositories leave behind when they run."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self._marks = base / "marks"
        self._programs = base / "programs"
        for directory in (self._marks, self._programs):
            directory.mkdir()

    def sprung(self) -> set[str]:
        """The names of the programs that ran since this was last asked."""
        found = set(os.listdir(self._marks))
        for name in found:
            (self._marks / name).unlink()
        return found

    def program(self, name: str, then: str = "cat") -> str:
        """A program that leaves a mark."""
        path = self._programs / name
        path.write_text(f"#!/bin/sh\n: >{self._marks}/{name}\n{then}\n")
        path.chmod(0o755)
        return str(path)

    def repository(self, root: Path) -> Path:
        """A work tree with changes of every kind, whose repository is one trap beside another."""
        root.mkdir(parents=True)
        git(root, "init", "-q")
        for name in _FILES:
            (root / f"{name}.txt").write_text(f"{name}\n")
        git(root, *_PLAIN, "add", ".")
        git(root, *_PLAIN, "commit", "-qm", "first")
        self._sign(root)
        (root / "staged.txt").write_text("staged\n")
        git(root, *_PLAIN, "add", "staged.txt")
        (root / ".gitattributes").write_text(_ATTRIBUTES)
        self.arm(root)
        for name in _FILES:
            # As long as before: git has to look into it.
            (root / f"{name}.txt").write_text(f"{name.upper()}\n")
        (root / "new.txt").write_text("new\n")
        return root

    def _sign(self, root: Path) -> None:
        """Whoever shows a signature runs a program to verify it."""
        tree = git(root, "rev-parse", "HEAD^{tree}").strip()
        who = "Dev <dev@example.com> 1700000000 +0000"
        signature = "-----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----"
        text = f"tree {tree}\nauthor {who}\ncommitter {who}\ngpgsig {signature}\n\nsigned\n"
        (self.base / "commit").write_text(text)
        commit = git(root, "hash-object", "-t", "commit", "-w", str(self.base / "commit")).strip()
        git(root, *_PLAIN, "update-ref", "refs/heads/main", commit)

    def arm(self, root: Path) -> None:
        """Set every trap in a repository."""
        values = {key: self.program(key) for key in _SETTINGS}
        values |= {key: self.program(key, "exit 1") for key in _TALKS}
        for driver, key in (("trap", "clean"), ("trap", "smudge"), ("process", "process")):
            values[f"filter.{driver}.{key}"] = self.program(f"filter.{driver}.{key}")
        values["diff.trap.textconv"] = self.program("diff.trap.textconv")
        values["diff.command.command"] = self.program("diff.command.command")
        values["submodule.sub.update"] = "!" + values["submodule.sub.update"]
        values["log.showSignature"] = "true"
        values["core.hooksPath"] = str(self._hooks(self.base / "hooks-path", "path"))
        values["include.path"] = self._settings("included")
        values["includeIf.gitdir:**.path"] = self._settings("condition")
        values["extensions.worktreeConfig"] = "true"
        values["core.repositoryFormatVersion"] = "1"
        configure(root, values)
        worktree = self._settings("worktree")
        (root / ".git/config.worktree").write_text(Path(worktree).read_text())
        self._hooks(root / ".git/hooks", "own")

    def _settings(self, driver: str) -> str:
        path = self.base / f"{driver}.settings"
        clean = self.program(f"filter.{driver}.clean")
        path.write_text(f'[filter "{driver}"]\nclean = {clean}\n')
        return str(path)

    def _hooks(self, directory: Path, prefix: str) -> Path:
        directory.mkdir(exist_ok=True)
        for name in _HOOKS:
            (directory / name).unlink(missing_ok=True)
            (directory / name).symlink_to(self.program(f"hook-{prefix}-{name}"))
        return directory

    # The shapes in which a hostile repository comes. Each is the directory an agent works in.

    def at_the_top(self) -> Path:
        return self.repository(self.base / "work")

    def in_a_subdirectory(self) -> Path:
        deeper = self.at_the_top() / "deeper"
        deeper.mkdir()
        (deeper / "a.txt").write_text("new")
        return deeper

    def as_a_link(self) -> Path:
        work = self.at_the_top()
        (work / ".git").rename(self.base / "elsewhere")
        (work / ".git").symlink_to(self.base / "elsewhere")
        return work

    def named_by_a_file(self) -> Path:
        work = self.at_the_top()
        (work / ".git").rename(self.base / "elsewhere")
        (work / ".git").write_text("gitdir: ../elsewhere\n")
        return work

    def as_a_linked_work_tree(self) -> Path:
        main = self.repository(self.base / "main")
        quiet = ("-c", "core.fsmonitor=false", *_PLAIN)
        git(main, *quiet, "worktree", "add", "-q", "--no-checkout", str(self.base / "work"))
        work = self.base / "work"
        for file in (*main.glob("*.txt"), main / ".gitattributes"):
            (work / file.name).write_bytes(file.read_bytes())
        git_dir = Path(git(work, "rev-parse", "--absolute-git-dir").strip())
        (git_dir / "index").write_bytes((main / ".git/index").read_bytes())
        (git_dir / "config.worktree").write_text((main / ".git/config.worktree").read_text())
        return work

    def nested_and_unknown(self) -> Path:
        outer = self._outer()
        self.repository(outer / "sub")
        return outer

    def as_a_submodule(self) -> Path:
        outer = self.nested_and_unknown()
        commit = git(outer / "sub", *_PLAIN, "rev-parse", "HEAD").strip()
        git(outer, "update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
        (outer / ".gitmodules").write_text(
            '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n'
        )
        settings = {"submodule.sub.active": "true", "submodule.recurse": "true"}
        configure(outer, settings | {"diff.ignoreSubmodules": "none", "diff.submodule": "diff"})
        return outer

    def missing_what_a_remote_promises(self) -> Path:
        work = self.at_the_top()
        blob = git(work, *_PLAIN, "rev-parse", "HEAD:h.txt").strip()
        git(work, "-c", "core.fsmonitor=false", *_PLAIN, "add", "h.txt")
        (work / ".git/objects" / blob[:2] / blob[2:]).unlink()
        remote = {
            "extensions.partialClone": "evil",
            "remote.evil.promisor": "true",
            "remote.evil.url": f"ext::{self.program('remote.evil.url', 'exit 1')}",
            "protocol.ext.allow": "always",
        }
        configure(work, remote)
        return work

    def with_another_work_tree(self) -> Path:
        """Its settings say that its files lie elsewhere."""
        work = self.at_the_top()
        (self.base / "private").mkdir()
        (self.base / "private/secret.txt").write_text("secret\n")
        configure(work, {"core.worktree": str(self.base / "private")})
        return work

    def named_by_variables(self) -> Path:
        """An ordinary repository; see ``variables``."""
        self.at_the_top()
        return self._outer()

    def _outer(self) -> Path:
        outer = self.base / "outer"
        outer.mkdir()
        git(outer, "init", "-q")
        (outer / "a.txt").write_text("a\n")
        git(outer, "add", ".")
        git(outer, "commit", "-qm", "first")
        (outer / "a.txt").write_text("A\n")
        return outer

    def variables(self) -> dict[str, str]:
        """What the environment of an agent may hold that steers git."""
        programs = (
            *("GIT_PAGER", "GIT_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF"),
            *("GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "PAGER", "EDITOR"),
        )
        work = self.base / "work"
        return {
            **{name: self.program(f"variable-{name}") for name in programs},
            **({"GIT_DIR": f"{work}/.git", "GIT_WORK_TREE": str(work)} if work.exists() else {}),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "core.fsmonitor",
            "GIT_CONFIG_VALUE_0": self.program("variable-settings"),
            "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={self.program('variable-parameters')}'",
            "GIT_EXEC_PATH": str(self._programs),
            "GIT_TEMPLATE_DIR": str(self.base / "hooks-path"),
            "GIT_TRACE": str(self._marks / "variable-trace"),
        }


SHAPES = (
    *(Traps.at_the_top, Traps.in_a_subdirectory, Traps.as_a_link, Traps.named_by_a_file),
    *(Traps.as_a_linked_work_tree, Traps.nested_and_unknown, Traps.as_a_submodule),
    *(Traps.missing_what_a_remote_promises, Traps.with_another_work_tree),
    Traps.named_by_variables,
)
