// SPDX-License-Identifier: GPL-2.0
/*
 * Tests diag_parse() with messages that are laid out byte by byte.
 */
#include <stdio.h>
#include <string.h>

#include <linux/netlink.h>
#include <netlink/errno.h>

#include "smc.h"

static union {
	struct nlmsghdr nlh;
	unsigned char bytes[1024];
} msg;

static unsigned int passed, failed;

static void expect(const char *what, bool is_true)
{
	if (is_true) {
		passed++;
		return;
	}
	printf("test-diag: %s\n", what);
	failed++;
}

/* A netlink header and 64 bytes of answer, zero except for the given values. */
static unsigned char *start(void)
{
	memset(&msg, 0, sizeof(msg));
	msg.nlh.nlmsg_len = 16 + 64;
	msg.nlh.nlmsg_type = 20;
	return msg.bytes + 16;
}

static unsigned char *add(unsigned short type, unsigned short len)
{
	unsigned char *at = msg.bytes + msg.nlh.nlmsg_len;
	unsigned short nla_len = len + 4;

	memcpy(at, &nla_len, 2);
	memcpy(at + 2, &type, 2);
	msg.nlh.nlmsg_len += (nla_len + 3) & ~3;
	return at + 4;
}

static void test_whole(void)
{
	struct diag_sock sock;
	uint32_t word = 0x03010000, token = 0x01020304;
	unsigned char *p = start();

	p[0] = 43;
	p[1] = 24;
	p[2] = 0;
	p[4] = 0x14;
	p[5] = 0x51;
	p[8] = 10;
	p[52] = 7;
	p[56] = 9;
	*add(3, 1) = 2;
	p = add(5, 8);
	memcpy(p, &word, 4);
	p = add(1, 76);
	memcpy(p, &token, 4);
	p[16 + 2] = 3;
	p[50] = 0x80;
	p[49] = 0x10;
	p[68 + 4] = 99;
	p = add(2, 147);
	p[0] = 5;
	memcpy(p + 1, "rxe0", 4);
	p[65] = 1;
	memset(p + 66, 'g', 40);
	memset(p + 106, 'p', 40);
	p[146] = 1;

	p = add(64, 12);
	memcpy(p, &token, 4);
	memcpy(p + 4, &word, 4);
	p[8] = 2;

	p = add(4, 56);
	p[0] = 0xff;
	p[1] = 0xff;
	p[8] = 3;
	p[16] = 4;
	p = add(67, 32);
	p[0] = 5;
	p[28] = 1;
	add(68, 0);

	expect("a whole message is taken", !diag_parse(&msg.nlh, &sock));
	expect("landing", sock.is_landing && !sock.has_lost_tcp);
	expect("family", sock.msg.family == 43);
	expect("state", !strcmp(diag_state_name(sock.msg.state), "APPFINCLOSEWAIT"));
	expect("mode", !strcmp(diag_mode_name(sock.msg.mode), "SMC-R"));
	expect("port", !memcmp(&sock.msg.id.idiag_sport, "\x14\x51", 2));
	expect("address", !memcmp(sock.msg.id.idiag_src, "\x0a\0\0\0", 4));
	expect("uid", sock.msg.uid == 7);
	expect("inode", sock.msg.inode == 9);
	expect("shutdown", sock.shutdown == 2);
	expect("reason", sock.fallback.reason == SMC_CLC_DECL_PEERNOSMC);
	expect("connection", sock.has_conn && sock.conn.token == token);
	expect("cursor rx_prod", sock.conn.rx_prod.wrap == 3);
	expect("flags tx", sock.conn.tx_flags.prod == 0x80);
	expect("flags rx", sock.conn.rx_flags.conn_state == 0x10);
	expect("cursor tx_fin", sock.conn.tx_fin.count == 99);
	expect("link", sock.has_link && sock.link.link_id == 5);
	expect("device", !strcmp(sock.link.ibname, "rxe0"));
	expect("port of device", sock.link.ibport == 1);
	expect("gid ends", strlen(sock.link.gid) == 39);
	expect("peer gid ends", strlen(sock.link.peer_gid) == 39);
	expect("role", sock.link.role == 1);
	expect("link user ID", sock.has_group && sock.group.user_id == token);
	expect("link user ID of the peer", sock.group.peer_user_id == word);
	expect("links", sock.group.nr_links == 2);
	expect("loopback", sock.has_pair && sock.dmb.linkid == SMC_DIAG_LINKID_LOOPBACK);
	expect("namespaces", sock.dmb.peer_gid == 3 && sock.dmb.my_gid == 4);
	expect("other end", sock.pair.peer_inode == 5 && sock.pair.role == 1);
}

static void test_short(void)
{
	struct diag_sock sock;

	start();
	add(1, 75);
	add(2, 146);
	add(64, 11);
	add(4, 56);
	add(67, 31);
	expect("short attributes are left out",
	       !diag_parse(&msg.nlh, &sock) && !sock.has_conn && !sock.has_link &&
	       !sock.has_group && !sock.has_pair);

	start();
	msg.nlh.nlmsg_len = 16 + 63;
	expect("a short answer is refused",
	       diag_parse(&msg.nlh, &sock) == -NLE_MSG_TOOSHORT);

	start();
	msg.nlh.nlmsg_type = 21;
	expect("another type is refused",
	       diag_parse(&msg.nlh, &sock) == -NLE_MSGTYPE_NOSUPPORT);
}

static void test_reason(void)
{
	expect("a known code has its name",
	       !strcmp(reason_name(0x03030002), "NOSMCRDEV"));
	expect("a new detail has no name", !reason_name(0x03010099));
	expect("but the words of its reason",
	       !strcmp(reason_text(0x03010099), reason_text(0x03010000)));
	expect("a foreign code is said to be one",
	       strstr(reason_text(0x77000000), "peer's own"));
}

int main(void)
{
	test_whole();
	test_short();
	test_reason();
	printf("%u passed, %u failed\n", passed, failed);
	return !!failed;
}
