"""The parts of the bench that do not measure: what timings come to, and what is made of them."""

import os
import re
import socket
import sqlite3
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from threading import Thread

import bench
import msgspec
import pytest
from bench.baseline import inserts_per_second, rows_in
from bench.driving import Asking, ask_all, frames
from bench.load import resident_kb
from bench.measure import Ratio
from bench.peers import PEERS, fastest_product, from_pypi
from bench.report import Report, Table, as_json, markdown
from bench.scenes import EMPTY, FULL, payload, rules
from bench.spawning import Program, Timed, run, words
from bench.spread import spread
from bench.stage import Stage
from bench.warm import against_true, table

from hookline import registry
from hookline.app import App
from hookline.config.compile import compile_file
from hookline.daemon.frames import ClientRequest, Decoder, encode_answer, encode_busy
from hookline.model.hook import Layer
from hookline.model.outcome import Reply
from hookline.store.journal.database import COLUMN_NAMES, INSERT, migrate


def _ratio(ours: float, theirs: float, limit: float, *, least: bool = False) -> Ratio:
    return Ratio(
        what="ours", against="theirs", ours_us=ours, theirs_us=theirs, limit=limit, least=least
    )


def _timed(*us: float) -> Timed:
    return Timed(us=list(us), stdout="", stderr="")


def test_a_spread_has_the_middle_and_the_tail() -> None:
    of_hundred = spread([float(number) for number in range(1, 102)])
    assert (of_hundred.count, of_hundred.p50) == (101, 51.0)
    assert (of_hundred.p95, of_hundred.p99) == (96.0, 100.0)


@pytest.mark.parametrize(
    ("ours", "least", "holds"),
    [(17.0, False, True), (17.1, False, False), (16.9, True, False), (17.0, True, True)],
)
def test_a_figure_holds_up_to_its_limit_or_from_it_on(
    ours: float, least: bool, holds: bool
) -> None:
    assert _ratio(ours, 10.0, 1.7, least=least).holds is holds


def test_all_figures_are_in_one_table_and_other_tables_and_notes_come_after() -> None:
    extra = Table(title="More", columns=["what", "µs"], rows=[["a thing", "1,234"]])
    text = markdown(
        [
            Report(ratios=[_ratio(1234.5, 1000.0, 1.7)], tables=[extra]),
            Report(ratios=[_ratio(5.0, 10.0, 0.7, least=True)], notes=["A sentence."]),
        ]
    )
    assert text.splitlines() == [
        "| hookline | µs | against | µs | ratio | limit | holds |",
        "|---|--:|---|--:|--:|--:|---|",
        "| ours | 1,234.5 | theirs | 1,000.0 | 1.23 | ≤ 1.7 | yes |",
        "| ours | 5.0 | theirs | 10.0 | 0.50 | ≥ 0.7 | NO |",
        "",
        "**More**",
        "",
        "| what | µs |",
        "|---|--:|",
        "| a thing | 1,234 |",
        "",
        "A sentence.",
    ]


def test_json_has_every_timing_and_what_was_concluded() -> None:
    report = Report(ratios=[_ratio(3.0, 2.0, 1.4)], samples={"row": [1.0, 2.0]})
    told = msgspec.json.decode(msgspec.json.encode(as_json([report])))
    assert told["samples"] == {"row": [1.0, 2.0]}
    assert (told["ratios"][0]["ratio"], told["ratios"][0]["holds"]) == (1.5, False)


def test_tails_are_compared_with_tails() -> None:
    ours, bare = _timed(*range(2, 204, 2)), _timed(*range(1, 102))
    assert against_true("p50", ours, bare, 3).ratio == 2.0
    tail = against_true("p95", ours, bare, 3, tail=True)
    assert (tail.ours_us, tail.theirs_us) == (192.0, 96.0)


