#!/usr/bin/env python3
"""source.py FILE... - what each source must be by itself. Prints, with its
place, each

  file that does not open with its name, what it is, and one licence line,
  header whose guard does not end with its name,
  system header after one of ours, a file's first include apart,
  file over 600 lines; over 800 where its opening says why it is one:
  ` * One file, since ...`,
  function over 60 lines, and function or pointer to one that takes more than
  five parameters, unless the line above says NOLINTNEXTLINE(
  readability-function-size) as clang-tidy knows it: somebody else's type,
  name that a macro pastes together, which nobody can grep; not in tests,
  sizeof(*x) for sizeof *x, and err or rc as a truth value for err != 0,

and exits 1 if there is any.
SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import sys

MOST_LINES = 600
MOST_LINES_OF_ONE = 800
MOST_LINES_OF_FUNCTION = 60
MOST_PARAMETERS = 5

LICENCE = "SPDX-License-Identifier: Apache-2.0"
INCLUDE = re.compile(r'^#\s*include (["<])', re.M)
EXEMPT = "NOLINTNEXTLINE(readability-function-size)"
ONE_FILE = re.compile(r"^ \* One file, since ", re.M)

# What is no token: comments and literals, and the preprocessor's lines.
BLANK = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
TOKEN = re.compile(r"[A-Za-z_]\w*|&&|\|\||[=!<>]=|->|\S")
CLOSES = {")": "(", "}": "{", "]": "["}
ERRORS = ("err", "rc")


def blank(match):
    """What stands for a piece that is no token: its lines, or a literal."""
    text = match.group()
    return "\n" * text.count("\n") + ("0" if text[0] in "\"'" else " ")


class Tokens:
    """The tokens of a text: words, the lines they stand on, and for each
    bracket the place of the other one."""

    def __init__(self, text):
        self.words, self.lines, self.other = [], [], {}
        line, end, stack = 1, 0, []
        text = BLANK.sub(blank, text)
        self.pasted = [text.count("\n", 0, match.start()) + 1
                       for match in re.finditer("##", text)]
        text = DIRECTIVE.sub(blank, text)
        for match in TOKEN.finditer(text):
            line += text.count("\n", end, match.start())
            end = match.start()
            at, word = len(self.words), match.group()
            self.words.append(word)
            self.lines.append(line)
            if word in CLOSES.values():
                stack.append(at)
            elif (word in CLOSES and stack
                  and self.words[stack[-1]] == CLOSES[word]):
                self.other[at] = stack.pop()
                self.other[self.other[at]] = at

    def word(self, at):
        """The word at a place, empty outside the text."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def parameters(self, opening):
        """How many parameters the list has that opens here."""
        inside = self.words[opening + 1:self.other[opening]]
        if inside in ([], ["void"]):
            return 0
        count, depth = 1, 0
        for word in inside:
            depth += (word in CLOSES.values()) - (word in CLOSES)
            count += word == "," and depth == 0
        return count

    def functions(self):
        """For each function that is defined, the places of its parameters'
        bracket and of its body's."""
        at = 0
        while at < len(self.words):
            if self.words[at] == "{" and at in self.other:
                if self.word(at - 1) == ")" and at - 1 in self.other:
                    yield self.other[at - 1], at
                at = self.other[at]
            at += 1

    def pointers(self):
        """For each pointer to a function, the place of its parameters'
        bracket."""
        for at, word in enumerate(self.words):
            if (word == "(" and at in self.other
                    and self.word(at - 1) == ")" and at - 1 in self.other
                    and self.word(self.other[at - 1] + 1) == "*"):
                yield at


def name_before(tokens, opening):
    """The name that a parameter list belongs to."""
    words = [word for word in tokens.words[max(0, opening - 6):opening]
             if re.match(r"[A-Za-z_]", word)]
    return words[-1] if words else "?"


