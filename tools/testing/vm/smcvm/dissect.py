# SPDX-License-Identifier: GPL-2.0
"""Compares tshark's decoding of the SMC messages in a capture with the module's decoders.

guest/decode.c makes the decoders a program of the host. Both name every field of every
message; a list here has each field that only one of them names. The comparison omits LLC
messages of version 2, for which tshark uses the length of version 1.
"""
import ipaddress
import json
import os
import re
import subprocess

from . import kernel
from .machine import Failed

CODEC = os.path.join(kernel.TOP, "net/smc")

# tshark's name of a field, by ours, for each kind of message
FIELDS = {
    "proposal": {
        "smc.proposal.sender.client.peer.id": "peer_id",
        "smc.proposal.client.preferred.gid": "gid",
        "smc.proposal.client.preferred.mac": "mac",
        "smc.outgoing.interface.subnet.mask": "subnet",
        "smc.outgoing.interface.subnet.mask.number.of.significant.bits": "subnet_len",
        "smc.proposal.ipv6.prefix.count": "nr_prefixes",
        "smc.proposal.ipv6.prefix.value": "prefix",
        "smc.proposal.ipv6.prefix.length": "prefix_len",
        "smc.proposal.rocev2.gid.ipv4": "v2_gid",
        "smc.proposal.rocev2.gid.ipv6": "v2_gid",
        "smc.proposal.smc.version.relnum": "release",
        "smc.proposal.eid.count": "nr_eids",
        "smc.proposal.eid": "eid",
        "smc.proposal.smc.version": "version",
    },
    "accept": {
        "smc.accept.sender.server.peer.id": "peer_id",
        "smc.accept.server.preferred.gid": "gid",
        "smc.accept.server.preferred.mac": "mac",
        "smc.accept.server.qp.number": "qpn",
        "smc.accept.server.rmb.rkey": "rkey",
        "smc.accept.server.tcp.conn.index": "rmbe_index",
        "smc.accept.server.rmb.element.alert.token": "token",
        "smc.accept.rmb.buffer.size": "size_code",
        "smc.accept.qp.mtu.value": "mtu",
        "smc.accept.server.rmb.virtual.address": "rmb_addr",
        "smc.accept.initial.psn": "psn",
        "smc.proposal.first.contact": "first_contact",
        "smc.accept.first.contact": "first_contact",
        "smc.accept.eid": "eid",
        "smc.accept.os.type": "os",
        "smc.accept.smc.version.relnum": "release",
        "smc.accept.peer.host.name": "host",
        "smc.proposal.smc.version": "version",
    },
    "confirm": {
        "smc.confirm.sender.client.peer.id": "peer_id",
        "smc.client.gid": "gid",
        "smc.confirm.client.mac": "mac",
        "smc.confirm.client.qp.number": "qpn",
        "smc.confirm.client.rmb.rkey": "rkey",
        "smc.confirm.client.tcp.conn.index": "rmbe_index",
        "smc.client.rmb.element.alert.token": "token",
        "smc.confirm.rmb.buffer.size": "size_code",
        "smc.confirm.qp.mtu.value": "mtu",
        "smc.client.rmb.virtual.address": "rmb_addr",
        "smc.initial.psn": "psn",
        "smc.proposal.first.contact": "first_contact",
        "smc.confirm.first.contact": "first_contact",
        "smc.confirm.eid": "eid",
        "smc.confirm.os.type": "os",
        "smc.confirm.smc.version.relnum": "release",
        "smc.confirm.peer.host.name": "host",
        "smc.confirm.gid.list.entry_count": "nr_gids",
        "smc.confirm.gid.list.entry": "gids",
        "smc.proposal.smc.version": "version",
    },
    "decline": {
        "smc.sender.peer.id": "peer_id",
        "smc.peer.diag.info": "diagnosis",
        "smc.decline.osync": "out_of_sync",
        "smc.decline.smc.version": "version",
        "smc.proposal.smc.version": "version",
    },
    "confirm_link": {
        "smc.sender.gid": "gid",
        "smc.confirm.link.sender.mac": "mac",
        "smc.confirm.link.sender.qp.number": "qpn",
        "smc.confirm.link.number": "link_num",
        "smc.confirm.link.sender.link.userid": "link_uid",
        "smc.confirm.link.max.links": "max_links",
        "smc.confirm.link.response": "is_reply",
    },
    "add_link": {
        "smc.add.link.sender.gid": "gid",
        "smc.add.link.sender.mac": "mac",
        "smc.add.link.sender.qp.number": "qpn",
        "smc.add.link.link.number": "link_num",
        "smc.add.link.initial.psn": "psn",
        "smc.add.link.qp.mtu.value": "mtu",
        "smc.add.link.response": "is_reply",
        "smc.add.link.response.rejected": "is_rejected",
    },
    "add_link_cont": {
        "smc.add.link.cont.link.number": "link_num",
        "smc.add.link.cont.rkey.number": "nr_rtokens",
        "smc.add.link.cont.response": "is_reply",
    },
    "delete_link": {
        "smc.delete.link.number": "link_num",
        "smc.delete.link.all": "is_all",
        "smc.delete.link.orderly": "is_orderly",
        "smc.delete.link.reason.code": "reason",
        "smc.delete.link.response": "is_reply",
    },
    "confirm_rkey": {
        "smc.confirm.rkey.negative.response": "is_negative",
        "smc.confirm.rkey.retry.rkey.set": "may_retry",
        "smc.confirm.rkey.number.qp": "nr_rtokens",
        "smc.confirm.rkey.new.rkey": "rkey",
        "smc.confirm.rkey.new.virt": "vaddr",
        "smc.confirm.rkey.link.number": "other_link",
        "smc.confirm.rkey.response": "is_reply",
    },
    "delete_rkey": {
        "smc.delete.rkey.negative.response": "is_negative",
        "smc.delete.rkey.count": "count",
        "smc.delete.rkey.error.mask": "error_mask",
        "smc.delete.rkey.deleted": "rkey",
        "smc.delete.rkey.response": "is_reply",
    },
    "test_link": {"smc.test.link.response": "is_reply"},
    "cdc": {
        "smc.rmbe.ctrl.seqno": "seq",
        "smc.rmbe.ctrl.alert.token": "token",
        # of both cursors; some versions of tshark have other names for the consumer's
        "smc.rmbe.ctrl.prod.wrap.seq": "wrap",
        "smc.rmbe.ctrl.cons.wrap.seq": "wrap",
        "smc.rmbe.ctrl.peer.prod.curs": "cursor",
        "smc.rmbe.ctrl.peer.cons.curs": "cursor",
        "smc.rmbe.ctrl.write.blocked": "B",
        "smc.rmbe.ctrl.urgent.pending": "P",
        "smc.rmbe.ctrl.urgent.present": "U",
        "smc.rmbe.ctrl.cons.update.requested": "R",
        "smc.rmbe.ctrl.failover.validation": "F",
        "smc.rmbe.ctrl.peer.sending.done": "D",
        "smc.rmbe.ctrl.peer.closed.conn": "C",
        "smc.rmbe.ctrl.peer.abnormal.close": "A",
    },
}
# It reads the keys of ADD LINK CONTINUATION two bytes too early: the deployed layout
# has two reserved bytes in front of them.
ONLY_OURS = {"add_link_cont": {"ref_rkey", "new_rkey", "new_vaddr"}}
# lengths, kinds, whole bytes of flags, offsets, and those keys
NOT_OURS = re.compile(r"""smc\.(length|reserved|clc_msg|llc_msg
    |.*\.(flags2?|flags\.2|extflags\.2|smc\.type|smcv2\.type|smc\.seid|ismv2_gid_count
          |smc\w*_ext_offset|v2_lg\.type)
    |accept\.fce1?\.flags|decline\.(os\.type|flags)
    |rmbe\.ctrl\.conn\.rw\.status\.flags|rmbe\.ctrl\.peer\.conn\.state\.flags
    |add\.link\.response\.reject_reason|add\.link\.cont\.rmb\..*)""", re.X)


