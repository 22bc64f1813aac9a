# SPDX-License-Identifier: GPL-2.0
"""Sends commands to generic netlink families; a minimum for the tools here."""
import os
import socket
import struct

NETLINK_GENERIC = 16
NLMSG_ERROR = 2
NLM_F_REQUEST, NLM_F_ACK = 1, 4
GENL_ID_CTRL = 16
CTRL_CMD_GETFAMILY = 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 1, 2


def attribute(kind, payload):
    head = struct.pack("=HH", 4 + len(payload), kind)
    return head + payload + b"\0" * (-len(payload) % 4)


def attributes(data):
    out = {}
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        if size < 4:
            break
        out[kind] = data[4:size]
        data = data[(size + 3) & ~3:]
    return out


def command(sock, family, cmd, version, attrs):
    """Send one command; return the attributes of the answer, if any."""
    body = struct.pack("=BBH", cmd, version, 0) + attrs
    head = struct.pack("=IHHII", 16 + len(body), family, NLM_F_REQUEST | NLM_F_ACK, 1, 0)
    sock.send(head + body)
    found = {}
    while True:
        data = sock.recv(1 << 16)
        while data:
            size, kind = struct.unpack_from("=IH", data)
            if kind == NLMSG_ERROR:
                code = -struct.unpack_from("=i", data, 16)[0]
                if code:
                    raise OSError(code, os.strerror(code))
                return found
            found = attributes(data[20:size])
            data = data[(size + 3) & ~3:]


class Family:
    """A context manager for the family NAME."""

    def __init__(self, name):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.sock.bind((0, 0))
        asked = attribute(CTRL_ATTR_FAMILY_NAME, name.encode() + b"\0")
        found = command(self.sock, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 2, asked)
        self.id = struct.unpack("=H", found[CTRL_ATTR_FAMILY_ID])[0]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.sock.close()

    def do(self, cmd, attrs=b"", forgive=0):
        """Send one command; ignore the errno FORGIVE."""
        try:
            command(self.sock, self.id, cmd, 1, attrs)
        except OSError as error:
            if error.errno != forgive:
                raise
