"""Reads one shell word: quote removal, and the few expansions whose value the text itself gives."""

import re
from collections.abc import Callable, Sequence
from itertools import takewhile

from hookline.shell.budget import Budget
from hookline.shell.fields import Field, FieldBuilder, Reading, Scope, joined
from hookline.shell.quoting import ansi_c, brace_list, double_close

__all__ = ["ENDS", "WordReader"]

ENDS = frozenset("\t\n ;&|()<>")

# Expansions inside expansions; more than people write, less than the interpreter's stack holds.
_MAX_NESTING = 24
# Each ``((`` that is no arithmetic costs a look at the rest of the text.
_MAX_LOOKAHEADS = 8

_PLAIN = re.compile(r"[^\t\n ;&|()<>'\"\\$`*?\[{]+")
_IN_QUOTES = re.compile(r'[^"\\$`]+')
_IN_HEREDOC = re.compile(r"[^\\$`]+")
_IN_BRACES = re.compile(r"[^}\]'\"\\$`]+")
_ANSI_C = re.compile(r"\$'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL)
_BACKTICKS = re.compile(r"`([^`\\]*(?:\\.[^`\\]*)*)`", re.DOTALL)
_NAME = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})", re.ASCII)
_BLANK_IFS = re.compile(r"\$(?:IFS(?!\w)|\{IFS(?!\w)[^{}'\"$`]*\})", re.ASCII)
_FUNCTION_SUBSTITUTIONS = ("${ ", "${\t", "${\n", "${|")
_DEFAULT = re.compile(r"!?(\w+)(?:\[[^\]]*\])?(?::?[-=+]|//?[^/]*/)(.*)", re.ASCII | re.DOTALL)
_JOINED = re.compile(r"[;&|<>(`\n]")
_IN_ANY_QUOTES = re.compile(r"\$'(?:\\.|[^'\\])*'|'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", re.DOTALL)
_ARGUMENT = re.compile(r"\$(?:([@*0-9])|\{([@*])(?::1)?\}|\{([0-9]{1,3})\})", re.ASCII)
_SPECIAL = re.compile(r"\$[@*#?$!0-9-]")
# Characters that cost one step, read as slowly as any word can be, or copied only.
_PER_STEP = 4
_COPIED_PER_STEP = 64


