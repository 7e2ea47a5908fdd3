"""Database clients and the tasks of frameworks that empty or drop databases."""

import os
import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.arguments import parse
from hookline.builtin.shell_guard.families.code import ROWS
from hookline.builtin.shell_guard.families.sql import judged_sql
from hookline.builtin.shell_guard.families.tables import Verb, verbs
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.targets import targets
from hookline.builtin.shell_guard.world import World
from hookline.files import read_regular

__all__ = ["CLIENTS", "FAMILY", "scripted"]

_MAX_SCRIPT = 64 * 1024
_TELLING = re.compile(r"drop|truncate|wipe|reset|delete|clean|destroy|nuke|purge", re.IGNORECASE)
_GONE = "what is in the database has no other copy"

_CODE = ("-c", "--command", "-e", "--execute", "-Q", "-q", "--query", "--eval", "-cmd")
_FILES = ("-f", "--file", "-i", "--input-file")
_VALUED = (
    *_CODE, *_FILES, "-h", "--host", "-p", "--port", "-U", "--username", "-u", "--user", "-d",
    "--dbname", "-D", "--database", "-S", "-P", "-v", "--variable", "-o", "--output", "-n",
)  # fmt: skip


def _sql(act: Act, world: World) -> Iterator[Finding]:
    valued = [
        each for each in _VALUED if not (act.name.startswith(("mysql", "maria")) and each == "-p")
    ]
    arguments = parse(act.words[1:], valued)
    texts = [arguments.options[name] for name in _CODE if name in arguments.options]
    # A second -c would hide the first: look at every word behind one.
    texts += [after for name, after in zip(act.words, act.words[1:], strict=False) if name in _CODE]
    if act.name.startswith(("sqlite", "duckdb")):
        texts += arguments.operands[1:]
    for text in dict.fromkeys(texts):
        if not act.exact and "$" in text and not re.search(r"[ ;]", text):
            yield risky("unreadable", f"{act.name} {text}", "the statements cannot be seen")
        yield from judged_sql(text, act.name)
    for text in act.inputs:
        yield from judged_sql(text, act.name)
    script = arguments.value(*_FILES)
    if script:
        yield from scripted(act, script, world)


def scripted(act: Act, name: str, world: World) -> Iterator[Finding]:
    """A file of statements: looked into, or else judged by its name."""
    for target in targets(name, act, world):
        # A name such as /dev/stdin is to be seen before it leads to a file that is ours.
        path = name if name.startswith(("/dev/", "/proc/")) else target.path
        text, is_seen = f"{act.name} … {name}", False
        try:
            script = read_regular(path, _MAX_SCRIPT + 1)
            is_seen = len(script) <= _MAX_SCRIPT
            yield from judged_sql(script[:_MAX_SCRIPT].decode("utf-8", "replace"), text)
        except (OSError, ValueError):
            kinds = (os.path.isfile, os.path.isdir)
            if path == target.path and os.path.exists(path) and not any(is_(path) for is_ in kinds):
                yield risky("unreadable", text, "its statements come through a pipe")
        if not is_seen and _TELLING.search(name):
            yield risky("deletes", text, "its statements cannot be seen", radius="high")


def _drops(act: Act, world: World) -> Iterator[Finding]:
    yield fatal("deletes", act.text, _GONE)


def _mysqladmin(act: Act, world: World) -> Iterator[Finding]:
    if any(word in ("drop", "shutdown", "flush-privileges", "password") for word in act.words):
        yield fatal("deletes", act.text, _GONE)


def _restore(act: Act, world: World) -> Iterator[Finding]:
    if any(word in ("-c", "--clean", "--drop") for word in act.words[1:]):
        yield risky("deletes", act.text, "what is there is dropped first", radius="high")


_REDIS = re.compile(r"flushall|flushdb|shutdown|swapdb|replicaof|slaveof|failover", re.IGNORECASE)


_SERVER = frozenset({"config", "debug", "script", "acl", "cluster", "eval", "module"})
_SETS = re.compile(r"(?:set|rewrite|flush|reset|del\w*|load|segfault|\S*del)\b", re.IGNORECASE)


def _redis(act: Act, world: World) -> Iterator[Finding]:
    arguments = parse(
        act.words[1:], ("-h", "-p", "-a", "-n", "-u", "-s", "--user", "--pass", "-r", "-i")
    )
    for text in (" ".join(arguments.operands), *act.inputs):
        for line in text.splitlines():
            verb, _, rest = line.strip().partition(" ")
            if _REDIS.fullmatch(verb):
                yield fatal("deletes", f"redis-cli {line.strip()}", _GONE)
            elif verb.lower() in _SERVER and _SETS.match(rest):
                yield risky("changes-system", f"redis-cli {line.strip()}", "it changes the server")
    if "xargs" in act.wrappers and any(word.lower() in ("del", "unlink") for word in act.words):
        yield risky("deletes", act.text, "every key that is listed goes", radius="high")


_MONGO = re.compile(
    r"dropDatabase\s*\(|\.drop\s*\(|\.(?:deleteMany|remove)\s*\(\s*(?:\{\s*\})?\s*[,)]|dropIndexes"
    r"|dropUser|dropAllUsers|shutdownServer|\.renameCollection|deleteMany\(\s*\{\s*\}"
)


