/*
 * test_packet.c - frames of every link type down to their segment.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "craft.h"
#include "net/link.h"

static struct craft craft;
static struct packet packet;

/* Decodes a copy of its exact size, so that reading past it is seen. */
static enum packet_kind decode(struct frame f)
{
    static uint8_t *last;
    uint8_t *copy = malloc(f.n != 0 ? f.n : 1);

    assert_non_null(copy);
    memcpy(copy, f.p, f.n);
    free(last); /* the payload of the one before */
    last = copy;
    f.p = copy;
    return packet_decode(&f, &packet);
}

static void assert_payload(const char *text)
{
    const struct segment *s = &packet.segment;

    assert_int_equal(s->payload.n, strlen(text));
    assert_memory_equal(s->payload.p, text, s->payload.n);
    assert_int_equal(s->seq, 1000);
    assert_int_equal(s->ack, 5000);
    assert_int_equal(s->flags, TCP_ACK);
    assert_int_equal(s->window, 64000);
}

static void assert_unparsed(enum packet_kind kind, enum packet_cause cause)
{
    assert_int_equal(kind, PACKET_UNPARSED);
    assert_int_equal(packet.cause, cause);
}

static void hello_ipv4(struct craft *c)
{
    craft_ipv4(c, 45, 0, 6);
    craft_tcp(c, 5);
    craft_text(c, "hello");
}

static void hello_ipv6(struct craft *c)
{
    craft_ipv6(c, 25, 6);
    craft_tcp(c, 5);
    craft_text(c, "hello");
}

static void decodes_ethernet_with_padding(void **state)
{
    (void)state;
    craft_ether(&craft, 0x0800);
    hello_ipv4(&craft);
    craft_text(&craft, "padding");
    assert_int_equal(decode(craft_frame(&craft, LINK_ETHERNET)),
                     PACKET_SEGMENT);
    assert_payload("hello");
    assert_int_equal(packet.segment.tag, 0);
    assert_true(packet.segment.time_ns == 1000);
}

static void both_directions_have_one_key(void **state)
{
    struct segment there;

    (void)state;
    craft_ether(&craft, 0x0800);
    hello_ipv4(&craft);
    (void)decode(craft_frame(&craft, LINK_ETHERNET));
    there = packet.segment;
    for (int i = 0; i < 4; i++) { /* exchange the addresses and the ports */
        uint8_t *p = craft.p + 26 + i, b = p[0];

        p[0] = p[4];
        p[4] = b;
    }
    for (int i = 0; i < 2; i++) {
        uint8_t *p = craft.p + 34 + i, b = p[0];

        p[0] = p[2];
        p[2] = b;
    }
    (void)decode(craft_frame(&craft, LINK_ETHERNET));
    assert_memory_equal(&there.key, &packet.segment.key, sizeof(there.key));
    assert_int_equal(there.from_high, !packet.segment.from_high);
}

static void decodes_any_stack_of_vlan_tags(void **state)
{
    uint32_t outer_inner;

    (void)state;
    craft_ether(&craft, 0x88a8);
    craft_tag(&craft, 10, 0x8100);
    craft_tag(&craft, 20, 0x9100);
    craft_tag(&craft, 30, 0x86dd);
    hello_ipv6(&craft);
    assert_int_equal(decode(craft_frame(&craft, LINK_ETHERNET)),
                     PACKET_SEGMENT);
    assert_payload("hello");
    outer_inner = packet.segment.tag;
    craft_ether(&craft, 0x8100);
    craft_tag(&craft, 20, 0x8100);
    craft_tag(&craft, 10, 0x8100);
    craft_tag(&craft, 30, 0x86dd);
    hello_ipv6(&craft);
    (void)decode(craft_frame(&craft, LINK_ETHERNET));
    assert_true(packet.segment.tag != outer_inner);
}

static void vlan_zero_is_a_priority_and_no_vlan(void **state)
{
    (void)state;
    craft_ether(&craft, 0x8100);
    craft_tag(&craft, 0xe000, 0x0800);
    hello_ipv4(&craft);
    assert_int_equal(decode(craft_frame(&craft, LINK_ETHERNET)),
                     PACKET_SEGMENT);
    assert_int_equal(packet.segment.tag, 0);
}

