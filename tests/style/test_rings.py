"""rings.py on trees made up for it.
SPDX-License-Identifier: Apache-2.0
"""
import unittest

import made_up

RULES = "tests/style/arrows.txt"


def see(*names):
    """The text of a file that includes these."""
    return "".join(f'#include "{name}"\n' for name in names)


# Folders a and b, a seeing b: a private header, a public one that a .c
# implements, an interface that none does, a part, and a neighbour's header.
CLEAN = {
    RULES: "# a is above b\ntap/b not tap/a\ntap/b only config store\n",
    "config/include/config/log.h": "",
    "store/include/store/span.h": see("config/log.h"),
    "store/span.c": see("store/span.h"),
    "tap/include/tap/face.h": "",
    "tap/include/tap/one.h": see("tap/face.h"),
    "tap/a/one.c": see("tap/one.h", "b/two.h", "store/span.h"),
    "tap/a/other.h": "",
    "tap/b/two.h": see("store/span.h"),
    "tap/b/two.c": "#include <stdio.h>\n" + see("b/two.h", "part.inc"),
    "tap/b/part.inc": see("b/two.h"),
}


class Rings(made_up.MadeUp):
    """Each kind of offence, and a tree that has none."""

    tool = "rings.py"

    def clean(self, **more):
        """Nothing is said of the clean tree with these files changed."""
        self.assert_clean({**CLEAN, **more.get("files", {})})

    def offence(self, files, *lines):
        """These lines are said of the clean tree with these files changed."""
        self.assert_offence({**CLEAN, **files}, *lines)

    def test_arrows_of_one_way_are_no_offence(self):
        self.clean()

    def test_a_source_and_its_headers_are_one_unit(self):
        self.clean(files={"tap/b/two.h": see("tap/face.h"),
                          "tap/include/tap/face.h": "",
                          RULES: ""})

    def test_units_that_include_each_other_are_a_ring(self):
        self.offence(
            {"tap/a/other.h": see("tap/one.h"),
             "tap/a/one.c": see("tap/one.h", "a/other.h")},
            "tap: a ring of units: tap/a/one -> tap/a/other -> tap/a/one",
            '    tap/a/one.c:2: #include "a/other.h"',
            '    tap/a/other.h:1: #include "tap/one.h"')

    def test_longer_ways_round_are_rings(self):
        self.offence(
            {"tap/a/x.h": see("a/y.h"), "tap/a/y.h": see("z.h"),
             "tap/a/z.h": see("a/x.h")},
            "tap: a ring of units: "
            "tap/a/x -> tap/a/y -> tap/a/z -> tap/a/x",
            '    tap/a/x.h:1: #include "a/y.h"',
            '    tap/a/y.h:1: #include "z.h"',
            '    tap/a/z.h:1: #include "a/x.h"')

    def test_a_part_counts_for_the_unit_that_includes_it(self):
        self.offence(
            {"tap/b/part.inc": see("b/three.h"),
             "tap/b/three.h": see("b/two.h")},
            "tap: a ring of units: tap/b/three -> tap/b/two -> tap/b/three",
            '    tap/b/three.h:1: #include "b/two.h"',
            '    tap/b/part.inc:1: #include "b/three.h"')

    def test_a_part_named_by_a_macro_is_included(self):
        self.offence(
            {"tap/b/two.c": see("b/two.h") + '#define PART "b/part.inc"\n',
             "tap/b/part.inc": see("b/three.h"),
             "tap/b/three.h": see("b/two.h")},
            "tap: a ring of units: tap/b/three -> tap/b/two -> tap/b/three",
            '    tap/b/three.h:1: #include "b/two.h"',
            '    tap/b/part.inc:1: #include "b/three.h"')

    def test_folders_that_see_each_other_are_a_ring(self):
        self.offence(
            {RULES: "", "tap/b/three.h": see("a/other.h")},
            "tap: a ring of folders: tap/a -> tap/b -> tap/a",
            '    tap/a/one.c:2: #include "b/two.h"',
            '    tap/b/three.h:1: #include "a/other.h"')

    def test_a_public_header_lies_in_its_sources_folder(self):
        self.offence(
            {RULES: "", "tap/b/three.h": see("tap/one.h")},
            "tap: a ring of folders: tap/a -> tap/b -> tap/a",
            '    tap/a/one.c:2: #include "b/two.h"',
            '    tap/b/three.h:1: #include "tap/one.h"')

    def test_of_two_sources_of_a_name_the_first_include_decides(self):
        files = {RULES: "", "tap/b/one.c": see("b/two.h", "tap/one.h"),
                 "tap/a/one.c": see("tap/one.h")}
        self.clean(files=files)
        self.offence(
            {**files, "tap/a/other.h": see("b/two.h")},
            "tap: a ring of folders: tap/a -> tap/b -> tap/a",
            '    tap/a/other.h:1: #include "b/two.h"',
            '    tap/b/one.c:2: #include "tap/one.h"')

    def test_the_store_must_not_see_the_tap(self):
        self.offence({"store/span.c": see("store/span.h", "tap/face.h")},
                     "store must not see tap",
                     '    store/span.c:2: #include "tap/face.h"')

    def test_rooms_at_the_end_of_the_arrows_must_not_see_each_other(self):
        self.offence({"web/page.c": see("tap/face.h")},
                     "web must not see tap",
                     '    web/page.c:1: #include "tap/face.h"')

    def test_an_include_of_no_file_is_an_offence(self):
        self.offence({"web/page.c": see("page.h")},
                     "web/page.c: includes no file of the tree",
                     '    web/page.c:1: #include "page.h"')

    def test_a_folder_sees_none_of_those_forbidden(self):
        self.offence({RULES: "tap/a not tap/b config\n"},
                     "tap/a must not see tap/b (tap/a not tap/b config)",
                     '    tap/a/one.c:2: #include "b/two.h"')

    def test_a_folder_sees_only_those_allowed(self):
        self.offence({RULES: "tap/a only tap/b tap/include\n"},
                     "tap/a must not see store "
                     "(tap/a only tap/b tap/include)",
                     '    tap/a/one.c:3: #include "store/span.h"')

    def test_folders_apart_do_not_see_each_other(self):
        self.offence({RULES: "tap/* apart\n",
                      "tap/include/tap/one.h": ""},
                     "tap/a must not see tap/b (tap/* apart)",
                     '    tap/a/one.c:2: #include "b/two.h"')

    def test_a_rule_holds_for_all_below_a_folder(self):
        self.offence(
            {RULES: "tap/a not tap/b\n", "tap/a/one.c": see("tap/one.h"),
             "tap/a/deep/x.c": see("b/deep/y.h"), "tap/b/deep/y.h": ""},
            "tap/a/deep must not see tap/b/deep (tap/a not tap/b)",
            '    tap/a/deep/x.c:1: #include "b/deep/y.h"')

    def test_a_rule_about_a_folder_that_is_gone_is_an_offence(self):
        self.offence({RULES: "tap/c not tap/a\n"},
                     "arrows.txt: tap/c is no folder of the tree")


if __name__ == "__main__":
    unittest.main()