def _mongo(act: Act, world: World) -> Iterator[Finding]:
    for text in (*act.words[1:], *act.inputs):
        found = _MONGO.search(text)
        if found is not None:
            yield fatal("deletes", f"{act.name} … {found.group()}", _GONE)


def _tasks(act: Act, world: World) -> Iterator[Finding]:
    """Tasks of web frameworks: ``rails db:drop``, ``manage.py flush``, ``migrate:fresh``."""
    for word in act.words[1:]:
        if _TASK.fullmatch(word):
            yield risky("deletes", f"{act.name} {word}", _GONE, radius="high")
            return
    joined = act.text
    for option, word in zip(act.words, act.words[1:], strict=False):
        if option == "--file" and "execute" in act.words:
            yield from scripted(act, word, world)
    for text in act.words[1:]:
        rows = ROWS.search(text)
        if rows is not None:
            yield risky("deletes", f"{act.name} … {rows.group()}", _GONE, radius="high")
            return
    for pattern in _TASK_WORDS:
        found = pattern.search(joined)
        if found is not None:
            yield risky("deletes", found.group(), _GONE, radius="high")
            return


_TASK = re.compile(
    r"db:(?:drop|reset|purge|wipe|schema:load|migrate:reset|truncate_all|seed:replant"
    r"|setup:reset)(?::\w+)?"
    r"|migrate:(?:fresh|reset|refresh)|ecto\.(?:drop|reset)|schema:drop|doctrine:(?:database"
    r"|schema):drop"
    r"|flush|reset_db|sqlflush|database:drop|db:(?:migrate:)?undo:all|schema:drop|cache:pool:drop"
)
_TASK_WORDS = (
    re.compile(
        r"\bprisma\b.*\bmigrate reset\b|\bprisma\b.*\bdb push\b.*--(?:force-reset|accept-data-loss)"
    ),
    re.compile(r"\balembic\b.*\bdowngrade (?:base|-\d+)|\bflask db downgrade\b"),
    re.compile(
        r"\bmigrate\b.*\b(?:drop|down)\b.*(?:-f|-all)?|\bgoose\b.*\breset\b|\bdbmate drop\b"
    ),
    re.compile(
        r"\bflyway\b.*\bclean\b|\bliquibase\b.*\b(?:drop-?all|rollback)\b|\bsequelize\b.*db:drop"
    ),
    re.compile(
        r"\bmanage\.py migrate \w+ zero\b|\bknex\b.*\brollback --all\b|\btypeorm\b.*schema:drop"
    ),
    re.compile(r"\bdrizzle-kit\b.*\bdrop\b|\bsupabase db reset\b"),
)
_STORES = verbs(
    (
        Verb("del", "deletes", _GONE, radius="high"),
        Verb(
            "(reset|force_reset|delete_\\w+|purge_queue|stop_app|forget_cluster_node)",
            "deletes",
            _GONE,
            radius="high",
        ),
        Verb("(snapshot|member) (restore|remove)", "deletes", _GONE, radius="high"),
        Verb("kv (delete|destroy|metadata)", "deletes", _GONE, radius="high"),
        Verb("(--delete)", "deletes", _GONE, radius="high"),
        Verb("(delete|drop|purge)", "deletes", _GONE, radius="high"),
        Verb("\\w+ (rm|delete|del|drop|purge|remove|truncate)", "deletes", _GONE, radius="high"),
        Verb("(secrets|auth) disable", "deletes", _GONE, radius="high"),
    )
)


CLIENTS = frozenset({
    "psql", "mysql", "mariadb", "sqlite3", "sqlite", "duckdb", "sqlcmd", "usql", "pgcli", "mycli",
    "cockroach", "clickhouse-client", "clickhouse", "cqlsh", "snowsql", "trino", "litecli",
})  # fmt: skip
"""Programs that are given statements."""

FAMILY: Family = {
    **dict.fromkeys(sorted(CLIENTS), _sql),
    **dict.fromkeys(("dropdb", "dropuser"), _drops),
    "mysqladmin": _mysqladmin,
    **dict.fromkeys(("pg_restore", "mongorestore"), _restore),
    **dict.fromkeys(("redis-cli", "valkey-cli", "keydb-cli"), _redis),
    **dict.fromkeys(("mongosh", "mongo"), _mongo),
    **dict.fromkeys(
        ("etcdctl", "rabbitmqctl", "rabbitmqadmin", "consul", "vault", "kafka-topics",
         "kafka-topics.sh", "kafka-delete-records", "kafka-delete-records.sh", "influx", "nats",
         "rpk", "pulsar-admin", "cypher-shell", "arangosh", "couchbase-cli", "cbq", "surreal"),
        _STORES,
    ),
    **dict.fromkeys(
        ("rails", "rake", "artisan", "mix", "prisma", "alembic", "flask", "migrate", "goose",
         "dbmate",
         "flyway", "liquibase", "sequelize", "sequelize-cli", "knex", "typeorm", "drizzle-kit",
         "manage.py", "django-admin", "console", "diesel"),
        _tasks,
    ),
}  # fmt: skip
