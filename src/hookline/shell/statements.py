"""Finds the simple commands of one script in a single pass, whatever compounds hold them."""

import re

from hookline.shell.fields import Field, Reading
from hookline.shell.redirections import BLANKS, REDIRECTION, Redirections, torn
from hookline.shell.script import Code, Command, Redirect, Script
from hookline.shell.settling import SETTERS, settle
from hookline.shell.words import ENDS, WordReader

__all__ = ["StatementReader"]

_LINES = re.compile(r"(?:[ \t\n]|\\\n|#[^\n]*)+")
_COMMENT = re.compile(r"#[^\n]*")
_OPERATOR = re.compile(torn(";;&", ";;", ";&", ";", "&&", "&", "||", "|&", "|", "(", ")", "\n"))
# Before parentheses, quotes or an assignment begin no function: `x='f() { '` sets x.
_NO_NAME = re.compile(r"['\"`$\\]|=$")
_FUNCTION = re.compile(r"(?:[ \t]|\\\n)*\((?:[ \t]|\\\n)*\)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[(?:[^\]\s\"']|\"[^\"]*\"|'[^']*')*\])?(\+?)=", re.ASCII)
# The same without its quotes; of an element in a list, the subscript alone.
_TARGET = re.compile(r"(\w*(?:\[.*?\])?\+?)=", re.ASCII | re.DOTALL)
_EXPANDED = re.compile(r"[$`]")
_BEFORE_COMPOUND = re.compile(
    r"(?:time(?:[ \t]+-p)?|coproc(?:[ \t]+\w+)?)(?:[ \t]|\\\n)+"
    r"(?=[({!]|(?:if|while|until|for|select|case|function|time|coproc|\[\[)[ \t\n\\]"
    r"|[A-Za-z_]\w*(?:\[[^\s\]]*\])?\+?=)"
)
# A name that no operator follows, which arithmetic cannot hold: ``rm -rf x``, ``reboot``.
_PROGRAM = (
    r"\s*+(?=[\d./]*+[A-Za-z_])[\w./-]++"
    r"(?:[\s)]*+\Z|\s++(?!-(?:eq|ne|[lg][te]|[no]t|ef)\s)[-\w./~'\"$*])"
)
# Nor does arithmetic begin, end or go on like these.
_COMMAND_IN_ARITHMETIC = re.compile(
    rf"\A[\s(!{{]*+(?:[:<>\\]|{_PROGRAM})|[\w)'\"\]]\s++[\w'\"$\\.({{~]|;|[*/~.][\s)]*+\Z"
    r"|[&|(!{]\s*+\S++\s++-[A-Za-z]"
)
_OPENED = re.compile(r"[<>]\s*+[./~]|\A\s*+\([^<>]*+[<>]\s*+[A-Za-z_]")
_EXPANSION = re.compile(r"\$\([^()`]*\)|`[^`]*`|\$\{[^{}]*\}")
_COMMAND_IN_TEST = re.compile(r"[&|;]" + _PROGRAM)
_TOKEN = re.compile(r"(?:[^\t\n ;&|()<>\\]|\\\n?)*")
_SPACE = re.compile(r"(?:[ \t\n]|\\\n)*")
_REDIRECTS = frozenset("<>&{0123456789")
_HEADED = frozenset({"for", "select", "case", "function", "[["})
_OPENS = frozenset({"if", "while", "until", "{"})
_CONTINUES = frozenset({"then", "else", "elif", "do"})
_CLOSES = frozenset({"fi", "done", "esac", "}"})


