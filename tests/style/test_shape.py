"""shape.py on trees made up for it.
SPDX-License-Identifier: Apache-2.0
"""
import unittest

import made_up

CHAPTER = "/*\n * a\n * b\n * c\n * d\n */\n"
CLEAN = {"tap/main.c": "", "tap/net/net.h": CHAPTER, "tap/net/packet.c": "",
         "tap/include/tap/http.h": CHAPTER, "tap/http/http.c": "",
         "tap/data/table.inc": ""}


class Shape(made_up.MadeUp):
    """Each kind of offence, and a tree that has none."""

    tool = "shape.py"

    def offence(self, files, *lines):
        """These lines are said of the clean tree with these files changed."""
        self.assert_offence({**CLEAN, **files}, *lines)

    def test_folders_with_chapters_are_no_offence(self):
        self.assert_clean(CLEAN)

    def test_25_sources_are_a_folder_and_26_are_two(self):
        full = {f"tap/net/x{i}.c": "" for i in range(23)}
        self.assert_clean({**CLEAN, **full})
        self.offence({**full, "tap/net/more.inc": ""},
                     "tap/net: 26 sources (at most 25)")

    def test_a_folder_without_a_chapter_is_an_offence(self):
        self.offence({"tap/exchange/pair.c": ""},
                     "tap/exchange: no chapter, "
                     "which would be tap/exchange/exchange.h")

    def test_a_chapter_of_a_line_is_an_offence(self):
        self.offence({"tap/net/net.h": "/* net. */\n"},
                     "tap/net/net.h: a chapter opens with 6 lines")

    def test_a_name_stands_three_times_and_no_more(self):
        three = {"web/read.c": "", "tap/read.c": "", "store/read.c": ""}
        self.assert_clean({**CLEAN, **three})
        self.offence({**three, "config/read.c": ""},
                     "read.c stands 4 times (at most 3): config/read.c "
                     "store/read.c tap/read.c web/read.c")

    def test_a_guard_of_two_headers_is_an_offence(self):
        self.offence({"tap/net/a.h": "#ifndef A_H\n",
                      "tests/tap/a.h": "/* a. */\n#ifndef A_H\n"},
                     "A_H guards tap/net/a.h and tests/tap/a.h")


if __name__ == "__main__":
    unittest.main()
