"""names.py on trees made up for it.
SPDX-License-Identifier: Apache-2.0
"""
import unittest

import made_up

TOP = "project('made-up', 'c')\nsubdir('store')\nsubdir('tap')\n" \
    "subdir('tests')\n"
STORE = "store = static_library('store', 'record.c', 'table.c')\n" \
    "executable('assay-store', 'main.c', link_with: store)\n"
TAP = "tap = static_library('tap', 'packet.c')\n" \
    "executable('assay-tap', 'main.c', link_with: tap)\n"
TESTS = "executable('test_packet', 'test.c', link_with: [tap, store])\n"

# The program calls record_add and, through a table alone, record_end.
CLEAN = {
    "meson.build": TOP, "store/meson.build": STORE, "tap/meson.build": TAP,
    "tests/meson.build": TESTS,
    "store/main.c": "int record_add(int a);\n"
                    "int main(void) { return record_add(0); }\n",
    "store/record.c": "extern int (*const ends[1])(void);\n"
                      "int record_add(int a) { return a + ends[a](); }\n",
    "store/table.c": "static int helper(void) { return 1; }\n"
                     "int record_end(void) { return helper(); }\n"
                     "extern int (*const ends[1])(void);\n"
                     "int (*const ends[1])(void) = { record_end };\n",
    "tap/packet.c": "static int unseen(void) { return 1; }\n"
                    "int (*packet)(void) = unseen;\n",
    "tap/main.c": "extern int (*packet)(void);\n"
                  "int main(void) { return packet(); }\n",
    "tests/test.c": "int main(void) { return 0; }\n",
}


class Names(made_up.MadeUp):
    """Each kind of offence, and a tree that has none."""

    tool = "names.py"

    def offence(self, files, *lines):
        """These lines are said of the clean tree with these files changed."""
        self.assert_offence({**CLEAN, **files}, *lines)

    def test_names_reached_by_calls_or_tables_are_no_offence(self):
        self.assert_clean(CLEAN)

    def test_a_name_of_two_rooms_is_an_offence(self):
        self.offence(
            {"tap/packet.c": CLEAN["tap/packet.c"]
             + "int record_add(int a) { return a; }\n"},
            "record_add is defined by store/record.c and tap/packet.c")

    def test_what_only_a_test_calls_is_dead(self):
        self.offence(
            {"tap/packet.c": CLEAN["tap/packet.c"]
             + "int packet_size(void) { return 1; }\n",
             "tests/test.c": "int packet_size(void);\n"
                             "int main(void) { return packet_size(); }\n"},
            "packet_size of tap/packet.c: no program reaches it")

    def test_what_only_the_dead_call_is_dead(self):
        self.offence(
            {"tap/packet.c": CLEAN["tap/packet.c"]
             + "int packet_size(void) { return 1; }\n"
               "int packet_room(void) { return packet_size(); }\n"},
            "packet_room of tap/packet.c: no program reaches it",
            "packet_size of tap/packet.c: no program reaches it")

    def test_a_table_that_nobody_reads_is_dead(self):
        self.offence(
            {"tap/packet.c": CLEAN["tap/packet.c"]
             + "const int packet_sizes[] = { 1 };\n"},
            "packet_sizes of tap/packet.c: no program reaches it")


if __name__ == "__main__":
    unittest.main()
