# SPDX-License-Identifier: GPL-2.0
"""List SMC sockets through sock_diag, family 43.

As a program: prints one line per socket, or JSON with -j.
"""
import json
import socket
import struct
import sys

import netns

AF_SMC = 43
NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST, NLM_F_ROOT = 1, 0x100
NLMSG_ERROR, NLMSG_DONE = 2, 3
EXT_CONNINFO, EXT_LGRINFO, EXT_DMBINFO = 1, 2, 8
MODES = {0: "SMC-R", 1: "TCP", 2: "memory"}
STATES = {
    1: "ACTIVE", 2: "INIT", 7: "CLOSED", 10: "LISTEN",
    20: "PEERCLOSEWAIT1", 21: "PEERCLOSEWAIT2", 22: "APPCLOSEWAIT1",
    23: "APPCLOSEWAIT2", 24: "APPFINCLOSEWAIT", 25: "PEERFINCLOSEWAIT",
    26: "PEERABORTWAIT", 27: "PROCESSABORT",
}


def attributes(data):
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        if size < 4 or size > len(data):
            raise ValueError("bad attribute length")
        yield kind & 0x3fff, data[4:size]
        data = data[(size + 3) & ~3:]


def address(raw):
    if any(raw[4:]):
        return socket.inet_ntop(socket.AF_INET6, raw)
    return socket.inet_ntop(socket.AF_INET, raw[:4])


def text(raw):
    return raw.split(b"\0")[0].decode(errors="replace")


def cursor(data, off):
    _, wrap, count = struct.unpack_from("=HHI", data, off)
    return {"wrap": wrap, "count": count}


def conninfo(d):
    if len(d) != 76:
        raise ValueError(f"CONNINFO of {len(d)} bytes")
    token, snd, rcv, peer = struct.unpack_from("=IIII", d)
    out = {"token": token, "sndbuf": snd, "rcvbuf": rcv, "peer": peer,
           "flags": list(d[48:52])}
    for name, off in (("rx_prod", 16), ("rx_cons", 24), ("tx_prod", 32),
                      ("tx_cons", 40), ("tx_prep", 52), ("tx_sent", 60),
                      ("tx_fin", 68)):
        out[name] = cursor(d, off)
    return out


def lgrinfo(d):
    if len(d) != 147:
        raise ValueError(f"LGRINFO of {len(d)} bytes")
    return {"link": d[0], "dev": text(d[1:65]), "port": d[65],
            "gid": text(d[66:106]), "peer_gid": text(d[106:146]),
            "role": d[146]}


def linkinfo(d):
    uid, peer_uid, links = struct.unpack("=IIB3x", d)
    return {"uid": uid, "peer_uid": peer_uid, "links": links}


def dmbinfo(d):
    names = ("peer_gid", "my_gid", "token", "peer_token", "peer_gid_ext", "my_gid_ext")
    return dict(zip(("linkid", *names), struct.unpack("=I4xQQQQQQ", d)))


def pairinfo(d):
    return dict(zip(("peer_inode", "peer_net", "peer_cookie", "peer_token", "role"),
                    struct.unpack("=QQQIB3x", d)))


def listeninfo(d):
    return dict(zip(("queue", "queue_max", "handshakes", "deferred", "family"),
                    struct.unpack("=IIIII", d)))


def message(d):
    family, state, mode = d[0], d[1], d[2]
    sport, dport = struct.unpack_from(">HH", d, 4)
    uid, inode = struct.unpack_from("=IQ", d, 52)
    out = {"family": family, "state": STATES.get(state, str(state)),
           "mode": MODES.get(mode, str(mode)), "sport": sport, "dport": dport,
           "src": address(d[8:24]), "dst": address(d[24:40]), "uid": uid,
           "inode": inode, "reason": 0, "peer_diagnosis": 0}
    for kind, val in attributes(d[64:]):
        if kind == 1:
            out["conn"] = conninfo(val)
        elif kind == 2:
            out["lgr"] = lgrinfo(val)
        elif kind == 4:
            out["dmb"] = dmbinfo(val)
        elif kind == 67:
            out["pair"] = pairinfo(val)
        elif kind == 64:
            out["group"] = linkinfo(val)
        elif kind == 65:
            out["listener"] = listeninfo(val)
        elif kind == 3:
            out["shutdown"] = val[0]
        elif kind == 5:
            out["reason"], out["peer_diagnosis"] = struct.unpack_from("=II", val)
    return out


def sockets(name=None):
    """All SMC sockets of this network namespace, or of the namespace NAME, as dictionaries."""
    out = []
    with netns.inside(name):
        s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)
    with s:
        body = struct.pack("=BHB48s", AF_SMC, 0, EXT_CONNINFO | EXT_LGRINFO | EXT_DMBINFO, b"")
        s.sendall(struct.pack("=IHHII", 16 + len(body), SOCK_DIAG_BY_FAMILY,
                              NLM_F_REQUEST | NLM_F_ROOT, 123456, 0) + body)
        while True:
            data = s.recv(65536)
            while len(data) >= 16:
                size, kind = struct.unpack_from("=IH", data)
                if kind == NLMSG_DONE:
                    return out
                if kind == NLMSG_ERROR:
                    err = -struct.unpack_from("=i", data, 16)[0]
                    if err:
                        raise OSError(err, "sock_diag")
                    return out
                out.append(message(data[16:size]))
                data = data[(size + 3) & ~3:]


def main():
    for s in sockets():
        if "-j" in sys.argv:
            print(json.dumps(s))
        else:
            print(f"{s['state']:16} {s['mode']:6} {s['src']}:{s['sport']} "
                  f"{s['dst']}:{s['dport']} reason {s['reason']:#010x}/"
                  f"{s['peer_diagnosis']:#010x} {s.get('lgr', {}).get('dev', '')}")


if __name__ == "__main__":
    main()
