"""source.py on sources made up for it.
SPDX-License-Identifier: Apache-2.0
"""
import unittest

import made_up

OPENING = "/*\n * x.c - it.\n * SPDX-License-Identifier: Apache-2.0\n */\n"
FIVE = "int a, int (*b)(int, int), char c[2], struct d *d, int e"


class Source(made_up.MadeUp):
    """Each kind of offence, and what looks like one and is none."""

    tool = "source.py"

    def clean(self, text, path="x.c"):
        """Nothing is said of a source of this text."""
        self.assert_clean({"./" + path: text}, args=(path,))

    def offence(self, text, *lines, path="x.c"):
        """These lines, which begin with the path, are said of a source."""
        self.assert_offence({"./" + path: text},
                            *[f"{path}:{line}" for line in lines],
                            args=(path,))

    def test_a_source_opens_with_what_it_is_and_one_licence_line(self):
        self.clean(OPENING)
        self.clean(OPENING.replace("x.c", "w.c, x.c"))
        self.offence("int x;\n" + OPENING,
                     "1: opens not with: x.c - what it is")
        self.offence("/* x.c - it. */\n", "1: not one SPDX line")
        self.offence(OPENING + OPENING, "1: not one SPDX line")

    def test_a_file_that_was_moved_bears_its_new_name(self):
        self.offence(OPENING, "1: opens not with: y.c - what it is",
                     path="y.c")

    def test_a_guard_ends_with_the_headers_name(self):
        opening = OPENING.replace("x.c", "a_b.h")
        self.clean(opening + "#ifndef ROOM_A_B_H\n", path="tap/a_b.h")
        self.offence(opening + "#ifndef ROOM_B_H\n",
                     "1: the guard is not ..A_B_H", path="tap/a_b.h")
        self.offence(opening, "1: the guard is not ..A_B_H", path="a_b.h")

    def test_the_own_header_stands_first_then_the_systems_then_ours(self):
        self.clean(OPENING + '#include "x.h"\n\n#include <stdio.h>\n\n'
                   '#include "y.h"\n#include "z.h"\n')
        self.offence(OPENING + '#include "x.h"\n#include "y.h"\n\n'
                     '#include <stdio.h>\n',
                     "8: a system header after one of ours")

    def test_a_file_ends_at_600_lines(self):
        self.clean(OPENING + "int x;\n" * 596)
        self.offence(OPENING + "int x;\n" * 597,
                     "601: 601 lines (at most 600)")

    def test_a_file_that_says_why_it_is_one_ends_at_800(self):
        opening = OPENING.replace(
            " * SPDX", " * One file, since it is one walk.\n * SPDX")
        self.clean(opening + "int x;\n" * 795)
        self.offence(opening + "int x;\n" * 796,
                     "801: 801 lines (at most 800)")

    def test_a_function_ends_at_60_lines(self):
        self.clean(OPENING + "int f(void)\n{\n" + "f();\n" * 59 + "}\n")
        self.offence(OPENING + "int f(void)\n{\n" + "f();\n" * 60 + "}\n",
                     "6: f: 61 lines (at most 60)")

    def test_a_table_is_no_function(self):
        self.clean(OPENING + "int x[] = {\n" + "f(1),\n" * 80 + "};\n")

    def test_a_part_is_held_to_it_too(self):
        self.offence(OPENING.replace("x.c", "x.inc")
                     + "int f(void)\n{\n" + "f();\n" * 60 + "}\n",
                     "6: f: 61 lines (at most 60)", path="x.inc")

    def test_a_function_takes_five_parameters(self):
        self.clean(OPENING + f"int f({FIVE})\n{{\n}}\n")
        self.clean(OPENING + "int f(void)\n{\n}\nint g()\n{\n}\n")
        self.offence(OPENING + f"int f({FIVE},\n int f)\n{{\n}}\n",
                     "5: f: 6 parameters (at most 5)")

    def test_a_function_whose_name_a_macro_makes_takes_five(self):
        self.offence(OPENING + f"int NAME(f)({FIVE}, int f)\n{{\n}}\n",
                     "5: f: 6 parameters (at most 5)")

    def test_a_pointer_to_a_function_takes_five(self):
        self.clean(OPENING + f"struct t {{\n    int (*f)({FIVE});\n}};\n")
        self.offence(
            OPENING + f"struct t {{\n    int (*f)({FIVE}, int f);\n}};\n",
            "6: f: 6 parameters (at most 5)")

    def test_somebody_elses_type_may_take_more(self):
        self.clean(OPENING + "int x;\n"
                   "/* NOLINTNEXTLINE(readability-function-size) */\n"
                   f"static int f({FIVE}, int f)\n{{\n}}\n")

    def test_arguments_of_a_call_are_not_counted(self):
        self.clean(OPENING + "int f(void)\n{\n    g(1, 2, 3, 4, 5, 6);\n}\n")

    def test_sizeof_an_object_has_no_brackets(self):
        self.clean(OPENING + "int x = sizeof *p + sizeof(struct p);\n")
        self.offence(OPENING + "int x = sizeof(*p);\n",
                     "5: sizeof(*x) is sizeof *x here")

    def test_an_error_is_compared_with_0(self):
        self.clean(OPENING + "int f(void)\n{\n"
                   "    if (err != 0 || rc == 0)\n        g(err);\n"
                   "    return rc != 0 ? rc : p->err && !err->x;\n}\n")
        for form in ("if (err)", "while (rc)", "if (!err)", "x = !rc;",
                     "if (x && err)", "if (err || x)", "x = err ? err : f();",
                     "return rc ? rc : x;", "for (; !err && i; i++)"):
            name = "rc" if "rc" in form else "err"
            self.offence(OPENING + f"int f(void)\n{{\n    {form}\n}}\n",
                         f"7: {name} is compared with 0 here")

    def test_comments_literals_and_directives_are_no_code(self):
        self.clean(OPENING + "/* if (err) ## sizeof(*x) */\n"
                   "const char *x = \"if (err) \\\" ## sizeof(*x)\";\n"
                   "#define X \\\n    { (int a, int b, int c, int d, int e, "
                   "int f) { }\n")

    def test_names_are_not_pasted_together(self):
        text = OPENING + "#define X(name) int \\\n    f_##name(void);\n"
        self.offence(text, "6: a name that is pasted together")
        self.clean(text, path="tests/x.c")


if __name__ == "__main__":
    unittest.main()