def decoder():
    """The module's decoders as a program."""
    guest = os.path.join(kernel.VM, "guest")
    return kernel.compile_c(os.path.join(guest, "decode.c"), "-Wno-sign-compare",
                            "-Wno-unused-parameter", f"-I{guest}/codec", f"-I{CODEC}",
                            "-Doffsetofend(t, m)=(offsetof(t, m) + sizeof(((t *)0)->m))")


def value(text):
    """Tshark's text as a number; the bytes of an EID or name are one number, too."""
    if re.fullmatch(r"(..:){5}..", text):
        return int(text.replace(":", ""), 16)
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return int(ipaddress.ip_address(text))
    except ValueError:
        return int.from_bytes(text.encode().ljust(32), "big")


def tshark(path, *args):
    """The output of tshark for a capture.

    SMC is recognised by its messages. The option makes that precede the protocol that is
    registered for a port.
    """
    return subprocess.run(["tshark", "-o", "tcp.try_heuristic_first:TRUE", "-r", path, *args],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=True).stdout


def fields(layers, out):
    """All (name, text) of a message, in its order, the same name more than once."""
    for name, what in layers:
        if isinstance(what, list):
            fields(what, out)
        elif name.startswith("smc."):
            out.append((name, what))
    return out


def messages(path):
    """(number of the frame, kind and bytes for the decoder, tshark's fields, all of them?)"""
    text = tshark(path, "-Y", "smc", "-T", "json")
    for frame in json.loads(text, object_pairs_hook=list):
        layers = dict(dict(dict(frame)["_source"])["layers"])
        number = dict(layers["frame"])["frame.number"]
        if "tcp" in layers:
            raw = "clc " + dict(layers["tcp"])["tcp.payload"].replace(":", "")
        else:
            # between the base header and the checksum
            raw = "rdma " + dict(layers["udp"])["udp.payload"].replace(":", "")[24:-8]
            if raw[5] == "2":
                continue
        # tshark expects another area after the end of a Proposal of 52 bytes
        is_cut = "_ws.malformed" in layers and raw.startswith("clc")
        yield number, raw, fields([x for x in layers.items() if x[0] == "smc"], []), is_cut


