/*
 * help.c - what the words on the pages mean.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "page/page.h"
#include "pages/pages.h"

static const struct {
    const char *word, *meaning;
} words[] = {
    {"seen", "A request and its answer, whole or not, as they passed the tap."},
    {"incomplete", "Part of it was not seen, or one side broke off; the cause "
                   "stands beside it. It stays in the counts."},
    {"epoch", "A stretch of the log that is closed, sealed under a signed "
              "checkpoint and drawn from."},
    {"drawn", "Chosen by a seed that did not exist when the record was "
              "sealed."},
    {"MATCH", "Run again, every token and every log-probability has the same "
              "bits, and so has what stands around them."},
    {"MISMATCH token", "A token differs."},
    {"MISMATCH logprob", "The tokens are equal, a log-probability is not."},
    {"MISMATCH length", "One side ends where the other goes on."},
    {"MISMATCH envelope", "Text, usage, finish reason, model name or headers "
                          "differ from the recomputed ones."},
    {"UNSTABLE", "Our own repeats differ from each other, so nothing is said "
                 "about the recorded answer."},
    {"UNCHECKABLE", "It could not be run again, for the reason given. It "
                    "counts against the bound like a mismatch."},
    {"bound", "With the stated confidence, at most this share of the epoch's "
              "requests would not pass the same check. Whatever is not a MATCH "
              "counts against it, waiting ones included."},
    {"finding", "The wire and the engine's batch feed disagree: a request "
                "without a batch element, an element without a request, one "
                "twice, or sizes that differ."},
    {"loss", "Something known to have been missed: drops, gaps, full pools, "
             "missing feed messages."},
    {"unparsed", "Bytes that were seen and not understood."},
    {"recorded, recomputed", "What was on the wire, and what running it again "
                             "gave. They always stand in this order."},
    {"ULP", "Units in the last place: how many float32 values lie between two. "
            "Only equal bits are called same."},
    {"open, in review, decided, confirmed",
     "Where a case stands. A new verdict opens it again; a decision never "
     "takes it out of the statistics."},
};

int show_help(struct page *p)
{
    struct html *h = &p->html;

    page_begin(p, "Help");
    html_element(h, "h1", NULL, "What the words mean");
    html_open_class(h, "dl", "facts words");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        page_fact(p, words[i].word);
        html_text(h, words[i].meaning);
        page_fact_end(p);
    }
    html_close(h, "dl");
    page_section(p, "verify", "Checking without trusting this page");
    html_open_class(h, "pre", "panel");
    html_text(h, "assay export EPOCH DIR\nassay verify DIR --key VKEY");
    html_close(h, "pre");
    html_element(h, "p", "note",
                 "The export needs no database and no network to be verified: "
                 "signatures, tree, that the record was sealed before the "
                 "draw, the draw itself, the verdict rule and the counts.");
    page_section_end(p);
    page_end(p);
    return 200;
}
