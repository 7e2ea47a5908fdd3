"""Code of other languages with its constant parts put in place: homes, joined texts, names.

What comes out is read for calls once more; it is not meant to run.
"""

import re
from bisect import bisect_right
from itertools import islice

from hookline.builtin.shell_guard.families.hidden import quoted, uncovered

__all__ = ["spelled"]

_ROUNDS = 3
_MAX_NAMES = 64
_MAX_VALUE = 4_096

_LITERAL = r"(?:'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'|\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+\")"
_MARK = r"\\?['\"]?"
_HOME = (
    r"(?:\bos\.)?\benviron(?:\[\s*+['\"]HOME['\"]\s*+\]|\.get\(\s*+['\"]HOME['\"][^()]{0,40}\))"
    r"|(?:\bos\.)?\bgetenv\(\s*+['\"]HOME['\"]\s*+\)|\bprocess\.env(?:\.HOME\b|\[['\"`]HOME['\"`]\])"
    r"|\b(?:Bun|Deno)\.env(?:\.HOME\b|\.get\(\s*+['\"]HOME['\"]\s*+\))"
    rf"|\$ENV\{{{_MARK}HOME{_MARK}\}}|\$_(?:SERVER|ENV)\[{_MARK}HOME{_MARK}\]"
    r"|\bENV(?:\[\s*+['\"]HOME['\"]\s*+\]|\.fetch\(?\s*+['\"]HOME['\"]\s*+\)?)|\bDir\.home\b(?:\(\))?"
    r"|\b(?:pathlib\.)?Path\.home\(\)"
    r"|(?:\bos\.|\brequire\(['\"](?:node:)?os['\"]\)\.)?\bhomedir\(\)|\buserInfo\(\)\.homedir"
    r"|\(getpwuid\(?\s*+\$[<>]\)?\)\[7\]|\bSystem\.getProperty\(\s*+['\"]user\.home['\"]\s*+\)"
)
_HOME_SIGN = re.compile(r"HOME|[hH]ome|getpwuid")
_IN_TEXT = re.compile(rf"(?:[#$]\{{|\{{\$?|@\{{\[)\s*+(?:{_HOME})\s*+(?:\]\}}|\}})")
_BARE = re.compile(_HOME)
_EXPANDED = re.compile(
    rf"\b(?:os\.path\.)?expand(?:user|vars)\(\s*+({_LITERAL})\s*+\)|\bFile\.expand_path\(?\s*+({_LITERAL})\s*+\)?"
)
_TEXTS = re.compile(rf"\\.|{_LITERAL}|`[^`]*+`", re.DOTALL)
# `"a" + "b"`, `'a' . 'b'`, `"a" .. "b"`, `Path("a") / "b"`.
_CHAIN = re.compile(
    rf"\\.|(?P<path>\bPath\(\s*+)?(?P<first>{_LITERAL})(?:(?(path)\s*+\)))"
    rf"(?P<rest>(?:\s*+(?:\+|\.{{1,2}}|/)\s*+(?:\bstr\(\s*+{_LITERAL}\s*+\)|[bfru]?{_LITERAL}))++)"
)
_LINK = re.compile(rf"\s*+(\+|\.{{1,2}}|/)\s*+(?:\bstr\(\s*+)?[bfru]?({_LITERAL})")
_JOIN = re.compile(
    r"\b(?:os\.path\.join|path\.(?:join|resolve)|File\.join|posixpath\.join"
    rf"|require\(['\"](?:node:)?path['\"]\)\.(?:join|resolve))\(\s*+"
    rf"({_LITERAL}(?:\s*+,\s*+{_LITERAL}){{0,20}}+)\s*+,?\s*+\)"
    rf"|(?:\bPath\(\s*+)?({_LITERAL})\)?\.joinpath\(\s*+({_LITERAL})\s*+\)"
)
_FILLED = re.compile(
    rf"({_LITERAL})(?:\.format\(\s*+({_LITERAL})\s*+\)|\s*+%\s*+\(?({_LITERAL})(?:\s*+,?\s*+\))?)"
)
_SPACED = re.compile(
    rf"(['\"])([^'\"\n\\]{{0,3}})\1\.join\(\s*+[(\[]\s*+({_LITERAL}(?:\s*+,\s*+{_LITERAL}){{0,60}}+)\s*+,?[)\]]\s*+\)"
    rf"|\[\s*+({_LITERAL}(?:\s*+,\s*+{_LITERAL}){{0,60}}+)\s*+\]\.join\(\s*+(?:['\"]([^'\"\n\\]{{0,3}})['\"])?\s*+\)"
)
_ONE_TEXT = re.compile(_LITERAL)
_WORDS = re.compile(r"(?:\bqw|%[wW])\s*(?:\(([^()]{0,2000})\)|\[([^\[\]]{0,2000})\]"
              r"|\{([^{}]{0,2000})\}|/([^/\n]{0,2000})/|<([^<>]{0,2000})>)")  # fmt: skip