static void endless_vlan_tags_are_given_up(void **state)
{
    (void)state;
    craft_ether(&craft, 0x8100);
    for (int i = 0; i < 20; i++)
        craft_tag(&craft, 5, 0x8100);
    assert_unparsed(decode(craft_frame(&craft, LINK_ETHERNET)),
                    CAUSE_ETHERTYPE);
}

static void decodes_snap(void **state)
{
    (void)state;
    craft_ether(&craft, 53);
    craft_bytes(&craft, "\xaa\xaa\x03\0\0\0\x08\0", 8);
    hello_ipv4(&craft);
    assert_int_equal(decode(craft_frame(&craft, LINK_ETHERNET)),
                     PACKET_SEGMENT);
    assert_payload("hello");
}

static void decodes_loopback_in_either_byte_order(void **state)
{
    static const uint8_t families[5][4] = {{2, 0, 0, 0},
                                           {0, 0, 0, 2},
                                           {30, 0, 0, 0},
                                           {0, 0, 0, 24},
                                           {10, 0, 0, 0}};

    (void)state;
    for (int i = 0; i < 5; i++) {
        craft.n = 0;
        craft_bytes(&craft, families[i], 4);
        if (i < 2)
            hello_ipv4(&craft);
        else
            hello_ipv6(&craft);
        assert_int_equal(decode(craft_frame(&craft, LINK_NULL)),
                         PACKET_SEGMENT);
        assert_payload("hello");
    }
    craft.n = 0;
    craft_be32(&craft, 99);
    assert_unparsed(decode(craft_frame(&craft, LINK_NULL)), CAUSE_ETHERTYPE);
}

static void decodes_raw_ip_by_its_version(void **state)
{
    (void)state;
    craft.n = 0;
    hello_ipv4(&craft);
    assert_int_equal(decode(craft_frame(&craft, LINK_RAW_IP)), PACKET_SEGMENT);
    assert_payload("hello");
    craft.n = 0;
    hello_ipv6(&craft);
    assert_int_equal(decode(craft_frame(&craft, LINK_RAW_IP)), PACKET_SEGMENT);
    assert_payload("hello");
    craft.p[0] = 0x50;
    assert_unparsed(decode(craft_frame(&craft, LINK_RAW_IP)), CAUSE_IP_VERSION);
}

static void decodes_linux_cooked_frames(void **state)
{
    (void)state;
    craft.n = 0;
    craft_zero(&craft, 14);
    craft_be16(&craft, 0x0800);
    hello_ipv4(&craft);
    assert_int_equal(decode(craft_frame(&craft, LINK_SLL)), PACKET_SEGMENT);
    assert_payload("hello");
    craft.n = 0;
    craft_be16(&craft, 0x86dd);
    craft_zero(&craft, 18);
    hello_ipv6(&craft);
    assert_int_equal(decode(craft_frame(&craft, LINK_SLL2)), PACKET_SEGMENT);
    assert_payload("hello");
}

static void takes_the_length_from_the_frame_if_ip_says_zero(void **state)
{
    (void)state;
    craft_ether(&craft, 0x0800);
    craft_ipv4(&craft, 0, 0, 6);
    craft_tcp(&craft, 5);
    craft_zero(&craft, 80000);
    assert_int_equal(decode(craft_frame(&craft, LINK_ETHERNET)),
                     PACKET_SEGMENT);
    assert_int_equal(packet.segment.payload.n, 80000);
    craft_ether(&craft, 0x86dd);
    craft_ipv6(&craft, 0, 0);
    craft_bytes(&craft, "\x06\0\xc2\x04", 4); /* jumbo payload, RFC 2675 */
    craft_be32(&craft, 8 + 20 + 70000);
    craft_tcp(&craft, 5);
    craft_zero(&craft, 70000 + 4); /* and a trailer */
    assert_int_equal(decode(craft_frame(&craft, LINK_ETHERNET)),
                     PACKET_SEGMENT);
    assert_int_equal(packet.segment.payload.n, 70000);
}

