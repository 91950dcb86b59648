#!/usr/bin/env python3
"""Writes the corpora of fuzz_packet and fuzz_net: frames of every kind.

Usage: make_frames.py CORPUS. Makes CORPUS/packet (a byte for the link type,
then a frame) and CORPUS/net (capture files). answers.pcap there comes from
`make_capture answers.pcap 2 5`. The files of corpus/fragment and corpus/stream
were found by libFuzzer and reduced with -merge=1; crash-* once failed.
SPDX-License-Identifier: Apache-2.0
"""
import os
import struct
import sys

ETHERNET, NULL, RAW, SLL, SLL2 = range(5)
MACS = bytes(12)


def tcp(text=b"hello", seq=1000, flags=0x10, options=b""):
    words = 5 + len(options) // 4
    return struct.pack(">HHIIHHI", 40000, 80, seq, 5000, words << 12 | flags,
                       64000, 0) + options + text


def ipv4(body, protocol=6, frag=0, total=None, options=b""):
    size = 20 + len(options) + len(body) if total is None else total
    return struct.pack(">HHHHHHII", 0x4500 | len(options) // 4 << 8, size,
                       0x1234, frag, 0x4000 | protocol, 0, 0x0a000002,
                       0x0a000001) + options + body


def ipv6(body, header=6, size=None):
    size = len(body) if size is None else size
    return struct.pack(">IHBB", 6 << 28, size, header, 64) + \
        bytes(15) + b"\2" + bytes(15) + b"\1" + body


def ether(kind, body, tags=()):
    out = MACS
    for tag, vid in tags:
        out += struct.pack(">HH", tag, vid)
    return out + struct.pack(">H", kind) + body


def piece(offset, more, body, ident=7):
    return struct.pack(">BBHI", 6, 0, offset | more, ident) + body


SYN = tcp(b"", 999, 2, bytes.fromhex("0204 05b4 0101 0402 0103 0307"))
FRAMES = {
    "ipv4": (ETHERNET, ether(0x800, ipv4(tcp()))),
    "syn": (ETHERNET, ether(0x800, ipv4(SYN))),
    "options": (ETHERNET, ether(0x800, ipv4(tcp(), options=bytes(8)))),
    "padding": (ETHERNET, ether(0x800, ipv4(tcp(b"")) + bytes(6))),
    "total0": (ETHERNET, ether(0x800, ipv4(tcp(), total=0))),
    "long": (ETHERNET, ether(0x800, ipv4(tcp(), total=1500))),
    "vlan": (ETHERNET, ether(0x800, ipv4(tcp()), [(0x8100, 5)])),
    "qinq": (ETHERNET, ether(0x86dd, ipv6(tcp()),
                             [(0x88a8, 10), (0x8100, 20), (0x9100, 30)])),
    "ipv6": (ETHERNET, ether(0x86dd, ipv6(tcp()))),
    "headers": (ETHERNET, ether(0x86dd, ipv6(
        bytes.fromhex("3c00010400000000 2b00010400000000 0600010400000000") +
        tcp(), 0))),
    "jumbo": (ETHERNET, ether(0x86dd, ipv6(
        bytes.fromhex("0600c20400000021") + tcp(), 0, 0))),
    "piece4": (ETHERNET, ether(0x800, ipv4(tcp()[:24], frag=0x2000))),
    "piece6": (ETHERNET, ether(0x86dd, ipv6(piece(0, 1, tcp()[:24]), 44))),
    "atomic": (ETHERNET, ether(0x86dd, ipv6(piece(0, 0, tcp()), 44))),
    "snap": (ETHERNET, ether(53, b"\xaa\xaa\3\0\0\0\x08\0" + ipv4(tcp()))),
    "gre": (ETHERNET, ether(0x800, ipv4(bytes(24), 47))),
    "vxlan": (ETHERNET, ether(0x800, ipv4(
        struct.pack(">HHHH", 5353, 4789, 16, 0) + bytes(8), 17))),
    "mpls": (ETHERNET, ether(0x8847, bytes(24))),
    "arp": (ETHERNET, ether(0x806, bytes(28))),
    "null": (NULL, b"\2\0\0\0" + ipv4(tcp())),
    "null-big": (NULL, b"\0\0\0\x1e" + ipv6(tcp())),
    "raw4": (RAW, ipv4(tcp())),
    "raw6": (RAW, ipv6(tcp())),
    "sll": (SLL, bytes(14) + b"\x08\0" + ipv4(tcp())),
    "sll2": (SLL2, b"\x86\xdd" + bytes(18) + ipv6(tcp())),
}


def pcap(frames, link, order="<", magic=0xa1b2c3d4):
    out = struct.pack(order + "IHHIIII", magic, 2, 4, 0, 0, 65535, link)
    for i, f in enumerate(frames):
        out += struct.pack(order + "IIII", 1764417600, i, len(f), len(f)) + f
    return out


def block(kind, body):
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def pcapng(frames, link):
    out = block(0x0a0d0d0a, struct.pack("<IHHQ", 0x1a2b3c4d, 1, 0, 2**64 - 1))
    out += block(1, struct.pack("<HHIHHB3xI", link, 0, 65535, 9, 1, 9, 0))
    for i, f in enumerate(frames):
        out += block(6, struct.pack("<IIIII", 0, 410809000, i, len(f), len(f)) +
                     f + bytes(-len(f) % 4))
    return out


def talk(link):
    """One connection: out of order, overlapping, in fragments, reset."""
    text = b"".join(b"%03d " % i for i in range(64))
    part = tcp(text[100:180], 1100)
    packets = [ipv4(SYN), ipv4(tcp(text[40:100], 1040)),
               ipv4(tcp(text[:60], 1000)), ipv4(part[:40], frag=0x2000),
               ipv4(part[40:], frag=5), ipv4(tcp(text[150:], 1150)),
               ipv4(tcp(b"evil", 1100)), ipv4(tcp(b"", 1256, 0x11)),
               ipv4(tcp(b"", 1257, 4))]
    return [link + p for p in packets]


def main():
    def save(room, name, data):
        os.makedirs(os.path.join(sys.argv[1], room), exist_ok=True)
        with open(os.path.join(sys.argv[1], room, name), "wb") as f:
            f.write(data)

    for name, (link, frame) in FRAMES.items():
        save("packet", name, bytes([link]) + frame)
    every = [f for link, f in FRAMES.values() if link == ETHERNET]
    save("net", "every.pcap", pcap(every, 1))
    save("net", "big.pcap", pcap(every, 1, ">"))
    save("net", "every.pcapng", pcapng(every, 1))
    save("net", "talk-ns.pcap", pcap(talk(ether(0x800, b"")), 1, "<",
                                      0xa1b23c4d))
    save("net", "talk-raw.pcap", pcap(talk(b""), 101))
    save("net", "talk-sll.pcapng", pcapng(talk(bytes(14) + b"\x08\0"), 113))
    save("net", "cut.pcap", pcap(every, 1)[:-7])


main()