class WordReader:
    """Reads words of one text; tells its owner about the code it finds inside them."""

    def __init__(
        self,
        reading: Reading,
        *,
        substitution: Callable[[int], int],
        rewritten: Callable[[str, int, int, bool], None],
        scope: Scope,
    ) -> None:
        self._reading = reading
        self._source = reading.source
        self._end = len(reading.source)
        self._substitution = substitution
        self._rewritten = rewritten
        self._scope = scope
        self._nesting = 0
        self._lookaheads = 0

    def read(self, start: int) -> tuple[list[Field], int]:
        """The fields of the word at ``start``, and where it ends."""
        self._reading.spend(1)
        plain = _PLAIN.match(self._source, start)
        if plain is not None and self._ends(plain.end()):
            field = Field(plain.group())
            self._reading.literals.append((field, start, plain.end()))
            return [field], plain.end()
        builder = FieldBuilder()
        end = self._unquoted(start, builder)
        self._reading.spend((end - start) // _PER_STEP)
        literal = builder.literal
        builder.cut()
        fields = builder.fields
        word = self._source[start:end]
        if "{" in word and "{" in _IN_ANY_QUOTES.sub("", word).replace("${", ""):
            braced = self._braced(word)
            literal = literal and braced == fields
            fields = [Field(text, exact=False) for text, _ in fields] if braced is None else braced
        if literal:
            self._reading.literals.append((fields[0], start, end))
        return fields, end

    def quoted(self, start: int, stop: int) -> Field:
        """The text from ``start`` to ``stop`` as a here-document's body is read."""
        self._reading.spend((stop - start) // _PER_STEP)
        builder = FieldBuilder()
        self._quoted(start, stop, builder, _IN_HEREDOC)
        return builder.whole()

    def arithmetic(self, start: int) -> int | None:
        """The end of the ``((...))`` at ``start``, or ``None`` when it is two subshells."""
        self._reading.broken |= self._lookaheads == _MAX_LOOKAHEADS
        if self._reading.broken:
            return None
        close = double_close(self._source, start)
        self._reading.spend(((close or self._end) - start) // _PER_STEP)
        if close is None:
            self._lookaheads += 1
        else:
            self.quoted(start + 2, close - 2)
        return close

    def _ends(self, at: int) -> bool:
        return at == self._end or (
            self._source[at] in ENDS and not self._source.startswith(("<(", ">("), at)
        )

    def _braced(self, word: str) -> list[Field] | None:
        """The fields after brace expansion, or ``None`` when they cannot be told."""
        # Every list in it doubles what is to be read, up to the limit on alternatives.
        self._reading.spend((len(word) << min(word.count("{"), 5)) // 16)
        alternatives = brace_list(word)
        if alternatives is None:
            return None
        fields: list[Field] = []
        for alternative in alternatives:
            self._reading.spend(1 + len(alternative) // _PER_STEP)
            reader = WordReader(
                # What is inside was counted when the word was read as it stands.
                Reading(alternative, Budget()),
                substitution=self._substitution,
                # Code in it was reported when the word was read as it stands.
                rewritten=lambda code, start, end, doubted: None,
                scope=self._scope,
            )
            builder = FieldBuilder()
            reader._unquoted(0, builder)
            builder.cut()
            fields += builder.fields
        return fields

    def _unquoted(self, at: int, builder: FieldBuilder) -> int:
        source, end = self._source, self._end
        while at < end:
            plain = _PLAIN.match(source, at)
            if plain is not None:
                builder.add(plain.group())
                at = plain.end()
                continue
            mark = source[at]
            if mark in ENDS:
                if self._ends(at):
                    break
                at = self._command(at, builder)
            elif mark == "'":
                at = self._single(at, builder)
            elif mark == '"':
                builder.add("")
                at = self._quoted(at + 1, end, builder, _IN_QUOTES)
            elif mark == "\\":
                at = self._backslash(at, builder)
            elif mark in "$`":
                at = self._expansion(at, builder, quoted=False)
            else:
                at += 1
                glob = mark in "*?" or (mark == "[" and not self._ends(at))
                builder.add(mark, exact=not glob)
        return at

    def _single(self, at: int, builder: FieldBuilder) -> int:
        close = self._source.find("'", at + 1)
        if close < 0:
            return self._give_up(at, builder)
        builder.add(self._source[at + 1 : close])
        return close + 1

    def _backslash(self, at: int, builder: FieldBuilder) -> int:
        escaped = self._source[at + 1 : at + 2]
        if escaped != "\n":
            builder.add(escaped or "\\")
        return min(at + 2, self._end)

    def _quoted(self, at: int, stop: int, builder: FieldBuilder, plain: re.Pattern[str]) -> int:
        """Read up to the closing quote, or up to ``stop`` where a quote is plain text."""
        source = self._source
        while at < stop:
            run = plain.match(source, at, stop)
            if run is not None:
                builder.add(run.group())
                at = run.end()
                continue
            mark = source[at]
            if mark == '"':
                return at + 1
            if mark == "\\":
                escaped = source[at + 1 : at + 2]
                if escaped != "\n":
                    special = escaped in "$`\\" or (escaped == '"' and plain is _IN_QUOTES)
                    builder.add(escaped if special else mark + escaped)
                at += 2
            else:
                at = self._expansion(at, builder, quoted=True)
        self._reading.broken |= plain is _IN_QUOTES
        return min(at, self._end)

    def _expansion(self, at: int, builder: FieldBuilder, *, quoted: bool) -> int:
        if self._nesting == _MAX_NESTING:
            self._reading.incomplete = True
            return self._give_up(at, builder)
        self._nesting += 1
        source = self._source
        if source[at] == "`":
            end = self._backticks(at, builder, quoted=quoted)
        elif source.startswith("(", at + 1):
            end = self._parenthesis(at, builder)
        elif source.startswith('"', at + 1) and not quoted:
            end = at + 1
        elif source.startswith("'", at + 1) and not quoted:
            end = self._ansi_c(at, builder)
        else:
            end = self._variable(at, builder, quoted=quoted)
        self._nesting -= 1
        return end

    def _ansi_c(self, at: int, builder: FieldBuilder) -> int:
        match = _ANSI_C.match(self._source, at)
        if match is None:
            return self._give_up(at, builder)
        escaped = match.group(1).find("\\'")
        rest = self._source[at + escaped + 4 :] if escaped >= 0 else ""
        if _JOINED.search(rest):
            # A shell that does not know these quotes, such as dash, ends them here.
            self._rewritten(f": {rest}", at, match.end(), True)
        builder.add(ansi_c(match.group(1)))
        return match.end()

    def _variable(self, at: int, builder: FieldBuilder, *, quoted: bool) -> int:
        source = self._source
        blank = None if quoted or self._reading.separates else _BLANK_IFS.match(source, at)
        if blank is not None:
            builder.cut()
            return blank.end()
        name = _NAME.match(source, at)
        value = self._scope.value(name.group(1) or name.group(2)) if name is not None else None
        if name is not None and value is not None:
            # Blanks may make a field of every other character.
            self._reading.spend(len(value) // 2)
            builder.add_value(value, quoted=quoted)
            return name.end()
        end = self._argument(at, builder, quoted=quoted) if name is None else None
        if end is not None:
            return end
        unknown = name or _SPECIAL.match(source, at)
        if unknown is not None:
            # The value of a variable that comes right behind would lengthen the name.
            apart = name is not None and name[1] and source.startswith("$", name.end())
            builder.add(f"${{{name[1]}}}" if name and apart else unknown.group(), exact=False)
            return unknown.end()
        if source.startswith(("{", "["), at + 1):
            return self._bracketed(at, builder, quoted=quoted)
        builder.add("$")
        return at + 1

    def _argument(self, at: int, builder: FieldBuilder, *, quoted: bool) -> int | None:
        """Put the arguments of the script in the place of ``$1``, ``$@`` or ``$*``."""
        match = _ARGUMENT.match(self._source, at)
        given = self._scope.arguments() if match is not None else None
        if match is None or given is None:
            return None
        fields = _find_arguments(match, given, quoted=quoted)
        if fields is None:
            return None
        self._reading.assumes = True
        self._reading.spend(sum(len(text) for text, _ in fields) // 2 + len(fields))
        builder.add_arguments(fields, quoted=quoted)
        return match.end()

    def _bracketed(self, start: int, builder: FieldBuilder, *, quoted: bool) -> int:
        """Pass over ``${...}`` or ``$[...]``, noticing the code inside."""
        source, inside = self._source, FieldBuilder()
        close = "}" if source[start + 1] == "{" else "]"
        at, hides = start + 2, False
        while at < self._end and source[at] != close:
            mark = source[at]
            if mark in "$`":
                at = self._expansion(at, inside, quoted=quoted)
            elif mark == '"':
                at = self._quoted(at + 1, self._end, inside, _IN_QUOTES)
            elif mark == "'" and not quoted:
                at = self._single(at, inside)
                hides = True
            elif mark == "\\":
                inside.add(source[at + 1 : at + 2])
                at += 2
            else:
                run = _IN_BRACES.match(source, at)
                inside.add(run.group() if run is not None else mark)
                at = run.end() if run is not None else at + 1
        if at >= self._end:
            return self._give_up(start, builder)
        whole = inside.whole()
        default = _DEFAULT.fullmatch(whole.text)
        if default is not None and default[2]:
            self._reading.defaults.append((default[1], Field(default[2], whole.exact)))
        subscript = whole.text.partition("[")[2] if hides else ""
        if subscript:
            # It is worked out although it is quoted: `${x:'a[$(code)]'}`.
            self._rewritten(f": {subscript}", start, at + 1, True)
        if source.startswith(_FUNCTION_SUBSTITUTIONS, start):
            # New shells run what is inside; whether this brace closes it, we only guess.
            self._reading.substitutes = self._reading.broken = True
            self._rewritten(source[start + 3 : at], start, at + 1, False)
        builder.add(source[start : at + 1], exact=False)
        return at + 1

    def _parenthesis(self, at: int, builder: FieldBuilder) -> int:
        close = self.arithmetic(at + 1) if self._source.startswith("((", at + 1) else None
        if close is None:
            return self._command(at, builder)
        builder.add(self._source[at:close], exact=False)
        return close

    def _command(self, at: int, builder: FieldBuilder) -> int:
        """Read ``$(...)``, ``<(...)`` or ``>(...)``."""
        self._reading.substitutes = True
        close = self._substitution(at + 2)
        self._reading.spend((close - at) // _COPIED_PER_STEP)
        builder.add(self._source[at:close], exact=False)
        return close

    def _backticks(self, at: int, builder: FieldBuilder, *, quoted: bool) -> int:
        self._reading.substitutes = True
        code = _BACKTICKS.match(self._source, at)
        if code is None:
            return self._give_up(at, builder)
        escapes = r'\\([$`\\"])' if quoted else r"\\([$`\\])"
        self._rewritten(re.sub(escapes, r"\1", code.group(1)), at, code.end(), False)
        builder.add(code.group(), exact=False)
        return code.end()

    def _give_up(self, at: int, builder: FieldBuilder) -> int:
        """Nothing closes what opened here: the rest of the text is one unreadable word."""
        self._reading.broken = True
        builder.add(self._source[at:], exact=False)
        return self._end


def _find_arguments(
    match: re.Match[str], given: Sequence[Field], *, quoted: bool
) -> Sequence[Field] | None:
    """The arguments that ``_ARGUMENT`` matched, of ``$0`` and those after it; ``None`` in doubt."""
    which = match.group(1) or match.group(2) or match.group(3)
    if which == "@":
        return given[1:]
    if which == "*":
        found = [joined(given[1:])] if quoted else given[1:]
    elif which == "0":
        found = given[:1]
    else:
        # A word that is not exact may become many, or none, and move those behind it.
        known = takewhile(lambda field: field.exact, given[1:])
        found = list(known)[int(which) - 1 : int(which)]
    return found if found and all(field.exact for field in found) else None