def ours(lines):
    """The kind and fields of each message, by the module's decoders."""
    p = subprocess.run([decoder()], input="\n".join(lines) + "\n", stdout=subprocess.PIPE,
                       text=True, check=True)
    for line in p.stdout.splitlines():
        kind, *words = line.split()
        got = {}
        for word in words:
            name, text = word.split("=")
            number = int(text[1:], 16) if text[0] == "x" else int(text)
            got.setdefault(name, []).append(number)
        yield kind, got


def theirs(kind, seen):
    """tshark's fields under our names, and the fields that have none."""
    got, other = {}, []
    for name, text in seen:
        if name in FIELDS[kind]:
            number = value(text)
            # tshark shows an IPv4 address, not a GID
            if name.endswith("gid.ipv4"):
                number |= 0xffff << 32
            got.setdefault(FIELDS[kind][name], []).append(number)
        elif not NOT_OURS.fullmatch(name):
            other.append(name)
    return got, other


def compare(path):
    """Fail where the decoders differ; return the number of messages of each kind."""
    seen, wrong = {}, []
    found = list(messages(path))
    for (number, raw, shown, is_cut), (kind, got) in zip(found, ours([x[1] for x in found])):
        if kind == "bad":
            wrong.append(f"{number}: refused: {raw}")
            continue
        seen[kind] = seen.get(kind, 0) + 1
        want, other = theirs(kind, shown)
        names = set(want) | (set() if is_cut else set(got) - ONLY_OURS.get(kind, set()))
        for name in sorted(names):
            if want.get(name) != got.get(name):
                wrong.append(f"{number}: {kind} {name}: {got.get(name)}, "
                             f"tshark {want.get(name)}: {raw}")
        if other:
            wrong.append(f"{number}: {kind}: tshark names {other}, too")
    if wrong:
        raise Failed("\n".join(wrong[:20]))
    return seen
