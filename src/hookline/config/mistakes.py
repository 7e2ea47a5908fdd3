"""Every mistake that keeps the data of a Document from being a msgspec type, in people's words.

Loaded with the first mistake: most files have none, and to look into types takes a library part.
"""

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec
from msgspec import inspect

from hookline.config.document import Document, brief
from hookline.model.errors import Problem, nearest

__all__ = ["mistakes_in"]

Path: TypeAlias = tuple[str | int, ...]

# The plain values each type takes. Any type not named here is left for msgspec to judge.
_SHAPES: dict[type[inspect.Type], tuple[type, ...]] = {
    inspect.NoneType: (type(None),),
    inspect.BoolType: (bool,),
    inspect.IntType: (int,),
    inspect.FloatType: (int, float),
    inspect.StrType: (str,),
    inspect.ListType: (list,),
    inspect.SetType: (list,),
    inspect.FrozenSetType: (list,),
    inspect.VarTupleType: (list,),
    inspect.DictType: (dict,),
    inspect.StructType: (dict,),
}
_ONE = {
    inspect.NoneType: "nothing",
    inspect.BoolType: "true or false",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.StrType: "text",
    inspect.DictType: "a mapping",
    inspect.StructType: "a mapping",
}
_MANY = {
    inspect.IntType: "whole numbers",
    inspect.FloatType: "numbers",
    inspect.StrType: "text",
    inspect.DictType: "mappings",
    inspect.StructType: "mappings",
}
_MSGSPEC_MESSAGE = r"(?s)(.*?)(?: - at (?:`key` in )?`\$([^`]*)`)?"
_MSGSPEC_STEP = r"\.([^.\[]+)|\[(\d+)\]"
_MSGSPEC_WORDS = {
    "Expected ": "expected ",
    "`array`": "a list",
    "`float`": "a number",
    "`int`": "a whole number",
    "`object`": "a mapping",
    "`str`": "text",
}


def mistakes_in(doc: Document, into: type[Any], error: msgspec.ValidationError) -> list[Problem]:
    """Those that there are beside the one that msgspec found, in the order of their lines."""
    walker = _Walker(doc)
    found = list(walker.walk(inspect.type_info(into), doc.data, ()))
    return sorted(found or [walker.translated(error, ())], key=lambda problem: problem.line)


class _Walker:
    """Walks data along a type and yields what does not fit.

    Only shapes and words are checked here. Limits and ``__post_init__`` are left to msgspec, which
    is asked again about every struct that has the right shape.
    """

    __slots__ = ("doc",)

    def __init__(self, doc: Document) -> None:
        self.doc = doc

    def walk(self, kind: inspect.Type, value: Any, path: Path) -> Iterator[Problem]:
        match kind:
            case inspect.Metadata(type=inner):
                yield from self.walk(inner, value, path)
            case inspect.UnionType(types=members):
                yield from self._union(kind, members, value, path)
            case _ if not _fits(kind, value):
                yield self._misfit(kind, value, path)
            case inspect.EnumType() | inspect.LiteralType():
                if not _is_word(kind, value):
                    yield self._wrong_word(_words(kind), value, path)
            case inspect.StructType(array_like=False):
                yield from self._struct(kind, value, path)
            case inspect.DictType(key_type=key_kind, value_type=value_kind):
                for key, item in value.items():
                    yield from self._key(key_kind, key, path)
                    yield from self.walk(value_kind, item, (*path, key))
            case inspect.CollectionType(item_type=item_kind):
                for index, item in enumerate(value):
                    yield from self.walk(item_kind, item, (*path, index))

    def translated(self, error: msgspec.ValidationError, base: Path) -> Problem:
        """What msgspec says about the value at ``base``, with a line instead of its path."""
        found = re.fullmatch(_MSGSPEC_MESSAGE, str(error))
        assert found is not None
        message, where = found.groups(default="")
        # `[...]` stands for some key of a mapping that msgspec does not name.
        steps = re.finditer(_MSGSPEC_STEP, where.partition("[...]")[0])
        path = (*base, *(int(step[2]) if step[2] else step[1] for step in steps))
        if message.startswith("Expected "):
            for word, plain in _MSGSPEC_WORDS.items():
                message = message.replace(word, plain)
        return self._problem(path, f"{_label(path)}: {message}" if path else message)

    def _problem(self, path: Path, message: str, hint: str = "") -> Problem:
        return Problem(self.doc.file, self.doc.line(*path), message, hint)

    def _misfit(self, kind: inspect.Type, value: Any, path: Path) -> Problem:
        message = f"{_label(path)} must be {_expected(kind)}; found {_found(value)}"
        quotable = isinstance(value, bool | int | float) and _fits(kind, "")
        return self._problem(path, message, "text that looks so needs quotes" if quotable else "")

    def _key(self, kind: inspect.Type, key: str, path: Path) -> Iterator[Problem]:
        if not isinstance(kind, inspect.EnumType | inspect.LiteralType):
            yield from self.walk(kind, key, (*path, key))
        elif not _is_word(kind, key):
            yield self._unknown_key(key, [str(word) for word in _words(kind)], path)

    def _unknown_key(self, key: str, known: list[str], path: Path) -> Problem:
        hint = nearest(key, known) or f"known keys: {', '.join(known)}"
        return self._problem((*path, key), f"`{brief(key)}` is not a key{_of(path)}", hint)

    def _wrong_word(self, words: list[Any], value: Any, path: Path) -> Problem:
        hint = nearest(str(value), map(str, words)) or f"it must be {_one_of(words)}"
        return self._problem(path, f"{_label(path)} cannot be {_found(value)}", hint)

    def _union(
        self, union: inspect.Type, members: tuple[inspect.Type, ...], value: Any, path: Path
    ) -> Iterator[Problem]:
        possible = [kind for kind in members if _fits(kind, value)]
        structs = [kind for kind in possible if isinstance(kind, inspect.StructType)]
        if not possible:
            yield self._misfit(union, value, path)
        elif len(structs) > 1:
            yield from self._tagged(structs, value, path)
        else:
            yield from min((list(self.walk(kind, value, path)) for kind in possible), key=len)

    def _tagged(
        self, structs: list[inspect.StructType], value: dict[str, Any], path: Path
    ) -> Iterator[Problem]:
        by_tag = {str(struct.tag): struct for struct in structs}
        tag_field = str(structs[0].tag_field)
        if tag_field not in value:
            yield self._missing(tag_field, _one_of(list(by_tag)), path)
        elif (tag := str(value[tag_field])) in by_tag:
            yield from self._struct(by_tag[tag], value, path)
        else:
            yield self._wrong_word(list(by_tag), value[tag_field], (*path, tag_field))

    def _struct(self, kind: inspect.StructType, value: Any, path: Path) -> Iterator[Problem]:
        found = list(self._fields(kind, value, path))
        if not found:
            try:
                msgspec.convert(value, kind.cls, strict=True)
            except msgspec.ValidationError as error:
                found.append(self.translated(error, path))
        yield from found

    def _fields(self, kind: inspect.StructType, value: Any, path: Path) -> Iterator[Problem]:
        fields = {field.encode_name: field for field in kind.fields}
        known = [*fields, kind.tag_field] if kind.tag_field else [*fields]
        for key, item in value.items():
            if key in fields:
                yield from self.walk(fields[key].type, item, (*path, key))
            elif kind.forbid_unknown_fields and key not in known:
                yield self._unknown_key(key, known, path)
        for name, field in fields.items():
            if field.required and name not in value:
                yield self._missing(name, _expected(field.type), path)

    def _missing(self, name: str, expected: str, path: Path) -> Problem:
        hint = f"it must be {expected}" if expected else ""
        return self._problem(path, f"the key `{name}`{_of(path)} is missing", hint)


