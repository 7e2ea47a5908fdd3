"""Places in which a shell runs a command: one function per place, from the command to a text.

A test runs each with a real bash and a real dash, so that every place is known to run its command.
"""

from collections.abc import Callable, Mapping

__all__ = ["CONTEXTS", "backticks", "double", "single"]

Context = Callable[[str], str]


def single(code: str) -> str:
    """The code in single quotes."""
    return "'" + code.replace("'", "'\\''") + "'"


def double(code: str) -> str:
    """The code in double quotes, expanded by nobody on the way."""
    for mark in '\\"$`':
        code = code.replace(mark, f"\\{mark}")
    return f'"{code}"'


def ansi(code: str) -> str:
    """The code in the quotes that bash alone knows."""
    return "$'" + code.replace("\\", "\\\\").replace("'", "\\'") + "'"


def backticks(code: str) -> str:
    """The code as a substitution with backticks."""
    return "`" + code.replace("\\", "\\\\").replace("`", "\\`") + "`"


def quoted_backticks(code: str) -> str:
    """The same inside double quotes, its own quotes escaped."""
    inner = code.replace("\\", "\\\\").replace("`", "\\`").replace('"', '\\"')
    return f'"`{inner}`"'


_SIMPLE: Mapping[str, str] = {
    # substitutions
    "substitution": "echo $({})",
    "substitution, spaced": "echo $( {} )",
    "substitution in quotes": 'echo "$({})"',
    "substitution in quotes, with text": 'echo "a $({}) b"',
    "substitution in a substitution": "echo $(echo $({}))",
    "quotes in a substitution in quotes": 'echo "$(echo "$({})")"',
    "substitution as the command": "$({})",
    "substitution over lines": "echo $(\n{}\n)",
    "commented substitution": "echo $( # it's (\n{}\n)",
    "process substitution, read": "cat <({})",
    "process substitution, written": "echo x > >({})",
    "process substitution on stdin": "cat < <({})",
    "torn dollar in quotes": 'echo "$\\\n({})"',
    "dollar torn twice, in a default": 'echo "${{Z:-$\\\n\\\n({})}}"',
    "torn dollar in a here-document": "cat <<EOF\n$\\\n({})\nEOF",
    "here-document with a torn delimiter": "cat <<E\\\nOF\n$({})\nEOF",
    "dollar in single quotes before": "echo '$(' \"$({})\" ')'",
    # expansions
    "default": "echo ${{Z:-$({})}}",
    "default in quotes": 'echo "${{Z:-$({})}}"',
    "assigned default": ": ${{Z:=$({})}}",
    "alternative": "Y=1; echo ${{Y:+$({})}}",
    "alternative in quotes in quotes": 'Y=1; echo "${{Y:+"$({})"}}"',
    "error text": "(: ${{Z:?$({})}})",
    "pattern of a prefix": "Y=1; echo ${{Y#$({})}}",
    "pattern to replace": "Y=1; echo ${{Y/$({})/x}}",
    "replacement": "Y=1; echo ${{Y/1/$({})}}",
    "offset": "Y=1; echo ${{Y:$({}; echo 0)}}",
    "subscript": "a=(1); echo ${{a[$({}; echo 0)]}}",
    "nested defaults": "echo ${{Z:-${{W:-$({})}}}}",
    "arithmetic": "echo $(( 1 + $({}; echo 1) ))",
    "arithmetic with a group": "echo $(( (1) + ($({}; echo 1)) ))",
    "old arithmetic": "echo $[ $({}; echo 1) ]",
    "arithmetic command": "(( $({}; echo 1) ))",
    "arithmetic loop": "for (( i=$({}; echo 1); i<1; i++ )); do :; done",
    "let": 'let "x=$({}; echo 1)"',
    # assignments
    "assignment": "x=$({})",
    "assignment in quotes": 'x="$({})"',
    "assignment before a command": "x=$({}) true",
    "appended assignment": "x+=$({})",
    "array": "a=($({}))",
    "array in quotes": 'a=("b" "$({})")',
    "array element": "a[1]=$({})",
    "subscript assigned": "a[$({}; echo 1)]=2",
    "declare": "declare x=$({})",
    "export": "export x=$({})",
    "readonly": 'readonly x="$({})"',
    "local": "f() {{ local x=$({}); }}; f",
    "assigned, then used": "x=$({}); echo $x",
    # redirections
    "target": "echo x > $({}; echo /dev/null)",
    "target in quotes": 'echo x > "$({}; echo /dev/null)"',
    "appended target": "echo x >> $({}; echo /dev/null)",
    "source": "cat < $({}; echo /dev/null)",
    "bare target": "> $({}; echo /dev/null)",
    "here-string": 'cat <<< "$({})"',
    "here-document": "cat <<EOF\n$({})\nEOF",
    "here-document with quotes": 'cat <<EOF\n"$({})"\nEOF',
    "here-document, indented": "cat <<-EOF\n\t$({})\n\tEOF",
    "here-document, default": "cat <<EOF\n${{Z:-$({})}}\nEOF",
    "here-document of a group": "{{ cat; }} <<EOF\na $({}) b\nEOF",
    "here-document before a pipe": "cat <<EOF | cat\n$({})\nEOF",
    "two here-documents": "cat <<A 3<<B\nx\nA\n$({})\nB",
    "here-document to a shell": "bash <<EOF\n{}\nEOF",
    "quoted here-document to a shell": "sh <<'EOF'\n{}\nEOF",
    "here-document to a shell by a pipe": "cat <<'EOF' | sh\n{}\nEOF",
    "here-document to a shell in a group": "{{ sh; }} <<'EOF'\n{}\nEOF",
    "here-document to a sourced file": "source /dev/stdin <<'EOF'\n{}\nEOF",
    "here-document to a dot": ". /dev/stdin <<'EOF'\n{}\nEOF",
    "here-document in a substitution": "echo $(sh <<'EOF'\n{}\nEOF\n)",
    "here-document in a substitution in eval": "eval \"$(cat <<'EOF'\n{}\nEOF\n)\"",
    "here-document to sh -s": "sh -s a b <<\\EOF\n{}\nEOF",
    # compound commands
    "subshell": "({})",
    "nested subshells": "( ({}) )",
    "two subshells at once": "(({}) )",
    "three subshells at once": "((({})))",
    "four subshells at once": "(((({}))))",
    "three subshells, spaced": "( ( ({}) ) )",
    "group": "{{ {}; }}",
    "group with a target": "{{ {}; }} > /dev/null 2>&1",
    "subshell with a target": "({}) > /dev/null",
    "if": "if {}; then :; fi",
    "then": "if true; then {}; fi",
    "else": "if false; then :; else {}; fi",
    "elif": "if false; then :; elif {}; then :; fi",
    "while": "while {}; do break; done",
    "while body": "while true; do {}; break; done",
    "until": "until {}; do break; done",
    "until body": "until false; do {}; break; done",
    "for words": "for x in $({}); do :; done",
    "for body": "for x in 1; do {}; done",
    "for arguments": "set -- a; for x; do {}; done",
    "select words": "select x in $({}); do break; done < /dev/null",
    "case word": "case $({}) in *) ;; esac",
    "case word in quotes": 'case "$({})" in *) ;; esac',
    "case body": "case x in x) {};; esac",
    "case body, parenthesised": "case x in (y) ;; (x|z) {} ;; esac",
    "case body that falls": "case x in x) ;& y) {};; esac",
    "case pattern": "case x in $({})) ;; esac",
    "second case pattern": "case x in y|$({})) ;; *) ;; esac",
    "test": "[[ -n $({}) ]]",
    "test in quotes": '[[ "$({})" == x ]]',
    "test pattern": "[[ x =~ $({}) ]]",
    "bracket": '[ -n "$({})" ]',
    "test command": 'test -z "$({})"',
    "and": "true && {}",
    "or": "false || {}",
    "not": "! {}",
    "background": "{} & wait",
    "pipe into": "{} | cat",
    "pipe out of": "true | {}",
    "pipe with errors": "true |& {}",
    "after a line": "cd .\n{}",
    "after a comment": "# it's a \"comment (\n{}",
    "after a comment at an end": "true # it's\n{}",
    "after set": "set -e; {}",
    "after shopt": "shopt -s extglob\n{}",
    "between two halves of a function in quotes": "x='f() {{ '; {}; : '}}'",
    "after a here-document": "cat <<'E O'\n$(\nE O\n{}",
    "time": "time {}",
    "time of a group": "time {{ {}; }}",
    "time of a function": "time function f {{ {}; }}; f",
    "coproc": "coproc {}; wait",
    "coproc of a group": "coproc {{ {}; }}; wait",
    "named coproc": "coproc C {{ {}; }}; wait",
    # functions
    "function": "f() {{ {}; }}; f",
    "function in a subshell": "f() ({}); f",
    "function, spaced": "f ()\n{{\n{}\n}}\nf",
    "function keyword": "function f {{ {}; }}; f",
    "function keyword with parentheses": "function f() {{ {}; }}; f",
    "function in a function": "f() {{ g() {{ {}; }}; g; }}; f",
    "function with a target": "f() {{ {}; }} > /dev/null; f",
    "function of a loop": "f() for x in 1; do {}; done; f",
    # wrappers
    "env": "env A=1 {}",
    "timeout": "timeout 5 {}",
    "nohup": "nohup {} > /dev/null 2>&1 &\nwait",
    "command": "command {}",
    "exec": "exec {}",
    "nice": "nice -n 5 {}",
    "setsid": "setsid -w {}",
    "stdbuf": "stdbuf -oL {}",
    "line continuation": "true && \\\n{}",
}

