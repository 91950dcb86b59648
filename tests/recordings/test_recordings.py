#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recordings.py: folders and INDEX are held against each other, both ways."""

import os
import shutil
import tempfile
import unittest

import recordings

INDEX = {"e/one": 2, "e/two": 1, "f": 1, "e/models": 0}


class Held(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.top)
        for folder, n in INDEX.items():
            self.make(folder, n)

    def make(self, folder, n):
        os.makedirs(os.path.join(self.top, folder))
        for i in range(n):
            for kind in ("req", "resp"):
                open(self.path(folder, "%d.%s" % (i, kind)), "w").close()

    def path(self, *parts):
        return os.path.join(self.top, *parts)

    def complaints(self):
        return list(recordings.complain_of(self.top, INDEX))

    def test_what_agrees(self):
        self.assertEqual(self.complaints(), [])

    def test_a_folder_that_is_missing(self):
        shutil.rmtree(self.path("e/two"))
        self.assertEqual(self.complaints(), ["e/two is missing"])

    def test_models_that_are_missing(self):
        os.rmdir(self.path("e/models"))
        self.assertEqual(self.complaints(), ["e/models is missing"])

    def test_a_folder_that_nobody_named(self):
        self.make("e/three", 1)
        self.assertEqual(self.complaints(), ["e/three is not in INDEX"])

    def test_a_request_that_is_missing(self):
        os.unlink(self.path("e/one", "1.req"))
        self.assertEqual(self.complaints(),
                         ["e/one has 1 requests, in INDEX are 2"])

    def test_an_answer_that_is_missing(self):
        os.unlink(self.path("f", "0.resp"))
        self.assertEqual(len(self.complaints()), 1)

    def test_the_archives_of_the_tree(self):
        self.assertEqual(set(recordings.archives()), set(recordings.index()))


if __name__ == "__main__":
    unittest.main()