def test_each_row_is_shown_beside_the_bare_program_of_its_own_run() -> None:
    runs = [
        {"/bin/true": _timed(10, 10), "ours": _timed(15, 15)},
        {"/bin/true": _timed(20, 20), "theirs": _timed(50, 50)},
    ]
    shown = table("t", runs, ["x: missing here"])
    assert [row[0] for row in shown.rows] == ["ours", "theirs", "x: missing here"]
    assert [row[4:] for row in shown.rows[:2]] == [["10", "1.50", "1.50"], ["20", "2.50", "2.50"]]
    assert {len(row) for row in shown.rows} == {len(shown.columns)}


def test_scripts_are_for_scale_and_never_the_fastest_product() -> None:
    products = [peer.name for peer in PEERS if peer.product]
    scripts = [peer.name for peer in PEERS if not peer.product]
    timed = {name: _timed(50, 50) for name in products} | {name: _timed(1, 1) for name in scripts}
    timed[products[-1]] = _timed(40, 40)
    assert fastest_product(timed) == products[-1]
    assert fastest_product({name: timed[name] for name in scripts}) is None


def test_peers_are_named_with_the_version_that_is_installed() -> None:
    lock = Path(bench.__file__).with_name("peers.txt").read_text(encoding="utf-8")
    pinned = re.findall(r"^([\w-]+)==([\d.]+)", lock, re.MULTILINE)
    named = [peer.name.split()[:2] for peer in PEERS if peer.install is from_pypi]
    assert sorted(named) == sorted(map(list, pinned))


def test_payloads_have_the_size_asked_for_and_no_two_the_same_command(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "s", EMPTY)
    files = [*stage.inputs(20), *stage.inputs(10, event="PermissionRequest")]
    raws = [Path(file).read_bytes() for file in files]
    assert {len(raw) for raw in raws} == {2048}
    commands = {msgspec.json.decode(raw)["tool_input"]["command"] for raw in raws}
    assert len(commands) == 30
    assert len(payload(0, "/p", size=1 << 20)) == 1 << 20


@pytest.mark.parametrize("many", [0, 1, 100])
def test_generated_files_are_configs_of_that_many_rules(many: int) -> None:
    raw = (rules(many) if many else EMPTY) + FULL
    kit = App(env={"HOME": "/nonexistent"}, cwd="/", home="/nonexistent").kit
    assert registry.handlers()
    compiled = compile_file(
        raw, file="hookline.yaml", layer=Layer.USER, project_dir="/", kit=kit, read=_no_file
    )
    assert len(compiled.hooks) == many


def _no_file(path: str) -> bytes:
    raise FileNotFoundError(path)


def _answer_each(sock: socket.socket, said: bytes, heard: list[ClientRequest]) -> None:
    """A daemon for one connection, which says a little before each answer."""
    decoder = Decoder()
    with suppress(ConnectionError):  # as when it has heard what it did not want to hear
        while data := sock.recv(1 << 16):
            decoder.feed(data)
            if decoder.complete:
                heard.append(decoder.take(0.0))
                for byte in said:
                    sock.sendall(bytes([byte]))


def _ask(tmp_path: Path, said: bytes, *, events: int, seconds: float = 0.0) -> list[ClientRequest]:
    stage, heard = Stage(tmp_path, "s", EMPTY), list[ClientRequest]()
    pairs = [socket.socketpair() for _ in range(3)]
    threads = [Thread(target=_answer_each, args=(theirs, said, heard)) for _, theirs in pairs]
    for thread in threads:
        thread.start()
    asking = [
        Asking(ours.fileno(), frames(stage, f"session-{which}", count=40))
        for which, (ours, _) in enumerate(pairs)
    ]
    try:
        driven = ask_all(asking, events=events, seconds=seconds)
        assert len(driven.us) == len(heard)
        assert max(driven.us) <= driven.seconds * 1e6
    finally:
        for ours, _ in pairs:
            ours.close()
        for thread in threads:
            thread.join()
        for _, theirs in pairs:
            theirs.close()
    return heard


_PASSED = encode_answer(Reply(stdout=b"out", stderr=b"err"))


