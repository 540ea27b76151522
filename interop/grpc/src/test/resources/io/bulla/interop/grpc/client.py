# SPDX-License-Identifier: Apache-2.0
"""A client of another language: subscribes, looks at every byte, then has messages echoed. Arguments: port, messages."""
import sys

import grpc


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def message(number, size):
    """google.protobuf.BytesValue, as Feed.message packs it."""
    payload = number.to_bytes(8, "big") + bytes((number * 31 + i * 7 + (i >> 8)) & 255 for i in range(8, size))
    return b"\x0a" + varint(len(payload)) + payload


port, messages = int(sys.argv[1]), int(sys.argv[2])
wrong = 0
with grpc.insecure_channel("127.0.0.1:%d" % port) as channel:
    subscribe = channel.unary_stream("/bulla.test.Feed/Subscribe")
    received = list(subscribe(b"", timeout=60))
    wrong += received != [message(i, 8 + i * 500) for i in range(messages)]
    echo = channel.unary_unary("/bulla.test.Feed/Echo")
    for size in (8, 1000, 100000):
        for compression in (grpc.Compression.NoCompression, grpc.Compression.Gzip):
            wrong += echo(message(size, size), timeout=60, compression=compression) != message(size, size)
print("python: grpc=%s messages=%d wrong=%d" % (grpc.__version__, len(received), wrong))
sys.exit(wrong)
