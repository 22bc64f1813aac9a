# SPDX-License-Identifier: GPL-2.0
"""Decodes the SMC messages of captures, independently of the module.

The code follows RFC 7609 and the deployed formats and shares nothing with the module, so
that it can verify the module's codecs. The decoded message is a dict of the members of the
module's struct for it; members that are zero may be missing.
"""
from collections import namedtuple

from . import frames

CLC_NAMES = {1: "proposal", 2: "accept", 3: "confirm", 4: "decline"}
LLC_NAMES = {1: "confirm_link", 2: "add_link", 3: "add_link_cont", 4: "delete_link",
             6: "confirm_rkey", 7: "test_link", 9: "delete_rkey"}
# our extension of CONFIRM LINK: an offer, and the reply to it
EXTENSIONS = 0x5ae293c7, 0xa51d6c38
# KIND is the codec's, NAME shows whether it is a reply, SENDER is the machine's number;
# PAIRS are the keys after the message
Message = namedtuple("Message", "kind name sender data says pairs", defaults=([],))


def read(paths, is_rfc=False):
    """All messages in the captures of an exchange, in the order of the wire."""
    seen = [f for path in paths for f in frames.read(path) if not f.is_retry]
    for f in sorted(seen, key=lambda x: x.time):
        sender, data = f.ether[5], f.payload
        if f.clc:
            yield Message("clc", CLC_NAMES[f.clc], sender, data, clc(data))
        elif f.opcode == frames.RC_SEND_ONLY and data[0] == frames.CDC:
            yield Message("cdc", "cdc", sender, data, cdc(data))
        elif f.opcode == frames.RC_SEND_ONLY:
            name = LLC_NAMES[data[0] & 15]
            yield Message("llc", name + "_reply" * is_reply(data), sender, data,
                          {"type": "SMC_LLC_" + name.upper(), "is_reply": is_reply(data),
                           name: globals()[name](data, is_rfc)}, pairs(data))


def u(data, at, size):
    return int.from_bytes(data[at:at + size], "big")


def is_reply(d):
    return bool(d[3] & 0x80)


# CLC

def clc(d):
    name = CLC_NAMES[d[4]]
    return {"type": "SMC_CLC_" + name.upper(), "version": d[7] >> 4,
            **{"proposal": proposal, "decline": decline}.get(name, accept)(d)}


def proposal(d):
    says = {"peer_id": d[8:16], "gid": d[16:32], "mac": d[32:38]}
    if d[7] & 3 == 0:
        at = 40 + u(d, 38, 2)
        says |= {"offers_v1": True, "has_subnets": True, "subnet": u(d, at, 4),
                 "subnet_len": d[at + 4], "nr_prefixes": d[at + 7],
                 "prefix": [{"addr": d[i:i + 16], "len": d[i + 16]}
                            for i in range(at + 8, at + 8 + 17 * d[at + 7], 17)]}
    if d[7] >> 4 == 2 and d[7] >> 2 & 3 == 0:
        says |= {"offers_v2": True, "v2": offer(d, 52 + u(d, 50, 2))}
    return {"proposal": says}


def offer(d, at):
    return {"nr_eids": d[at], "release": d[at + 3] >> 4, "gid": d[at + 8:at + 24],
            "max_conns": d[at + 24], "max_links": d[at + 25], "features": u(d, at + 26, 2),
            "eid": [d[i:i + 32] for i in range(at + 40, at + 40 + 32 * d[at], 32)]}


def accept(d):
    is_first = bool(d[7] & 8)
    says = {"peer_id": d[8:16], "gid": d[16:32], "mac": d[32:38], "qpn": u(d, 38, 3),
            "rkey": u(d, 41, 4), "rmbe_index": d[45], "token": u(d, 46, 4),
            "size_code": d[50] >> 4, "mtu": d[50] & 15, "rmb_addr": u(d, 52, 8),
            "psn": u(d, 61, 3), "first_contact": is_first}
    if d[7] >> 4 == 2:
        says["eid"] = d[64:96]
        if is_first:
            says["fce"] = first_contact(d, 104)
        if is_first and d[4] == 3:
            says |= {"nr_gids": d[156],
                     "gids": [d[i:i + 16] for i in range(160, 160 + 16 * d[156], 16)]}
    return {"accept": says}