def test_the_driver_asks_each_question_once_and_no_two_are_the_same(tmp_path: Path) -> None:
    heard = _ask(tmp_path, b"AKK" + _PASSED, events=40)
    assert len(heard) == 120
    assert len({request.id for request in heard}) == 120
    told = [msgspec.json.decode(request.stdin) for request in heard]
    assert len({each["tool_input"]["command"] for each in told}) == 120
    assert {each["session_id"] for each in told} == {"session-0", "session-1", "session-2"}


def test_the_drivers_ids_grow_with_time_as_those_of_real_clients_do(tmp_path: Path) -> None:
    numbers: dict[str, list[int]] = {}
    for request in _ask(tmp_path, _PASSED, events=40):
        session = msgspec.json.decode(request.stdin)["session_id"]
        numbers.setdefault(session, []).append(int(request.id))
    assert sorted(chain.from_iterable(numbers.values())) == list(range(120))
    # Each connection's grow, and they are not counted one connection after the other.
    assert all(each == sorted(each) for each in numbers.values())
    assert {each[0] for each in numbers.values()} == {0, 1, 2}


def test_the_driver_asks_nothing_more_when_its_time_is_over(tmp_path: Path) -> None:
    assert 3 <= len(_ask(tmp_path, _PASSED, events=90, seconds=1e-9)) < 270


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (encode_busy("no"), "the daemon refused an event"),
        (encode_answer(Reply(exit_code=2)), "an event ended with an exit code"),
    ],
)
def test_the_driver_takes_nothing_but_a_good_answer(tmp_path: Path, said: bytes, why: str) -> None:
    with pytest.raises(RuntimeError, match=why):
        _ask(tmp_path, said, events=2)


def test_the_baseline_writes_the_rows_it_was_given(tmp_path: Path) -> None:
    path = str(tmp_path / "journal.db")
    given = ["id-1", *(["text"] * (len(COLUMN_NAMES) - 2)), b"payload"]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, path)
        connection.execute(INSERT, given)
    rows = rows_in(path)
    assert list(rows.event) == given
    assert inserts_per_second(rows, threads=4, events=40) > 0


def test_words_for_the_parent_end_in_nul_each() -> None:
    program = Program(name="n", argv=["/bin/true"], env={"A": "b"}, cwd="/", inputs=["/dev/null"])
    raw = words([program], rounds=2, warm=1)
    expected = ["2", "1", "1", "n", "/", "1", "/bin/true", "1", "A=b", "1", "/dev/null"]
    assert raw.decode().split("\0") == [*expected, ""]


def _shell(script: str, inputs: list[str], *, says: str = "", cwd: str = "/") -> Program:
    argv = ["/bin/sh", "-c", script]
    return Program(name=script, argv=argv, env={"A": "b"}, cwd=cwd, inputs=inputs, says=says)


def test_each_program_runs_in_its_place_with_its_own_input(tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(b"x" * 3_000_000)
    small = tmp_path / "small"
    small.write_text("hello")
    told = run(
        [
            _shell("pwd; echo $A; cat", [str(small)], says="hello", cwd=str(tmp_path)),
            _shell("wc -c", [str(large)], says="3000000"),
            _shell("exec 0<&-; exit 0", [str(large)]),
            _shell("head -c 200000 /dev/zero", [str(small)]),
        ],
        rounds=3,
        warm=1,
    )
    assert [len(row.us) for row in told.values()] == [3, 3, 3, 3]
    assert next(iter(told.values())).stdout == f"{tmp_path}\nb\nhello"


def test_a_fast_failure_is_no_fast_answer(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    with pytest.raises(RuntimeError, match=r"3 of 3 runs failed.*ended with 7.*'oh'"):
        run([_shell("printf oh >&2; exit 7", [str(empty)])], rounds=3, warm=1)
    with pytest.raises(RuntimeError, match="'yes' was expected on stdout"):
        run([_shell("echo no", [str(empty)], says="yes")], rounds=3, warm=1)


def test_resident_memory_is_read_from_the_system() -> None:
    assert resident_kb(os.getpid()) > 1000