_QUOTED: Mapping[str, str] = {
    "bash -c": "bash -c {}",
    "sh -c": "sh -c {}",
    "dash -c": "dash -c {}",
    "bash -ec": "bash -ec {}",
    "bash with options": "bash --norc -o pipefail -c {}",
    "sh -c with arguments": "sh -c {} x y",
    "sh -c in the background": "sh -c {} & wait",
    "eval": "eval {}",
    "eval of two words": "eval true ';' {}",
    "trap": "trap {} EXIT",
    "trap on 0": "trap -- {} 0",
    "trap in a subshell": "( trap {} EXIT; true )",
    "trap on a signal": "trap {} USR1; kill -USR1 $$",
    "here-string to a shell": "bash <<< {}",
    "here-string to a sourced file": "source /dev/stdin <<< {}",
    "echo into a shell": "echo {} | sh",
    "printf into a shell": "printf '%s\\n' {} | bash",
    "printf into sh -s": "printf '%s' {} | sh -s",
    "xargs sh -c": "echo x | xargs sh -c {}",
    "xargs -I": "echo x | xargs -I@ sh -c {}",
    "xargs -n": "echo x | xargs -n1 -P2 bash -c {} _",
    "find -exec": "find . -maxdepth 0 -exec sh -c {} \\;",
    "find -exec with arguments": "find . -maxdepth 0 -exec bash -c {} _ {{}} +",
    "find -execdir": "find . -maxdepth 0 -execdir sh -c {} \\;",
    "env with a shell": "env -i PATH=/usr/bin:/bin sh -c {}",
    "env -S": "env -S'sh -c' {}",
    "env -S, unquoted": "env -S bash -c {}",
    "env -S, clustered": "env -vS bash -u -c {}",
    "env -S after another option": "env -i -S sh -c {}",
    "env --split-string": "env --split-string bash -u -c {}",
    "env --split-string, abbreviated": 'env --split="bash -u" -c {}',
    "env -S with options of env": "env -S'-u A B=1 bash' -ec {}",
    "env -S in env -S": "env -S'-S sh\\_-u' -c {}",
    "env -S with a comment": "env -S'bash #' -c {}",
    "timeout with a shell": "timeout 5 sh -c {}",
    "nohup with a shell": "nohup sh -c {} > /dev/null 2>&1 & wait",
    "setsid with a shell": "setsid -w sh -c {}",
    "exec with a shell": "exec bash -c {}",
    "prompt command": 'PROMPT_COMMAND={}; eval "$PROMPT_COMMAND"',
    "variable, then eval": 'x={}; eval "$x"',
    "variable, then sh -c": 'x={}; sh -c "$x"',
    "variable for sh -c": "x={} sh -c 'eval \"$x\"'",
    "alias": "shopt -s expand_aliases\nalias q={}\nq",
    "alias of dash": "alias q={}\nq",
    "process substitution sourced": "source <(echo {})",
    "process substitution to a shell": "bash <(printf '%s\\n' {})",
    "shell in a substitution": 'echo "$(bash -c {})"',
    "eval in a substitution": "echo $(eval {})",
    "command -p": "command -p sh -c {}",
    "builtin eval": "builtin eval {}",
    "substitution of an echo in eval": 'eval "$(echo {})"',
    "substitution of an echo in a shell": 'sh -c "$(printf %s {})"',
    "echo in a variable in eval": 'y=$(echo {}); eval "$y"',
    "argument of a function": 'f() {{ eval "$1"; }}; f {}',
    "argument of a function with a shell": 'f() {{ sh -c "$*"; }}; f {}',
    "word of a loop": 'for c in true {}; do eval "$c"; done',
    "array, then eval": 'x=({}); eval "${{x[0]}}"',
    "exported, then eval in a shell": "export x={}; sh -c 'eval \"$x\"'",
    "copied variable": 'x={}; y=$x; eval "$y"',
    "read from a here-string": 'read -r x <<< {}; eval "$x"',
    "read from a pipe": 'echo {} | while read -r c; do eval "$c"; done',
    "read in a loop with input": 'while read -r c; do sh -c "$c"; done <<< {}',
    "printf into a variable": 'printf -v x %s {}; eval "$x"',
    "process substitution on a shell's stdin": "bash < <(echo {})",
    "coproc of a shell": "coproc sh; echo {} >&${{COPROC[1]}}; eval exec ${{COPROC[1]}}'>&-'; wait",
    "xargs into sh -c": "echo {} | xargs -I% sh -c %",
    "shell in a variable": "S=sh; ${{S:-bash}} -c {}",
    "shell by default": "${{SHELL:-sh}} -c {}",
    "mapfile callback": "mapfile -C {} -c 1 x <<< y",
}