def _fits(kind: inspect.Type, value: object) -> bool:
    """Whether the value has the outer shape of the type, or only msgspec can tell."""
    match kind:
        case inspect.Metadata(type=inner):
            return _fits(inner, value)
        case inspect.UnionType(types=members):
            return any(_fits(member, value) for member in members)
        case inspect.EnumType() | inspect.LiteralType():
            return type(value) in {type(word) for word in _words(kind)}
        case inspect.StructType(array_like=True):
            return True
        case _:
            return type(value) in _SHAPES.get(type(kind), (type(value),))


def _is_word(kind: inspect.EnumType | inspect.LiteralType, value: object) -> bool:
    if value in _words(kind):
        return True
    if isinstance(kind, inspect.LiteralType):
        return False
    try:
        # Through `_missing_` an enum may take more words than it lists.
        msgspec.convert(value, kind.cls, strict=True)
    except msgspec.ValidationError:
        return False
    return True


def _words(kind: inspect.EnumType | inspect.LiteralType) -> list[Any]:
    if isinstance(kind, inspect.EnumType):
        return [member.value for member in kind.cls]
    return list(kind.values)


def _one_of(words: list[Any]) -> str:
    said = [str(word) for word in words if word is not None] or ["null"]
    return f"one of {', '.join(said)}" if len(said) > 1 else f"`{said[0]}`"


def _expected(kind: inspect.Type) -> str:
    """What the type takes, in people's words; empty when there are none for it."""
    match kind:
        case inspect.Metadata(type=inner):
            return _expected(inner)
        case inspect.UnionType(types=members):
            # An optional value is best left out, so nobody is told to write nothing.
            said = [_expected(m) for m in members if not isinstance(m, inspect.NoneType)]
            return " or ".join(dict.fromkeys(filter(None, said)))
        case inspect.EnumType() | inspect.LiteralType():
            return _one_of(_words(kind))
        case inspect.CollectionType(item_type=inspect.EnumType() | inspect.LiteralType() as item):
            return f"a list, each {_one_of(_words(item))}"
        case inspect.CollectionType(item_type=item):
            return f"a list of {_MANY[type(item)]}" if type(item) in _MANY else "a list"
        case _:
            return _ONE.get(type(kind), "")


def _found(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text `{brief(value)}`"
        case list():
            return "a list"
        case _:
            return "a mapping"


def _label(path: Path) -> str:
    """The path as people write it: `hooks[3].match`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{brief(step)}" for step in path)
    return f"`{''.join(steps).removeprefix('.')}`" if path else "the file"


def _of(path: Path) -> str:
    return f" of {_label(path)}" if path else ""
