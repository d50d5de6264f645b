"""What an expression of PromQL names: metrics with their label matchers, and labels that it groups by.

No parser: enough of the grammar to tell a metric from a function, a keyword and a label. Prometheus itself says whether an
expression is right.
"""

import dataclasses
import re

_TOKEN = re.compile(r"""
    (?P<space>\s+)
  | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<variable>\$\{\w+(?::\w+)?\}|\$\w+)
  | (?P<range>\[[^\]]*\])
  | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[smhdwy]?)
  | (?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)
  | (?P<operator>=~|!~|!=|==|>=|<=|[-+*/%^<>=(){},@])
""", re.VERBOSE)
_LABEL_LISTS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
_KEYWORDS = _LABEL_LISTS | {"and", "or", "unless", "bool", "offset", "inf", "nan"}


class SyntaxFault(ValueError):
    """A character that no token starts with."""


@dataclasses.dataclass
class Selector:
    """One metric as it is selected: its name, {label: value} of its matchers, the function right around it ("" if none)."""
    metric: str
    matchers: dict
    function: str


@dataclasses.dataclass
class Expression:
    selectors: list
    labels: set      # that it groups by or joins on
    functions: set
    tokens: list     # (kind, text), without spaces


def tokens(text):
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise SyntaxFault(f"{text[at:at + 20]!r} is no PromQL")
        if match.lastgroup != "space":
            found.append((match.lastgroup, match.group()))
        at = match.end()
    return found


def _matchers(items, at):
    """Of the braces that open at `at`: {label: value}, and the index after them."""
    found = {}
    at += 1
    while items[at][1] != "}":
        if items[at][0] == "name" and items[at + 2][0] == "string":
            found[items[at][1]] = items[at + 2][1][1:-1]
            at += 2
        at += 1
    return found, at + 1


def parse(text):
    items = tokens(text)
    expression = Expression([], set(), set(), items)
    at = 0
    while at < len(items):
        kind, value = items[at]
        following = items[at + 1][1] if at + 1 < len(items) else ""
        at += 1
        if kind != "name":
            continue
        if value in _LABEL_LISTS:
            if following == "(":
                end = next(i for i in range(at, len(items)) if items[i][1] == ")")
                expression.labels |= {text for kind, text in items[at:end] if kind == "name"}
                at = end + 1
        elif value in _KEYWORDS:
            continue
        elif following == "(" or following in _LABEL_LISTS:
            expression.functions.add(value)
        else:
            function = items[at - 3][1] if at >= 3 and items[at - 2][1] == "(" and items[at - 3][0] == "name" else ""
            matchers = {}
            if following == "{":
                matchers, at = _matchers(items, at)
            expression.selectors.append(Selector(value, matchers, function))
    return expression


def added_constants(expression):
    """Where a number is added to something: "+ 1" in a denominator makes quiet daemons look other than they are."""
    items = expression.tokens
    return [f"{items[i - 1][1]} + {items[i + 1][1]}" for i in range(1, len(items) - 1)
            if items[i][1] == "+" and "number" in (items[i - 1][0], items[i + 1][0])]