def _fill(form: str, quote: Context) -> Context:
    return lambda code: form.format(quote(code))


CONTEXTS: Mapping[str, Context] = {
    "plain": lambda code: code,
    "backticks": lambda code: f"echo {backticks(code)}",
    "backticks as the command": backticks,
    "backticks in quotes": lambda code: f'echo "{backticks(code)}"',
    "backticks in quotes, escaped": lambda code: f"echo {quoted_backticks(code)}",
    "backticks in backticks": lambda code: f"echo {backticks(f'echo {backticks(code)}')}",
    "backticks in backticks in quotes": lambda code: (
        f'echo "{backticks(f"echo {backticks(code)}")}"'
    ),
    "substitution in backticks": lambda code: f"echo {backticks(f'echo $({code})')}",
    "backticks in a substitution": lambda code: f'echo "$(echo {backticks(code)})"',
    "backticks in a here-document": lambda code: f"cat <<EOF\n{backticks(code)}\nEOF",
    "backticks in a default": lambda code: f"echo ${{Z:-{backticks(code)}}}",
    "backticks in arithmetic": lambda code: f"echo $(( {backticks(f'{code}; echo 1')} + 1 ))",
    "backticks in a target": lambda code: f"echo x > {backticks(f'{code}; echo /dev/null')}",
    "backticks in an array": lambda code: f"a=({backticks(code)})",
    "backticks in a case": lambda code: f"case {backticks(code)} in *) ;; esac",
    "backticks of an echo in eval": lambda code: f'eval "{backticks(f"echo {single(code)}")}"',
    "quotes of bash read by dash": lambda code: f"echo $'\\'; {code} #'",
    "subscript in quotes": lambda code: f"let {single(f'a[$({code}; echo 1)]=1')}",
    "subscript of a tested name": lambda code: f"test -v {single(f'a[$({code}; echo 1)]')}",
    "subscript in a variable": lambda code: f"n={single(f'a[$({code}; echo 1)]')}; echo $((n))",
    "subscript compared": lambda code: f"[[ {single(f'a[$({code}; echo 1)]')} -eq 1 ]]",
    "subscript as an offset": lambda code: f"z=y; echo ${{z:{single(f'a[$({code}; echo 1)]')}}}",
    "value expanded as a prompt": lambda code: f"x={single(f'$({code})')}; echo ${{x@P}}",
    "input expanded as a prompt": lambda code: (
        f"read -r x <<'E'\n{backticks(code)}\nE\necho ${{x@P}}"
    ),
    "words to complete": lambda code: f"compgen -W {single(f'$({code})')}",
    "function in backticks": lambda code: backticks(f"f() {{ {code}; }}; f"),
    "shell in backticks": lambda code: f"echo {backticks(f'sh -c {single(code)}')}",
    "shell in a shell": lambda code: f"bash -c {single(f'sh -c {single(code)}')}",
    "shell in a shell, double quotes": lambda code: f"bash -c {double(f'sh -c {double(code)}')}",
    "function of a shell": lambda code: f"sh -c {single(f'f() {{ {code}; }}; f')}",
    "subshells of a shell": lambda code: f"sh -c {single(f'((({code})))')}",
    "shell in an assignment of a shell": lambda code: f"bash -c {single(f'x=$({code})')}",
    "trap in a shell": lambda code: f"bash -c {single(f'trap {single(code)} EXIT')}",
    "here-document in a shell": lambda code: (
        f"bash -c {single(f'cat <<E{chr(10)}$({code}){chr(10)}E')}"
    ),
    **{name: _fill(form, lambda code: code) for name, form in _SIMPLE.items()},
    **{name: _fill(form, single) for name, form in _QUOTED.items()},
    **{
        f"{name}, double quotes": _fill(_QUOTED[name], double)
        for name in (
            "bash -c",
            "sh -c",
            "eval",
            "trap",
            "echo into a shell",
            "xargs sh -c",
            "find -exec",
            "variable, then eval",
            "here-string to a shell",
        )
    },
    **{
        f"{name}, ANSI-C quotes": _fill(_QUOTED[name], ansi)
        for name in ("bash -c", "eval", "trap", "here-string to a shell")
    },
}
"""Every place, by its name."""