static void what_the_capture_cut_is_told_in_bytes(void **state)
{
    struct frame f;

    (void)state;
    craft_ether(&craft, 0x0800);
    craft_ipv4(&craft, 1040, 0, 6);
    craft_tcp(&craft, 5);
    craft_text(&craft, "only this");
    f = craft_frame(&craft, LINK_ETHERNET);
    f.wire_n = 14 + 1040;
    assert_int_equal(decode(f), PACKET_SEGMENT);
    assert_payload("only this");
    assert_int_equal(packet.segment.cut, 1000 - 9);
}

static void every_cut_of_a_frame_is_a_segment_or_truncated(void **state)
{
    struct frame f;

    (void)state;
    craft_ether(&craft, 0x8100);
    craft_tag(&craft, 5, 0x86dd);
    craft_ipv6(&craft, 8 + 8 + 20, 0);
    craft_bytes(&craft, "\x3c\0\1\4\0\0\0\0", 8); /* hop by hop, then options */
    craft_bytes(&craft, "\x06\0\1\4\0\0\0\0", 8);
    craft_tcp(&craft, 5);
    f = craft_frame(&craft, LINK_ETHERNET);
    assert_int_equal(decode(f), PACKET_SEGMENT);
    for (f.n = 0; f.n < craft.n; f.n++)
        assert_unparsed(decode(f), CAUSE_TRUNCATED);
}

static void impossible_headers_have_their_own_causes(void **state)
{
    (void)state;
    craft_ether(&craft, 0x0800);
    hello_ipv4(&craft);
    craft.p[14] = 0x44; /* IP header of 16 bytes */
    assert_unparsed(decode(craft_frame(&craft, LINK_ETHERNET)),
                    CAUSE_IP_HEADER);
    craft.p[14] = 0x65; /* version 6 under the type of 4 */
    assert_unparsed(decode(craft_frame(&craft, LINK_ETHERNET)),
                    CAUSE_IP_VERSION);
    craft.p[14] = 0x45;
    craft.p[17] = 19; /* shorter than its header */
    assert_unparsed(decode(craft_frame(&craft, LINK_ETHERNET)),
                    CAUSE_IP_HEADER);
    craft.p[17] = 45;
    craft.p[46] = 0x40; /* TCP header of 16 bytes */
    assert_unparsed(decode(craft_frame(&craft, LINK_ETHERNET)),
                    CAUSE_TCP_HEADER);
    craft.p[46] = 0x70; /* of 28, in a segment of 25 */
    assert_unparsed(decode(craft_frame(&craft, LINK_ETHERNET)),
                    CAUSE_TCP_HEADER);
}

static void tunnels_and_other_protocols_are_told_apart(void **state)
{
    static const unsigned tunnels[] = {4, 41, 47, 97, 115, 137};

    (void)state;
    for (size_t i = 0; i < sizeof(tunnels) / sizeof(tunnels[0]); i++) {
        craft_ether(&craft, 0x0800);
        craft_ipv4(&craft, 40, 0, tunnels[i]);
        craft_zero(&craft, 20);
        assert_unparsed(decode(craft_frame(&craft, LINK_ETHERNET)),
                        CAUSE_TUNNEL);
    }
    craft_ether(&craft, 0x0800);
    craft_ipv4(&craft, 28, 0, 17);
    craft_be32(&craft, 5353 << 16 | 4789); /* VXLAN */
    craft_be32(&craft, 8 << 16);
    assert_unparsed(decode(craft_frame(&craft, LINK_ETHERNET)), CAUSE_TUNNEL);
    craft.p[37] = 53;
    assert_unparsed(decode(craft_frame(&craft, LINK_ETHERNET)),
                    CAUSE_IP_PROTOCOL);
    craft_ether(&craft, 0x8847);
    assert_unparsed(decode(craft_frame(&craft, LINK_ETHERNET)), CAUSE_TUNNEL);
    craft_ether(&craft, 0x0806);
    assert_unparsed(decode(craft_frame(&craft, LINK_ETHERNET)),
                    CAUSE_ETHERTYPE);
}

/* The sum as RFC 1071 says it, word by word. */
static unsigned plain_sum(const uint8_t *p, size_t n)
{
    unsigned long sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += i % 2 == 0 ? (unsigned)p[i] << 8 : p[i];
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return (unsigned)sum;
}

