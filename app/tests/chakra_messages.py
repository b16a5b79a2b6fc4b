# SPDX-License-Identifier: Apache-2.0
"""Messages of protobuf, as files of Chakra hold them: each after its length."""


def varint(data, at):
    """The number that begins there, and where the next byte is."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def split(data):
    """The messages of a file's bytes."""
    out, at = [], 0
    while at < len(data):
        length, at = varint(data, at)
        assert at + length <= len(data), "ends within a message"
        out.append(data[at:at + length])
        at += length
    return out


def fields(message):
    """(number, wire type, value) of a message."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        value, at = varint(message, at)
        if key & 7 == 2:
            value, at = message[at:at + value], at + value
        yield key >> 3, key & 7, value