class StatementReader:
    """Reads the commands of one script, writing its skeleton as it goes."""

    def __init__(
        self, reading: Reading, words: WordReader, script: Script, found: list[Command | Code]
    ) -> None:
        self._reading = reading
        self._source = reading.source
        self._words = words
        self._script = script
        self._found = found
        self._redirections = Redirections(reading, words)
        self._command: Command | None = None
        # A compound command just ended: only a redirection, an operator or a closing word fits.
        self._closed = False
        self._before = ";"
        self._level = 0
        self._parentheses = 0
        self._cases = 0

    def run(self, at: int) -> int:
        """Read from ``at`` to the end of the script, and return where that is."""
        source = self._source
        nested = self._script.parent is not None
        while (at := self._skip(BLANKS, at)) < len(source):
            mark = source[at]
            if mark == "#":
                self._reading.spend(1)
                at = self._skip(_COMMENT, at)
                continue
            redirection = REDIRECTION.match(source, at) if mark in _REDIRECTS else None
            if redirection is not None:
                at = self._redirection(redirection)
            elif not self._at_operator(at):
                at = self._argument(at) if self._command is not None else self._first_word(at)
            elif nested and mark == ")" and not self._parentheses:
                self._finish("")
                return at + 1
            else:
                at = self._operator(at)
        self._finish("")
        self._reading.broken |= nested
        return at

    def _skip(self, pattern: re.Pattern[str], at: int) -> int:
        match = pattern.match(self._source, at)
        return at if match is None else match.end()

    def _skip_lines(self, at: int) -> int:
        end = self._skip(_LINES, at)
        self._reading.broken |= self._redirections.waiting and "\n" in self._source[at:end]
        return end

    def _at_operator(self, at: int) -> bool:
        return self._source[at] in ENDS and not self._source.startswith(("<(", ">("), at)

    def _token(self, at: int) -> tuple[str, int]:
        """What stands at ``at``, as reserved words are seen, up to the next blank or operator."""
        end = self._skip(_TOKEN, at)
        return self._source[at:end].replace("\\\n", ""), end

    # -- simple commands

    def _begin(self, at: int) -> Command:
        command = Command(self._script, at)
        self._command = command
        self._closed = False
        self._found.append(command)
        self._script.place(command)
        return command

    def _finish(self, operator: str) -> None:
        command, self._command = self._command, None
        self._closed = False
        if command is not None and (not command.words or command.words[0].text in SETTERS):
            unconditional = self._level == 0 and self._before in (";", "\n", "&")
            if unconditional and operator not in ("&", "|", "|&"):
                settle(command, self._script)
        self._before = operator
        self._reading.broken |= operator == "" and self._redirections.waiting

    def _redirection(self, match: re.Match[str]) -> int:
        source, end = self._redirections.read(match)
        start = match.start()
        command = None if self._closed else self._command or self._begin(start)
        if source.file is not None:
            operator = match.group(2).replace("\\\n", "")
            self._reading.redirects.append(Redirect(command, operator, source.file, start))
        if command is None:
            self._script.inputs.append(source.texts)
            if source.fed is not None and source.file is not None:
                self._script.files.append(source.file)
            return end
        command.end = end
        if source.fed is not None:
            command.inputs, command.fed, command.file = source.texts, source.fed, source.file
        elif match.group(2).startswith("<<") and command.fed is None:
            command.inputs, command.fed = source.texts, False
        return end

    def _argument(self, at: int) -> int:
        command = self._command or self._begin(at)
        fields, end = self._words.read(at)
        assignment = _ASSIGNMENT.match(self._source, at, end)
        if assignment and assignment.end() == end and self._source.startswith("(", end):
            end = self._array(end + 1, command, assignment[0].rstrip("+="))
            fields = [Field(self._source[at:end], exact=False)]
        command.end = end
        if assignment is None or command.words:
            command.words += fields
        elif len(fields) == 1:
            self._assign(command, fields[0], "", self._source[assignment.end() : end])
        else:
            command.assigned.append((assignment[0][:-1], Field("", exact=False)))
        return end

    def _array(self, at: int, command: Command, name: str) -> int:
        while (at := self._skip_lines(at)) < len(self._source):
            if self._at_operator(at):
                self._reading.broken |= self._source[at] != ")"
                return at + 1
            start = at
            fields, at = self._words.read(at)
            for field in fields:
                self._assign(command, field, f"{name}[]", self._source[start:at])
        self._reading.broken = True
        return at

    def _assign(self, command: Command, field: Field, element: str, source: str) -> None:
        """Keep a value with what is given it: ``x``, ``x+`` or ``x[1]``."""
        (text, exact), target = field, None
        if not element or source.startswith("["):
            target = _TARGET.match(text)
        if target is not None:
            text = text[target.end() :]
            # A subscript looks like a pattern for file names.
            exact = exact or ("[" in target[1] and not _EXPANDED.search(source))
        command.assigned.append((element or (target[1] if target else ""), Field(text, exact)))

    # -- operators

    def _operator(self, at: int) -> int:
        self._reading.spend(1)
        match = _OPERATOR.match(self._source, at)
        assert match is not None
        operator, end = match.group().replace("\\\n", ""), match.end()
        self._finish(operator)
        if operator == "(":
            return self._open_parenthesis(at)
        if operator == ")":
            self._close(")")
            self._parentheses -= 1
        elif operator.startswith((";;", ";&")):
            self._script.write(";;")
            if self._cases:
                return self._pattern(end)
            self._reading.broken = True
        else:
            self._script.write("|" if operator == "|&" else operator)
        if operator == "\n" and self._redirections.waiting:
            return self._redirections.bodies(end)
        return end

    def _open_parenthesis(self, at: int) -> int:
        if self._source.startswith("((", at):
            close = self._words.arithmetic(at)
            if close is not None:
                self._script.place(None)
                self._closed = True
                self._doubt(at + 2, close - 2, _COMMAND_IN_ARITHMETIC)
                return close
        self._open("(")
        self._parentheses += 1
        return at + 1

    def _doubt(self, start: int, end: int, pattern: re.Pattern[str]) -> None:
        """A shell that knows neither ``((`` nor ``[[``, such as dash, reads commands in them."""
        code = self._source[start:end]
        outside = _EXPANSION.sub("0", _EXPANSION.sub("0", code))
        sure = pattern.search(outside) is not None
        if sure or _OPENED.search(outside):
            self._reading.broken |= sure
            self._found.append(Code(code, start, end, self._script, doubted=not sure))

    # -- compound commands

    def _open(self, word: str) -> None:
        self._script.write(word)
        self._level += 1
        self._closed = False

    def _close(self, word: str) -> None:
        self._script.write(word)
        self._level -= 1
        self._closed = True

    def _first_word(self, at: int) -> int:
        self._reading.spend(1)
        keyword, end = self._token(at)
        if keyword in _HEADED:
            return self._headed(keyword, end)
        if keyword in _CONTINUES or keyword in _CLOSES:
            if self._closed:
                # ``} fi`` needs no separator; the grammar insists on one.
                self._script.write(";")
            if keyword in _CLOSES:
                self._close(keyword)
                self._cases -= keyword == "esac"
            else:
                self._script.write(keyword)
                self._closed = False
            return end
        if keyword in _OPENS:
            self._open(keyword)
            return end
        prefix = _BEFORE_COMPOUND.match(self._source, at)
        if keyword == "!" or prefix is not None:
            return end if prefix is None else prefix.end()
        function = _FUNCTION.match(self._source, end)
        if function is not None and keyword and not _NO_NAME.search(keyword):
            self._reading.functions = True
            self._script.write("x()")
            return function.end()
        return self._argument(at)

    def _headed(self, keyword: str, at: int) -> int:
        """Read the head of a construct whose words are no command."""
        at = self._skip(BLANKS, at)
        if keyword == "[[":
            return self._test(at)
        if keyword == "function":
            self._reading.functions = True
            self._script.write("x()")
            return self._skip(_FUNCTION, self._skip(_TOKEN, at))
        if keyword == "case":
            return self._case(at)
        return self._for(at)

    def _test(self, at: int) -> int:
        self._script.place(None)
        self._closed = True
        start = at
        while (at := self._skip(_SPACE, at)) < len(self._source):
            word, end = self._token(at)
            if word == "]]":
                self._doubt(start, at, _COMMAND_IN_TEST)
                return end
            at = at + 1 if self._at_operator(at) else self._words.read(at)[1]
        self._reading.broken = True
        return at

    def _for(self, at: int) -> int:
        close = self._words.arithmetic(at) if self._source.startswith("((", at) else None
        at = self._skip_lines(self._skip(_TOKEN, at) if close is None else close)
        self._open("for x")
        word, end = self._token(at)
        if word == "in":
            self._script.write("in x")
            at = self._skip(BLANKS, end)
            while at < len(self._source) and self._source[at] != "#" and not self._at_operator(at):
                at = self._skip(BLANKS, self._words.read(at)[1])
        self._script.write(";")
        return at + self._source.startswith(";", at)

    def _case(self, at: int) -> int:
        if at < len(self._source) and not self._at_operator(at):
            _, at = self._words.read(at)
        at = self._skip_lines(at)
        word, at = self._token(at)
        self._reading.broken |= word != "in"
        self._open("case x in")
        self._cases += 1
        return self._pattern(at)

    def _pattern(self, at: int) -> int:
        at = self._skip_lines(at)
        word, end = self._token(at)
        if word == "esac":
            self._close("esac")
            self._cases -= 1
            return end
        at += self._source.startswith("(", at)
        while (at := self._skip(BLANKS, at)) < len(self._source):
            if not self._at_operator(at):
                _, at = self._words.read(at)
            elif self._source[at] == ")":
                self._script.write("x)")
                return at + 1
            elif self._source[at] == "|":
                at += 1
            else:
                break
        self._reading.broken = True
        return at
