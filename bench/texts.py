"""Texts as tools answer with them: logs, source code, JSON and lock files, always the same."""

import json
import random
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["KINDS", "cut"]

_SIZE = 1_000_000
_PARTS = ("http.server", "db.pool", "auth.session", "worker", "cache", "scheduler")
_PACKAGES = b"""
accepts acorn ajv ansi-styles anymatch argparse array-flatten balanced-match body-parser braces
bytes callsites chalk chokidar color-convert commander concat-map content-type
convert-source-map cookie cookie-signature cross-spawn debug deep-is depd destroy doctrine
dunder-proto ee-first electron-to-chromium es-errors escape-html eslint eslint-scope espree
esquery estraverse etag express fast-deep-equal fill-range finalhandler find-up flatted fresh
fs-extra glob-parent globals gopd graceful-fs has-flag hasown http-errors iconv-lite ignore
inherits is-glob js-tokens js-yaml json5 keyv levn locate-path lodash.merge lru-cache mime
minimatch ms nanoid negotiator node-releases optionator p-limit parent-module path-key
picocolors prelude-ls punycode qs range-parser resolve-from safe-buffer semver send
shebang-command side-channel statuses supports-color text-table tsutils type-check typescript
undici-types unpipe uri-js vary which word-wrap yallist yocto-queue
""".split()
_LEVELS = ("INFO", "INFO", "INFO", "DEBUG", "WARN")


def _log() -> Iterator[str]:
    rng = random.Random(1)
    while True:
        yield (
            f"2026-11-16T09:{rng.randrange(10, 60)}:{rng.randrange(10, 60)}."
            f"{rng.randrange(100, 999)}Z {rng.choice(_LEVELS)} [{rng.choice(_PARTS)}] "
            f"request_id={rng.randbytes(16).hex()} "
            f"GET /api/v1/items/{rng.randrange(9999)}?page={rng.randrange(40)} "
            f"status={rng.choice((200, 200, 204, 404, 500))} took={rng.random() * 100:.1f}ms "
            f"user={rng.randrange(99999)}\n"
        )


def _code() -> Iterator[str]:
    library = Path(sysconfig.get_paths()["stdlib"])
    while True:
        for file in sorted(library.glob("*.py")):
            yield file.read_text(encoding="utf-8")


def _json() -> Iterator[str]:
    """What tools for agents answer with: files as strings, and rows of an API."""
    rng, files = random.Random(2), _code()
    while True:
        content = next(files)[:4_000]
        rows = [
            {"id": rng.randrange(10**9), "sha": rng.randbytes(20).hex(), "ok": rng.random() < 0.9}
            for _ in range(20)
        ]
        yield json.dumps({"path": "src/app.py", "content": content, "rows": rows}) + "\n"


def _lock() -> Iterator[str]:
    rng = random.Random(3)
    while True:
        name = rng.choice(_PACKAGES).decode()
        version = f"{rng.randrange(9)}.{rng.randrange(30)}.{rng.randrange(9)}"
        yield (
            f'    "node_modules/{name}": {{\n      "version": "{version}",\n'
            f'      "resolved": "https://registry.example/{name}/-/{name}-{version}.tgz",\n'
            f'      "integrity": "sha512-{rng.randbytes(64).hex()[:86]}==",\n'
            f'      "engines": {{"node": ">=18"}}\n    }},\n'
        )


KINDS: dict[str, Callable[[], Iterator[str]]] = {
    "logs": _log,
    "source code": _code,
    "JSON": _json,
    "lock files": _lock,
}


def cut(kind: str, size: int, most: int) -> list[bytes]:
    """Texts of that kind and size, no more than so many, all of them others."""
    wanted = min(_SIZE, size * most)
    pieces, so_far = [], 0
    for piece in KINDS[kind]():
        pieces.append(piece.encode())
        so_far += len(pieces[-1])
        if so_far >= wanted:
            break
    text = b"".join(pieces)
    return [text[at : at + size] for at in range(0, wanted, size)]