def check_whole(path, text):
    """Offences of the file as a whole: (line, what)."""
    count = text.count("\n")
    opening = text.split("*/")[0]
    name = os.path.basename(path)
    titles = r"/\*\s+(\* )?([\w/.]+, )*" + re.escape(name)
    if not re.match(titles + "[ ,]", opening):
        yield 1, f"opens not with: {name} - what it is"
    if text.count(LICENCE) != 1:
        yield 1, "not one SPDX line"
    most = MOST_LINES_OF_ONE if ONE_FILE.search(opening) else MOST_LINES
    if count > most:
        yield count, f"{count} lines (at most {most})"


def check_head(path, text):
    """Offences of guard and includes."""
    guard = re.search(r"^#ifndef (\w+)_H$", text, re.M)
    name = re.sub(r"\W", "_", os.path.basename(path)[:-2]).upper()
    if path.endswith(".h") and not (
            guard and f"_{guard.group(1)}".endswith(f"_{name}")):
        yield 1, f"the guard is not ..{name}_H"
    ours = False
    for match in list(INCLUDE.finditer(text))[1:]:
        if ours and match.group(1) == "<":
            yield (text.count("\n", 0, match.start()) + 1,
                   "a system header after one of ours")
        ours = match.group(1) == '"'


def is_exempt(text, tokens, opening):
    """Whether the line above a function says that its type is not ours."""
    at = opening
    while tokens.word(at - 1) not in ("", "}", ";"):
        at -= 1
    above = tokens.lines[at] - 2
    return above >= 0 and EXEMPT in text.splitlines()[above]


def check_functions(text, tokens):
    """Offences of functions."""
    lists = list(tokens.pointers())
    for opening, body in tokens.functions():
        if not is_exempt(text, tokens, opening):
            lists.append(opening)
        length = tokens.lines[tokens.other[body]] - tokens.lines[body]
        if length > MOST_LINES_OF_FUNCTION:
            yield (tokens.lines[body],
                   f"{name_before(tokens, opening)}: {length} lines "
                   f"(at most {MOST_LINES_OF_FUNCTION})")
    for opening in lists:
        count = tokens.parameters(opening)
        if count > MOST_PARAMETERS:
            yield (tokens.lines[opening],
                   f"{name_before(tokens, opening)}: {count} parameters "
                   f"(at most {MOST_PARAMETERS})")


def is_truth(tokens, at):
    """Whether the variable at a place is used as a truth value."""
    before, after = tokens.word(at - 1), tokens.word(at + 1)
    ends = (")", ",", ";", "&&", "||", "?")
    if before == "!":
        return after in ends
    if before in ("&&", "||"):
        return after in ends
    if before == "(" and after == ")":
        return tokens.word(at - 2) in ("if", "while")
    if after in ("&&", "||", "?"):
        return before in ("(", "=", ",", ";", "return")
    return False


def check_dialect(tokens, in_tests):
    """Offences against the forms that the tree has agreed on."""
    for line in [] if in_tests else tokens.pasted:
        yield line, "a name that is pasted together"
    for at, word in enumerate(tokens.words):
        if word == "sizeof" and tokens.words[at + 1:at + 3] == ["(", "*"]:
            yield tokens.lines[at], "sizeof(*x) is sizeof *x here"
        if word in ERRORS and is_truth(tokens, at):
            yield tokens.lines[at], f"{word} is compared with 0 here"


def check(path):
    """The offences of one file, as lines."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    tokens = Tokens(text)
    found = [*check_whole(path, text), *check_head(path, text),
             *check_functions(text, tokens),
             *check_dialect(tokens, path.startswith("tests/"))]
    return [f"{path}:{line}: {what}" for line, what in sorted(found)]


def main():
    """Checks the files named."""
    offences = [line for path in sys.argv[1:] for line in check(path)]
    print("\n".join(offences), end="\n" if offences else "")
    sys.exit(1 if offences else 0)


if __name__ == "__main__":
    main()