static void craft_request(unsigned version, size_t n, unsigned salt)
{
    craft_ether(&craft, version == 4 ? 0x0800 : 0x86dd);
    if (version == 4)
        craft_ipv4(&craft, (unsigned)(40 + n), 0, 6);
    else
        craft_ipv6(&craft, (unsigned)(20 + n), 6);
    craft_tcp(&craft, 5);
    for (size_t i = 0; i < n; i++)
        craft.p[craft.n++] = (uint8_t)(i * i + salt * 151);
}

/* Sum of the pseudo header of a segment of n bytes; tcp: where
 * it is. */
static unsigned pseudo_sum(unsigned version, size_t n, const uint8_t *tcp)
{
    size_t ends = version == 4 ? 8 : 32;
    uint8_t p[40] = {0};

    memcpy(p, tcp - ends, ends);
    p[ends] = (uint8_t)(n >> 8);
    p[ends + 1] = (uint8_t)n;
    p[ends + 3] = 6;
    return plain_sum(p, ends + 4);
}

static enum checksum seen_with(uint8_t *tcp, unsigned field)
{
    tcp[16] = (uint8_t)(field >> 8);
    tcp[17] = (uint8_t)field;
    assert_int_equal(decode(craft_frame(&craft, LINK_ETHERNET)),
                     PACKET_SEGMENT);
    return (enum checksum)packet.segment.checksum;
}

static void tells_checksums_apart(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        unsigned version = i % 2 != 0 ? 4 : 6, pseudo, good;
        size_t n = i < 300 ? i / 2 : (i - 299) * 600;
        uint8_t *tcp;

        craft_request(version, n, i);
        tcp = craft.p + craft.n - n - 20;
        pseudo = pseudo_sum(version, 20 + n, tcp);
        good = pseudo + plain_sum(tcp, 20 + n);
        good = 0xffff & ~((good & 0xffff) + (good >> 16));
        assert_int_equal(seen_with(tcp, good), CHECKSUM_VALID);
        assert_int_equal(seen_with(tcp, good ^ 0x5555), CHECKSUM_WRONG);
        assert_int_equal(seen_with(tcp, good ^ 1), CHECKSUM_WRONG);
        assert_int_equal(seen_with(tcp, pseudo), CHECKSUM_PARTIAL);
        assert_int_equal(seen_with(tcp, pseudo_sum(version, 0, tcp)),
                         CHECKSUM_PARTIAL);
        assert_int_equal(seen_with(tcp, 0), CHECKSUM_PARTIAL);
    }
}

/* The second frame of zeek's content-range-gap.pcap. */
static void takes_a_real_checksum_for_valid(void **state)
{
    static const uint8_t answer[] = {
        0x00, 0x0c, 0x29, 0xb2, 0xbb, 0x91, 0x00, 0x50, 0x56, 0xf0, 0x23, 0xab,
        0x08, 0x00, 0x45, 0x00, 0x00, 0x2c, 0x7d, 0x7b, 0x00, 0x00, 0x80, 0x06,
        0xf9, 0x0f, 0x36, 0xef, 0xa4, 0x15, 0xc0, 0xa8, 0x28, 0x94, 0x00, 0x50,
        0xa5, 0xdb, 0x70, 0xf3, 0x06, 0x13, 0xba, 0x5f, 0xaa, 0x20, 0x60, 0x12,
        0xfa, 0xf0, 0x57, 0x32, 0x00, 0x00, 0x02, 0x04, 0x05, 0xb4, 0x00, 0x00};
    struct frame f = {answer, sizeof answer, sizeof answer, 0, LINK_ETHERNET};

    (void)state;
    assert_int_equal(decode(f), PACKET_SEGMENT);
    assert_int_equal(packet.segment.checksum, CHECKSUM_VALID);
    assert_int_equal(packet.segment.mss, 1460);
}

static void does_not_judge_what_was_cut_off(void **state)
{
    struct frame f;

    (void)state;
    craft_request(4, 100, 1);
    f = craft_frame(&craft, LINK_ETHERNET);
    f.n -= 1;
    assert_int_equal(decode(f), PACKET_SEGMENT);
    assert_int_equal(packet.segment.checksum, CHECKSUM_UNKNOWN);
}

