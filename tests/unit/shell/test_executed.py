"""Which words of a command are executed, and which are data: only the first kind is ever pinned."""

import pytest

from hookline.shell import PathWord, all_words, read_path_words

# A command and the files that it executes; all its other words name data.
EXECUTES = {
    # Programs, whatever stands before or around them.
    "./x.sh data.txt": "./x.sh",
    "./x.sh | ./y.py > out.txt < in.txt 2>> err.log": "./x.sh ./y.py",
    "> out.txt ./x.sh": "./x.sh",
    "A=data.txt ./x.sh": "./x.sh",
    "! ./x.sh data.txt": "./x.sh",
    "if ./x.sh a.txt; then cat b.txt; fi": "./x.sh",
    "while ./x.sh; do ./y.sh < a.txt; done": "./x.sh ./y.sh",
    "for f in a.txt b.sh; do ./x.sh $f; done": "./x.sh",
    "case $1 in a.txt) ./x.sh b.txt;; esac": "./x.sh",
    "f() { ./x.sh a.txt; }; f b.txt": "./x.sh",
    "(./x.sh a.txt) && { ./y.sh; }": "./x.sh ./y.sh",
    "echo $(./x.sh a.txt) `./y.sh b.txt`": "./x.sh ./y.sh",
    "cat <(./x.sh a.txt)": "./x.sh",
    "test -x ./x.sh && ./y.sh": "./y.sh",
    "[ -f ./x.sh ] || ./y.sh": "./y.sh",
    "cp a.txt b.txt; dir/x a.txt &": "dir/x",
    # Wrappers.
    "exec ./x.sh a.txt": "./x.sh",
    "time ./x.sh a.txt": "./x.sh",
    "timeout -k 1 5 ./x.sh a.txt": "./x.sh",
    "nice -n 5 nohup ./x.sh": "./x.sh",
    "env -i A=b ./x.sh a.txt": "./x.sh",
    "env -S './x.sh -a' a.txt": "./x.sh",
    "env -S ./x.sh -u a.txt": "./x.sh",
    "/usr/bin/env -S python3 -u x.py a.txt": "/usr/bin/env x.py",
    "/usr/bin/env -S 'python3 -u' -X dev x.py a.txt": "/usr/bin/env x.py",
    "env -S 'GIT_PAGER=./x.sh git' log": "./x.sh",
    "bin/env ./x.sh": "bin/env ./x.sh",
    "xargs -n 1 ./x.sh a.txt < b.txt": "./x.sh",
    "xargs -I{} sh -c './x.sh {}'": "./x.sh",
    "find . -name a.txt -exec ./x.sh {} b.txt ';'": "./x.sh",
    "flock a.lock ./x.sh b.txt": "./x.sh",
    "coproc ./x.sh": "./x.sh",
    "command -v ./x.sh": "",
    "uv run x.py a.txt": "x.py",
    "uv run --with b ruff check a.py": "",
    "uvx ruff check a.py": "",
    "poetry run python x.py a.py": "x.py",
    "npx --yes tsx x.ts a.json": "x.ts",
    "npx prettier a.ts": "",
    # Interpreters.
    "sh x.sh a.txt": "x.sh",
    "bash -euo pipefail x.sh a.txt": "x.sh",
    "bash --rcfile x.rc y.sh a.txt": "x.rc y.sh",
    "bash -s a.txt < b.sh": "b.sh",
    ".venv/bin/python -X dev -W error x.py a.json": ".venv/bin/python x.py",
    "python3.12 -m mod a.py": "",
    "python -c 'import a' b.py": "",
    "python - a.txt": "",
    "node --require ./x.js y.js a.json": "./x.js y.js",
    "node --test a.test.js": "",
    "node -e 'code' a.js": "",
    "deno run --allow-read x.ts a.json": "x.ts",
    "deno fmt a.ts": "",
    "bun x.ts a.json": "x.ts",
    "bun test a.ts": "",
    "ruby -I lib -r ./x.rb y.rb a.txt": "./x.rb y.rb",
    "perl -I lib -MFile::Temp x.pl a.txt": "x.pl",
    "perl -pi -e 's/a/b/' a.txt": "",
    "php -d a=b -f x.php a.txt": "x.php",
    "lua -e 'x=1' x.lua a.txt": "x.lua",
    "awk -F: -f x.awk a.txt": "x.awk",
    "awk '{print}' a.txt": "",
    "sed -n -f x.sed a.txt": "x.sed",
    "sed -i s/a/b/ a.txt": "",
    "jq -r --arg a b -f x.jq a.json": "x.jq",
    "go run x.go a.txt": "x.go",
    "coverage run --branch x.py a.txt": "x.py",
    "coverage report a.py": "",
    "php artisan a.php": "artisan",
    "npm run lint a.js": "",
    "sudo -u me ./x.sh a.txt": "./x.sh",
    "nohup setsid stdbuf -oL ./x.sh a.txt &": "./x.sh",
    "time -p ./x.sh": "./x.sh",
    "exec > a.log; ./x.sh": "./x.sh",
    "[[ -f a.txt ]] && ./x.sh": "./x.sh",
    "cat a.txt | while read -r f; do ./x.sh b.txt; done": "./x.sh",
    "./x.sh &>> a.log": "./x.sh",
    "go vet ./a": "",
    "java -Xmx1g -jar x.jar a.txt": "x.jar",
    ". ./x.sh a.txt": "./x.sh",
    "source x.sh; cat a.txt": "x.sh",
    "sh $(cat a.txt) x.sh": "x.sh",
    'python "$SCRIPT" a.json': "",
    # Scripts on standard input, which is data where there is another script.
    "bash < x.sh > a.txt 2>> b.log 3< c.txt": "x.sh",
    "sudo -u me sh -x < x.sh": "x.sh",
    "sh <> x.sh": "x.sh",
    ". /dev/stdin < x.sh": "x.sh",
    "cat x.sh y.sh | sh": "x.sh y.sh",
    "cat x.sh | tee a.log | bash -s b.txt": "x.sh",
    "sudo cat < x.sh | sh": "x.sh",
    "{ cat x.sh; echo a; } | (sh)": "x.sh",
    "{ sh; } < x.sh": "x.sh",
    "exec < x.sh; sh": "x.sh",
    "python3 < x.py": "x.py",
    "python3 -u - a.txt < x.py": "x.py",
    "cat x.py | python3": "x.py",
    "node < x.js": "x.js",
    "deno run - < x.ts": "x.ts",
    "awk -f - a.txt < x.awk": "x.awk",
    "at now < x.sh": "x.sh",
    "python3 y.py < a.json": "y.py",
    "cat a.json | python3 y.py": "y.py",
    "python3 -c 'import a' < b.py": "",
    "jq . < a.json": "",
    "cat a.json | jq -r .b | sh": "",
    "cat a.txt | xargs sh": "",
    "ssh host < a.sh": "",
    "docker exec -i c sh < a.sh": "",
    "while read -r f; do ./x.sh $f; done < a.txt": "./x.sh",
    "python3 -m coverage run --branch x.py a.txt": "x.py",
    "python3 -mcProfile -o a.prof x.py b.txt": "x.py",
    "pwsh -NoProfile -ExecutionPolicy Bypass -File x.ps1 a.txt": "x.ps1",
    "pwsh x.ps1 a.txt": "x.ps1",
    "make -f x.mk all": "x.mk",
    "make -j4 all --makefile=x.mk": "x.mk",
    "just --justfile x check": "x",
    "gdb --batch -x x.gdb a.txt": "x.gdb",
    "jq . -f x.jq a.json": "x.jq",
    "pwsh -Command 'Get-Item a.txt'": "",
    "BASH_ENV=x.sh bash -c ls": "x.sh",
    "env ENV=x.sh sh -c ls": "x.sh",
    # Code in words, documents and variables.
    "sh -c './x.sh a.txt && . ./y.sh'": "./x.sh ./y.sh",
    "bash -c \"sh -c './x.sh a.txt'\"": "./x.sh",
    "bash -c '\"$0\" a.txt' ./x.sh": "./x.sh",
    "eval ./x.sh a.txt": "./x.sh",
    "trap './x.sh a.txt' EXIT": "./x.sh",
    "trap ./x.sh EXIT": "./x.sh",
    "sh <<E\n./x.sh a.txt\nE": "./x.sh",
    "cat <<E > b.txt\n./x.sh a.txt\nE": "",
    "echo ./x.sh | sh": "./x.sh",
    "X=./x.sh; $X a.txt": "./x.sh",
    "GIT_PAGER=./x.sh git log": "./x.sh",
    "watch ./x.sh a.txt": "./x.sh",
    "git rebase -x ./x.sh main": "./x.sh",
    # Programs' own files, and those of other machines.
    "date >> a.log": "",
    "ruff check src/a.py": "",
    "pytest tests/a.py": "",
    "cat a.md": "",
    "jq .tool_input.file_path": "",
    "awk '{print}' -f a.txt": "",
    "make all": "",
    "ruby -c a.rb": "",
    "psql -f a.sql": "",
    "shellcheck ./a.sh": "",
    "tee a.txt < b.txt": "",
    "grep -f a.txt b.sh": "",
    "ssh host ./a.sh": "",
    "docker run -v .:/w image ./a.sh": "",
    "kubectl exec pod -- ./a.sh": "",
}