_QUOTES = re.compile(r"(?P<how>\bq[qx]?|%[qQx])\s*(?:\(((?:[^()]|\([^()]*+\)){0,2000})\)"
               r"|\[([^\[\]]{0,2000})\]|\{((?:[^{}]|\{[^{}]*+\}){0,2000})\}|/([^/\n]{1,2000})/|<([^<>]{1,2000})>|!([^!\n]{1,2000})!"
               r"|\|([^|\n]{1,2000})\|)")  # fmt: skip
_GETS = re.compile(
    r"\bgetattr\(\s*+([\w.]{1,60}|__import__\([^()]{1,40}\))\s*+,\s*+['\"](\w{1,40})['\"]\s*+\)"
)
_ITEM = re.compile(r"\[\s*+['\"](\w{1,40})['\"]\s*+\]\s*+\(")
_SENT = re.compile(
    r"\b(?:send|__send__|public_send|call_user_func|method)\(\s*+:?['\"]?(\w{1,40})['\"]?\s*+,"
)
_CALLED = re.compile(r"(?<![\w)\]])['\"](\w{1,40})['\"]\s*+\(")
_GIVEN = re.compile(
    r"(?:^|[;\n{:,]|\b(?:my|our|local|const|let|var)\b)\s*+([$@]?[A-Za-z_]\w{0,60})\s*+=\s*+"
    rf"(?:[bru]?({_LITERAL})|([A-Za-z_]\w{{0,40}}(?:\.\w{{1,40}}){{1,4}}))(?=\s*+(?:[;\n}},]|$)|\s++[A-Za-z])"
)
_IMPORTED = re.compile(
    r"\bimport\s+(?:\w+\s*,\s*)*(\w{1,40})\s+as\s+(\w{1,40})|\b(\w{1,40})\s*:\s*(\w{1,40})\s*\}\s*=\s*(?:await\s+import|require)"
)
_NAME = re.compile(
    r"[#$]?\{\s*+(?P<inner>\$?[A-Za-z_]\w*+)\s*+\}"
    r"|(?P<bare>(?<![\w$@\\])\$[A-Za-z_]\w*+|(?<![\w$@\\])(?<![^.]\.)[A-Za-z_]\w*+)(?!\s*+=[^=>~])"
)


def spelled(code: str) -> str:
    """The code with what is constant in it written out."""
    code = uncovered(_without_own_quotes(code))
    code = _with_homes(code)
    code = _joined(code)
    for _ in range(_ROUNDS):
        before = code
        code = uncovered(_named(_joined(_with_values(code))))
        if code == before:
            break
    return code


def _without_own_quotes(code: str) -> str:
    """``qw(a b)``, ``%w[a b]``, ``q{a}`` and ``qx(a)`` with the marks that all languages have."""
    if "q" in code or "%" in code:
        code = _WORDS.sub(_as_list, code)
        code = _QUOTES.sub(_as_text, code)
    return code


def _as_list(match: re.Match[str]) -> str:
    words = next((part for part in match.groups() if part), "").split()
    return "(" + ",".join(map(quoted, words)) + ")"


def _as_text(match: re.Match[str]) -> str:
    text = quoted(next((part for part in match.groups()[1:] if part), ""))
    return f"system({text})" if match["how"].endswith("x") else f" {text} "