static void fragments_are_handed_on(void **state)
{
    (void)state;
    craft_ether(&craft, 0x0800);
    craft_ipv4(&craft, 28, 0x2000 | 3, 6);
    craft_text(&craft, "8 bytes.");
    assert_int_equal(decode(craft_frame(&craft, LINK_ETHERNET)),
                     PACKET_FRAGMENT);
    assert_int_equal(packet.fragment.offset, 24);
    assert_true(packet.fragment.more);
    assert_int_equal(packet.fragment.id, 0x1234);
    assert_int_equal(packet.fragment.bytes.n, 8);
    craft_ether(&craft, 0x86dd);
    craft_ipv6(&craft, 16, 44);
    craft_bytes(&craft, "\x06\0\0\x09", 4); /* offset 8, more */
    craft_be32(&craft, 77);
    craft_text(&craft, "8 bytes.");
    assert_int_equal(decode(craft_frame(&craft, LINK_ETHERNET)),
                     PACKET_FRAGMENT);
    assert_int_equal(packet.fragment.offset, 8);
    assert_int_equal(packet.fragment.id, 77);
    assert_int_equal(packet.fragment.ip.protocol, 6);
}

static void an_atomic_fragment_is_a_datagram(void **state)
{
    (void)state;
    craft_ether(&craft, 0x86dd);
    craft_ipv6(&craft, 8 + 25, 44);
    craft_bytes(&craft, "\x06\0\0\0\0\0\0\1", 8);
    craft_tcp(&craft, 5);
    craft_text(&craft, "hello");
    assert_int_equal(decode(craft_frame(&craft, LINK_ETHERNET)),
                     PACKET_SEGMENT);
    assert_payload("hello");
}

static void reads_the_window_scale_of_a_syn(void **state)
{
    (void)state;
    craft_ether(&craft, 0x0800);
    craft_ipv4(&craft, 48, 0, 6);
    craft_tcp(&craft, 7);
    craft_bytes(&craft, "\1\1\1\1\1\3\3\7", 8);
    craft.p[47] = TCP_SYN;
    assert_int_equal(decode(craft_frame(&craft, LINK_ETHERNET)),
                     PACKET_SEGMENT);
    assert_int_equal(packet.segment.scale, 7);
    craft.p[61] = 200; /* RFC 7323: at most 14 */
    (void)decode(craft_frame(&craft, LINK_ETHERNET));
    assert_int_equal(packet.segment.scale, 14);
    craft.p[60] = 0; /* an option without a length */
    (void)decode(craft_frame(&craft, LINK_ETHERNET));
    assert_int_equal(packet.segment.scale, TCP_NO_SCALE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_ethernet_with_padding),
        cmocka_unit_test(both_directions_have_one_key),
        cmocka_unit_test(decodes_any_stack_of_vlan_tags),
        cmocka_unit_test(vlan_zero_is_a_priority_and_no_vlan),
        cmocka_unit_test(endless_vlan_tags_are_given_up),
        cmocka_unit_test(decodes_snap),
        cmocka_unit_test(decodes_loopback_in_either_byte_order),
        cmocka_unit_test(decodes_raw_ip_by_its_version),
        cmocka_unit_test(decodes_linux_cooked_frames),
        cmocka_unit_test(takes_the_length_from_the_frame_if_ip_says_zero),
        cmocka_unit_test(what_the_capture_cut_is_told_in_bytes),
        cmocka_unit_test(every_cut_of_a_frame_is_a_segment_or_truncated),
        cmocka_unit_test(impossible_headers_have_their_own_causes),
        cmocka_unit_test(tunnels_and_other_protocols_are_told_apart),
        cmocka_unit_test(tells_checksums_apart),
        cmocka_unit_test(takes_a_real_checksum_for_valid),
        cmocka_unit_test(does_not_judge_what_was_cut_off),
        cmocka_unit_test(fragments_are_handed_on),
        cmocka_unit_test(an_atomic_fragment_is_a_datagram),
        cmocka_unit_test(reads_the_window_scale_of_a_syn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