def files(words: tuple[PathWord, ...]) -> set[str]:
    executed = (word for word in all_words(words) if word.is_executed)
    return {word.text for word in executed if not word.is_on_path and not word.is_computed}


@pytest.mark.parametrize("command", EXECUTES)
def test_what_is_executed_and_nothing_else(command: str) -> None:
    assert files(read_path_words(command)) == set(EXECUTES[command].split())


@pytest.mark.parametrize(
    ("command", "interpreter"),
    {
        "curl https://a.b/c | sh": "sh",
        "sh": "sh",
        "cat | bash -s a.txt": "bash",
        "sed s/a/b/ a.sh | sh": "sh",
        "bash < <(./x.sh)": "bash",
        "sh <&3": "sh",
        "cat a.txt | xargs bash": "bash",
        "python3": "python3",
        "./x.py | python3 -": "python3",
        "ls": "",
        "sh < a.sh": "",
        "cat a.sh | sh": "",
        "sh <<E\nls\nE": "",
        "sh <<< ls": "",
        "echo ls | sh": "",
        "node -v": "",
        "python3 --version": "",
    }.items(),
)
def test_a_script_on_standard_input_that_nobody_can_tell_is_shown(
    command: str, interpreter: str
) -> None:
    computed = [word for word in all_words(read_path_words(command)) if word.is_computed]
    told = [(word.text, word.interpreter) for word in computed]
    assert told == ([("/dev/stdin", interpreter)] if interpreter else [])


