/*
 * make_world.c - writes the index of fixture.h's world into an empty
 * directory and prints the units by name, for the tests in a browser. Added
 * to it: a day of epochs for the chart, requests for a second page of the
 * list, and one whose every text is markup.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "fixture.h"

static void add_epoch(struct fixture *f, int i)
{
    char number[16], seen[16], drawn[16], match[16];
    const char *mismatch = i % 9 == 4 ? "1" : "0";

    (void)snprintf(number, sizeof number, "%d", i);
    (void)snprintf(seen, sizeof seen, "%d", 640000 + (i * 7919 % 13) * 45000);
    (void)snprintf(drawn, sizeof drawn, "%d", 540 + i * 31 % 60);
    (void)snprintf(match, sizeof match, "%d",
                   540 + i * 31 % 60 - (i % 9 == 4 ? 1 : 0));
    ADD(f, "frame_close", "epoch", number, "reason", "time", "n", seen, "seen",
        seen);
    ADD(f, "certificate", "epoch", number, "from_ns", "1795953600000000000",
        "to_ns", "1795957200000000000", "seen", seen, "frame", seen, "drawn",
        drawn, "match", match, "mismatch", mismatch, "route", "invariant",
        "confidence_ppm", "990000", "bound_ppm", i % 9 == 4 ? "13100" : "8500",
        "stratum", "0,gpt-oss-20b,802114,398,0,6900", "stratum",
        "1,llama-3.3-70b,301777,150,0,8800");
}

static void add_requests(struct fixture *f)
{
    static const char text[] = "\"><script>document.title='broken'</script>"
                               "<img src=x onerror=\"document.title='b'\">";

    for (int i = 0; i < 60; i++)
        ADD(f, "exchange", "model", i % 3 == 0 ? "smol" : "llama", "api",
            "openai.completions", "req_first_ns", "1795957300000000000",
            "status", i % 20 == 0 ? "0" : "200", "tokens_out", "64", "complete",
            i % 20 == 0 ? "0" : "1", "cause", i % 20 == 0 ? "no_answer" : "");
    ADD(f, "exchange", "model", text, "api", text, "api_id", text, "target",
        text, "req_first_ns", "1795957400000000000", "cause", text);
}

int main(int argc, char **argv)
{
    struct world w;

    if (argc != 2) {
        fputs("usage: make_world DIR\n", stderr);
        return 2;
    }
    world_open(&w, argv[1]);
    for (int i = 2; i < 27; i++)
        add_epoch(&w.f, i);
    add_requests(&w.f);
    fixture_commit(&w.f);
    printf("match %s\ntoken %s\nlogprob %s\nlength %s\nenvelope %s\n"
           "unstable %s\nuncheckable %s\nwaiting %s\nundrawn %s\n",
           w.match.hex, w.token.hex, w.logprob.hex, w.length.hex,
           w.envelope.hex, w.unstable.hex, w.uncheckable.hex, w.waiting.hex,
           w.undrawn.hex);
    sqlite3_close(w.f.db);
    return 0;
}