def first_contact(d, at):
    return {"is_direct": bool(d[at] & 0x80), "os": d[at + 1] >> 4, "release": d[at + 1] & 15,
            "host": d[at + 4:at + 36], "max_conns": d[at + 36], "max_links": d[at + 37],
            "features": u(d, at + 38, 2)}


def decline(d):
    return {"decline": {"peer_id": d[8:16], "diagnosis": u(d, 16, 4),
                        "out_of_sync": bool(d[7] & 8), "os": d[20] >> 4}}


# LLC

def end(d, mac, gid, qpn):
    return {"mac": d[mac:mac + 6], "gid": d[gid:gid + 16], "qpn": u(d, qpn, 3)}


def confirm_link(d, _):
    return {"end": end(d, 4, 10, 26), "link_num": d[29], "link_uid": u(d, 30, 4),
            "max_links": d[34], "max_conns": d[35], "no_eye_catcher": bool(d[3] & 3),
            "ext": d[40] & 3 if u(d, 36, 4) == EXTENSIONS[is_reply(d)] else 0}


def add_link(d, is_rfc):
    # deployed peers have two more bytes after the MAC address
    at = 0 if is_rfc else 2
    says = {"end": {**end(d, 4, 10 + at, 26 + at), "mtu": d[30 + at] & 15,
                    "psn": u(d, 31 + at, 3)},
            "link_num": d[29 + at], "is_rejected": bool(d[3] & 0x40)}
    if len(d) > 44:
        says |= {"is_direct": bool(d[44] & 0x80), "nr_pairs": len(pairs(d))}
    return says


def pair(d, at):
    return {"ref_rkey": u(d, at, 4), "rkey": u(d, at + 4, 4), "vaddr": u(d, at + 8, 8)}


def pairs(d):
    """The keys in a long ADD LINK."""
    nr = d[70] | d[71] << 8 if d[0] == 0x22 and len(d) > 44 else 0
    return [pair(d, at) for at in range(72, 72 + 16 * nr, 16)]


def add_link_cont(d, _):
    return {"link_num": d[4], "nr_rtokens": d[5],
            "pair": [pair(d, at) for at in (8, 24)[:d[5]]]}


def delete_link(d, _):
    return {"link_num": d[4], "is_all": bool(d[3] & 0x40), "is_orderly": bool(d[3] & 0x20),
            "reason": u(d, 5, 4)}


def confirm_rkey(d, _):
    return {"is_negative": bool(d[3] & 0x20), "nr_rtokens": d[4],
            "here": {"rkey": u(d, 5, 4), "vaddr": u(d, 9, 8)},
            "other": [{"link_num": d[at], "rkey": u(d, at + 1, 4), "vaddr": u(d, at + 5, 8)}
                      for at in (17, 30)[:d[4]]]}


def delete_rkey(d, _):
    rkeys = [u(d, 8 + 4 * i, 4) for i in range(d[4])]
    says = {"is_negative": bool(d[3] & 0x20), "count": d[4], "rkey": rkeys}
    if is_reply(d) and d[0] >> 4 == 2:
        says |= {"nr_unknown": d[5], "is_nameless": not any(rkeys)}
    elif is_reply(d):
        says["error_mask"] = d[5]
    return says


def test_link(d, _):
    return {"user_data": d[4:20]}


# CDC

def cursor(d, at):
    return {"wrap": u(d, at, 2), "off": u(d, at + 2, 4)}


def cdc(d):
    return {"seq": u(d, 2, 2), "token": u(d, 4, 4), "prod": cursor(d, 10),
            "cons": cursor(d, 18), "prod_flags": d[24], "conn_flags": d[25]}