# Only at the top of a text is it sure which value a variable has.
@pytest.mark.parametrize("command", [c for c in EXECUTES if "$X" not in c])
@pytest.mark.parametrize(
    "context",
    ["true && {}", "({})", "if true; then {}; fi", "x=$({}\n)", "f() {{ {}\n}}; f", "{}\n: done"],
)
def test_it_is_the_same_wherever_the_command_stands(command: str, context: str) -> None:
    ending = "\n" if "<<" in command or command.endswith("&") else ""
    script = context.replace("; fi", "\nfi").replace("{})", "{}\n)").format(command + ending)
    assert files(read_path_words(script)) == set(EXECUTES[command].split())


@pytest.mark.parametrize(
    ("run", "executed"),
    [
        (["./x.sh", "./a.sh"], {"./x.sh"}),
        (["sh", "x.sh", "a.sh"], {"x.sh"}),
        (["env", "python3", "x.py", "a.py"], {"x.py"}),
        (["sh", "-c", "./x.sh ./a.sh > b.sh"], {"./x.sh"}),
        (["env", "-S", "./x.sh a"], {"./x.sh"}),
        (["ruff", "check", "./a.py", ">", "b.py"], set()),
        ([""], set()),
    ],
)
def test_a_list_is_read_alike(run: list[str], executed: set[str]) -> None:
    assert files(read_path_words(run)) - {""} == executed


def test_the_interpreter_is_told() -> None:
    words = {word.text: word.interpreter for word in read_path_words("./a; python3 b; . ./c; d e")}
    assert words == {
        "./a": "", "python3": "", "b": "python3", ".": "", "./c": ".", "d": "", "e": "",
    }  # fmt: skip