def _with_homes(code: str) -> str:
    if not _HOME_SIGN.search(code):
        return _EXPANDED.sub(_expanded, code) if "expand" in code else code
    code = _EXPANDED.sub(_expanded, _IN_TEXT.sub("~", code))
    spans = _spans(code)
    return _BARE.sub(lambda match: "~" if _inside(match.start(), spans) else "'~'", code)


def _expanded(match: re.Match[str]) -> str:
    text: str = match[1] or match[2]
    return text.replace("${HOME}", "~").replace("$HOME", "~")


def _spans(code: str) -> tuple[list[int], list[int]]:
    """Where texts begin and end."""
    found = [each.span() for each in _TEXTS.finditer(code)]
    return [start for start, _ in found], [end for _, end in found]


def _inside(at: int, spans: tuple[list[int], list[int]]) -> bool:
    place = bisect_right(spans[0], at) - 1
    return place >= 0 and spans[0][place] < at < spans[1][place]


def _joined(code: str) -> str:
    code = _CHAIN.sub(_chained, code)
    if "format" in code or "%" in code:
        code = _FILLED.sub(_filled, code)
    if "join" in code:
        code = _SPACED.sub(_spaced, code)
    return _JOIN.sub(_in_one_path, code) if "join" in code or "resolve" in code else code


def _filled(match: re.Match[str]) -> str:
    """``'a {}'.format('b')`` and ``'a %s' % 'b'``."""
    value = (match[2] or match[3])[1:-1]
    return quoted(match[1][1:-1].replace("{}", value).replace("{0}", value).replace("%s", value))


def _spaced(match: re.Match[str]) -> str:
    between = match[2] if match[3] is not None else (match[5] or "")
    words = _ONE_TEXT.findall(match[3] or match[4])
    return quoted(between.join(each[1:-1] for each in words))


def _chained(match: re.Match[str]) -> str:
    first = match["first"]
    if first is None:
        return match.group()
    text = first[1:-1]
    for sign, more in _LINK.findall(match["rest"]):
        text += f"/{more[1:-1]}" if sign == "/" else more[1:-1]
    # What stood in marks of two kinds stays readable in one of them.
    return f"Path({quoted(text)})" if match["path"] else quoted(text)


def _in_one_path(match: re.Match[str]) -> str:
    if match[1] is not None:
        return quoted("/".join(each[1:-1] for each in _ONE_TEXT.findall(match[1])))
    return f"Path({quoted(f'{match[2][1:-1]}/{match[3][1:-1]}')})"


def _named(code: str) -> str:
    """Functions that are looked up by a text called by their name."""
    if "(" not in code:
        return code
    code = _GETS.sub(r"\1.\2", code)
    code = _ITEM.sub(r".\1(", code)
    code = _SENT.sub(r"\1(", code)
    return _CALLED.sub(r"\1(", code)


def _with_values(code: str) -> str:
    """Names that are given one constant replaced by it."""
    values = _values(code)
    if not values:
        return code
    spans = _spans(code)

    def replaced(match: re.Match[str]) -> str:
        known = values.get(match["inner"] or match["bare"])
        if known is None:
            return match.group()
        # What it was given last before this place.
        value = known[max(0, bisect_right(known, match.start(), key=_place) - 1)][1]
        if not _inside(match.start(), spans):
            return value if match["bare"] else match.group()
        in_text = match["inner"] or match["bare"].startswith("$")
        return value[1:-1] if in_text and value[0] in "'\"" else match.group()

    return _NAME.sub(replaced, code)


def _place(given: tuple[int, str]) -> int:
    return given[0]


def _values(code: str) -> dict[str, list[tuple[int, str]]]:
    """What names are given, and where."""
    found: dict[str, list[tuple[int, str]]] = {}
    if "=" in code:
        for match in islice(_GIVEN.finditer(code), _MAX_NAMES):
            value = match[2] or match[3]
            if len(value) <= _MAX_VALUE:
                found.setdefault(match[1], []).append((match.start(), value))
    if "import" in code or "require" in code:
        for match in islice(_IMPORTED.finditer(code), _MAX_NAMES):
            pair = (match.start(), match[1] or match[3])
            found.setdefault(match[2] or match[4], [pair])
    return found
