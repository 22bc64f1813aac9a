// SPDX-License-Identifier: GPL-2.0
/*
 * CLC codec: messages recorded between deployed hosts, messages built by hand
 * from RFC 7609 A.2, every way to be wrong, and noise.
 *
 * A message to decode is always the last thing in its own allocation, so that
 * KASAN sees a read behind it.
 */
#include "smc_kunit.h"
#include <linux/prandom.h>
#include <linux/slab.h>

#include "../../../net/smc/proto/smc_clc_wire.c"
#include "smc_kunit_clc.h"

/* The offsets of RFC 7609 Appendix A, and of what deployed peers send. */
SMC_WIRE_AT(smc_peer_id_wire, mac, 2);
SMC_WIRE_AT(smc_clc_hdr_wire, type, 4);
SMC_WIRE_AT(smc_clc_hdr_wire, length, 5);
SMC_WIRE_AT(smc_clc_hdr_wire, flags, 7);
SMC_WIRE_AT(smc_clc_proposal_wire, peer_id, 8);
SMC_WIRE_AT(smc_clc_proposal_wire, gid, 16);
SMC_WIRE_AT(smc_clc_proposal_wire, mac, 32);
SMC_WIRE_AT(smc_clc_proposal_wire, ip_area_offset, 38);
SMC_WIRE_AT(smc_clc_growth_deployed_wire, ism_chid, 8);
SMC_WIRE_AT(smc_clc_growth_deployed_wire, v2_offset, 10);
SMC_WIRE_AT(smc_clc_growth_deployed_wire, vendor_oui, 12);
SMC_WIRE_AT(smc_clc_growth_deployed_wire, vendor_options, 15);
SMC_WIRE_AT(smc_clc_growth_deployed_wire, rsvd, 20);
SMC_WIRE_AT(smc_clc_ip_area_wire, mask_len, 4);
SMC_WIRE_AT(smc_clc_ip_area_wire, rsvd, 5);
SMC_WIRE_AT(smc_clc_ip_area_wire, nr_prefixes, 7);
SMC_WIRE_AT(smc_clc_prefix_wire, len, 16);
SMC_WIRE_AT(smc_clc_accept_wire, peer_id, 8);
SMC_WIRE_AT(smc_clc_accept_wire, gid, 16);
SMC_WIRE_AT(smc_clc_accept_wire, mac, 32);
SMC_WIRE_AT(smc_clc_accept_wire, qpn, 38);
SMC_WIRE_AT(smc_clc_accept_wire, rkey, 41);
SMC_WIRE_AT(smc_clc_accept_wire, rmbe_index, 45);
SMC_WIRE_AT(smc_clc_accept_wire, token, 46);
SMC_WIRE_AT(smc_clc_accept_wire, size_mtu, 50);
SMC_WIRE_AT(smc_clc_accept_wire, rsvd1, 51);
SMC_WIRE_AT(smc_clc_accept_wire, rmb_addr, 52);
SMC_WIRE_AT(smc_clc_accept_wire, rsvd2, 60);
SMC_WIRE_AT(smc_clc_accept_wire, psn, 61);
SMC_WIRE_AT(smc_clc_accept_wire, trl, 64);
SMC_WIRE_AT(smc_clc_decline_wire, peer_id, 8);
SMC_WIRE_AT(smc_clc_decline_wire, diagnosis, 16);
SMC_WIRE_AT(smc_clc_decline_wire, rsvd, 20);
SMC_WIRE_AT(smc_clc_decline_wire, trl, 24);
SMC_WIRE_AT(smc_clc_decline_v2_wire, os, 20);
SMC_WIRE_AT(smc_clc_decline_v2_wire, more_diagnosis, 24);
SMC_WIRE_AT(smc_clc_decline_v2_wire, trl, 40);
SMC_WIRE_AT(smc_clc_v2_ext_wire, nr_ism_gids, 1);
SMC_WIRE_AT(smc_clc_v2_ext_wire, flags, 3);
SMC_WIRE_AT(smc_clc_v2_ext_wire, ism_offset, 6);
SMC_WIRE_AT(smc_clc_v2_ext_wire, gid, 8);
SMC_WIRE_AT(smc_clc_v2_ext_wire, max_conns, 24);
SMC_WIRE_AT(smc_clc_v2_ext_wire, max_links, 25);
SMC_WIRE_AT(smc_clc_v2_ext_wire, features, 26);
SMC_WIRE_AT(smc_clc_fce_wire, os_release, 1);
SMC_WIRE_AT(smc_clc_fce_wire, host, 4);
SMC_WIRE_AT(smc_clc_fce_wire, max_conns, 36);
SMC_WIRE_AT(smc_clc_fce_wire, max_links, 37);
SMC_WIRE_AT(smc_clc_fce_wire, features, 38);
SMC_WIRE_AT(smc_clc_fce_wire, vendor, 40);

/* Frame 4: a deployed client sends header version 2 and a growth area. */
static const u8 rec_proposal[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x01, 0x00, 0x5c, 0x28,
	0xd9, 0x47, 0x52, 0x54, 0x00, 0x00, 0x00, 0x02,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0x00, 0x00, 0x02,
	0x52, 0x54, 0x00, 0x00, 0x00, 0x02, 0x00, 0x28,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x0a, 0x00, 0x00, 0x00, 0x18, 0x00, 0x00, 0x00,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* Frame 6: first contact. */
static const u8 rec_accept_fc[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x02, 0x00, 0x44, 0x18,
	0xfc, 0xf4, 0x52, 0x54, 0x00, 0x00, 0x00, 0x01,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0x00, 0x00, 0x01,
	0x52, 0x54, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x03, 0xd4, 0x01, 0x00, 0x00,
	0x00, 0x01, 0x25, 0x00, 0xff, 0x38, 0x88, 0xa6,
	0xc3, 0x6f, 0x00, 0x00, 0x00, 0xa1, 0xa7, 0xb6,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* Frame 8: deployed clients set the first contact flag here as well. */
static const u8 rec_confirm_fc[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x03, 0x00, 0x44, 0x18,
	0xd9, 0x47, 0x52, 0x54, 0x00, 0x00, 0x00, 0x02,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0x00, 0x00, 0x02,
	0x52, 0x54, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x03, 0x32, 0x01, 0x00, 0x00,
	0x00, 0x01, 0x25, 0x00, 0xff, 0x43, 0x85, 0x3b,
	0x45, 0xb1, 0x00, 0x00, 0x00, 0x60, 0xc6, 0x31,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* Frame 35: subsequent contact, the server picks the second link. */
static const u8 rec_accept_link2[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x02, 0x00, 0x44, 0x10,
	0xfc, 0xf4, 0x52, 0x54, 0x00, 0x00, 0x00, 0x01,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0x00, 0x01, 0x01,
	0x52, 0x54, 0x00, 0x00, 0x01, 0x01, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x04, 0xbc, 0x01, 0x00, 0x00,
	0x00, 0x02, 0x25, 0x00, 0xff, 0x38, 0x88, 0xa6,
	0xc4, 0x5d, 0x00, 0x00, 0x00, 0x66, 0xc1, 0x34,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* Frame 37 */
static const u8 rec_confirm_link2[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x03, 0x00, 0x44, 0x10,
	0xd9, 0x47, 0x52, 0x54, 0x00, 0x00, 0x00, 0x02,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0x00, 0x01, 0x02,
	0x52, 0x54, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x04, 0xe2, 0x01, 0x00, 0x00,
	0x00, 0x02, 0x25, 0x00, 0xff, 0x43, 0x85, 0x3b,
	0x45, 0xc2, 0x00, 0x00, 0x00, 0x84, 0x62, 0x79,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* Frame 95 */
static const u8 rec_accept_link1[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x02, 0x00, 0x44, 0x10,
	0xfc, 0xf4, 0x52, 0x54, 0x00, 0x00, 0x00, 0x01,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0x00, 0x00, 0x01,
	0x52, 0x54, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x04, 0x5b, 0x01, 0x00, 0x00,
	0x00, 0x03, 0x25, 0x00, 0xff, 0x38, 0x88, 0xa6,
	0xc4, 0x5d, 0x00, 0x00, 0x00, 0xa1, 0xa7, 0xb6,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* Frame 101 */
static const u8 rec_confirm_link1[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x03, 0x00, 0x44, 0x10,
	0xd9, 0x47, 0x52, 0x54, 0x00, 0x00, 0x00, 0x02,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0x00, 0x00, 0x02,
	0x52, 0x54, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x04, 0xce, 0x01, 0x00, 0x00,
	0x00, 0x03, 0x25, 0x00, 0xff, 0x43, 0x85, 0x3b,
	0x45, 0xc2, 0x00, 0x00, 0x00, 0x60, 0xc6, 0x31,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* Frame 134: the element of the previous connection is used again. */
static const u8 rec_accept_reuse[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x02, 0x00, 0x44, 0x10,
	0xfc, 0xf4, 0x52, 0x54, 0x00, 0x00, 0x00, 0x01,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0x00, 0x00, 0x01,
	0x52, 0x54, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x04, 0x5b, 0x01, 0x00, 0x00,
	0x00, 0x04, 0x25, 0x00, 0xff, 0x38, 0x88, 0xa6,
	0xc4, 0x5d, 0x00, 0x00, 0x00, 0xa1, 0xa7, 0xb6,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* Frame 140 */
static const u8 rec_confirm_reuse[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x03, 0x00, 0x44, 0x10,
	0xd9, 0x47, 0x52, 0x54, 0x00, 0x00, 0x00, 0x02,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0x00, 0x00, 0x02,
	0x52, 0x54, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x04, 0xce, 0x01, 0x00, 0x00,
	0x00, 0x04, 0x25, 0x00, 0xff, 0x43, 0x85, 0x3b,
	0x45, 0xc2, 0x00, 0x00, 0x00, 0x60, 0xc6, 0x31,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* Recorded with version 2: offers nothing of version 1, has one EID. */
static const u8 rec_v2_proposal[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x01, 0x00, 0x9c, 0x22,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x1c, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x01, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0xff, 0xff, 0x0a, 0x00, 0x00, 0x02,
	0xff, 0x02, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x53, 0x4d, 0x43, 0x56, 0x32, 0x2d, 0x42, 0x45,
	0x4e, 0x43, 0x48, 0x2d, 0x45, 0x49, 0x44, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* Recorded with version 2: first contact extension. */
static const u8 rec_v2_accept_fc[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x02, 0x00, 0xa0, 0x28,
	0xad, 0xda, 0x52, 0x54, 0x00, 0x00, 0x00, 0x01,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0xff, 0xff, 0x0a, 0x00, 0x00, 0x01,
	0x52, 0x54, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x03, 0xb2, 0x01, 0x00, 0x00,
	0x00, 0x01, 0x25, 0x00, 0xff, 0x30, 0xb9, 0xbb,
	0x04, 0x20, 0x00, 0x00, 0x00, 0xa6, 0xb5, 0x3e,
	0x53, 0x4d, 0x43, 0x56, 0x32, 0x2d, 0x42, 0x45,
	0x4e, 0x43, 0x48, 0x2d, 0x45, 0x49, 0x44, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x80, 0x21, 0x00, 0x00, 0x28, 0x6e, 0x6f, 0x6e,
	0x65, 0x29, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x20, 0x20, 0x20, 0x20, 0xff, 0x02, 0x00, 0x01,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0xe2, 0xd4, 0xc3, 0xd9,
};

/* Recorded with version 2: first contact extension and list of GIDs. */
static const u8 rec_v2_confirm_fc[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x03, 0x00, 0xb4, 0x28,
	0x04, 0x9f, 0x52, 0x54, 0x00, 0x00, 0x00, 0x02,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0xff, 0xff, 0x0a, 0x00, 0x00, 0x02,
	0x52, 0x54, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x03, 0x3b, 0x01, 0x00, 0x00,
	0x00, 0x01, 0x25, 0x00, 0xff, 0x48, 0x2e, 0x66,
	0x85, 0x3f, 0x00, 0x00, 0x00, 0xee, 0xe8, 0x16,
	0x53, 0x4d, 0x43, 0x56, 0x32, 0x2d, 0x42, 0x45,
	0x4e, 0x43, 0x48, 0x2d, 0x45, 0x49, 0x44, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x80, 0x21, 0x00, 0x00, 0x28, 0x6e, 0x6f, 0x6e,
	0x65, 0x29, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x20, 0x20, 0x20, 0x20, 0xff, 0x02, 0x00, 0x01,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0xff, 0xff, 0x0a, 0x00, 0x00, 0x02,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* Recorded with version 2: subsequent contact. */
static const u8 rec_v2_accept[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x02, 0x00, 0x6c, 0x20,
	0xad, 0xda, 0x52, 0x54, 0x00, 0x00, 0x00, 0x01,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0xff, 0xff, 0x0a, 0x00, 0x00, 0x01,
	0x52, 0x54, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x06, 0x1e, 0x01, 0x00, 0x00,
	0x00, 0x02, 0x25, 0x00, 0xff, 0x30, 0xb9, 0xbb,
	0x04, 0x22, 0x00, 0x00, 0x00, 0xa6, 0xb5, 0x3e,
	0x53, 0x4d, 0x43, 0x56, 0x32, 0x2d, 0x42, 0x45,
	0x4e, 0x43, 0x48, 0x2d, 0x45, 0x49, 0x44, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* The answer to it. */
static const u8 rec_v2_confirm[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x03, 0x00, 0x6c, 0x20,
	0x04, 0x9f, 0x52, 0x54, 0x00, 0x00, 0x00, 0x02,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0xff, 0xff, 0x0a, 0x00, 0x00, 0x02,
	0x52, 0x54, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x04, 0xfe, 0x01, 0x00, 0x00,
	0x00, 0x02, 0x25, 0x00, 0xff, 0x48, 0x2e, 0x66,
	0x85, 0x41, 0x00, 0x00, 0x00, 0xee, 0xe8, 0x16,
	0x53, 0x4d, 0x43, 0x56, 0x32, 0x2d, 0x42, 0x45,
	0x4e, 0x43, 0x48, 0x2d, 0x45, 0x49, 0x44, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* A.2.2, IPv4: 52 bytes */
static const u8 rfc_proposal_ipv4[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x01, 0x00, 0x34, 0x10,
	0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0xaa, 0xbb, 0xcc,
	0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc, 0x00, 0x00,
	0xc0, 0xa8, 0x0a, 0x00, 0x18, 0x00, 0x00, 0x00,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* A.2.2, IPv6 with one prefix: 69 bytes */
static const u8 rfc_proposal_ipv6_one[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x01, 0x00, 0x45, 0x10,
	0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0xaa, 0xbb, 0xcc,
	0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	0x20, 0x01, 0x0d, 0xb8, 0x00, 0x00, 0x00, 0x01,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x40, 0xe2, 0xd4, 0xc3, 0xd9,
};

/* A.2.2 as a later version may send it: 12 bytes of growth area */
static const u8 rfc_proposal_growth[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x01, 0x00, 0x40, 0x10,
	0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0xaa, 0xbb, 0xcc,
	0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc, 0x00, 0x0c,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xc0, 0xa8, 0x0a, 0x00,
	0x18, 0x00, 0x00, 0x00, 0xe2, 0xd4, 0xc3, 0xd9,
};

/* A.2.3: element 255 of 512 KiB, path MTU 1024 */
static const u8 rfc_accept[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x02, 0x00, 0x44, 0x18,
	0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0xaa, 0xbb, 0xcc,
	0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc, 0x0a, 0x0b,
	0x0c, 0x11, 0x22, 0x33, 0x44, 0xff, 0x89, 0xab,
	0xcd, 0xef, 0x53, 0x00, 0x01, 0x23, 0x45, 0x67,
	0x89, 0xab, 0xcd, 0xef, 0x00, 0xfe, 0xdc, 0xba,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* A.2.4: element 1 of 16 KiB, path MTU 4096 */
static const u8 rfc_confirm[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x03, 0x00, 0x44, 0x10,
	0x56, 0x78, 0x52, 0x54, 0x00, 0xdd, 0xee, 0xff,
	0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x50, 0x54, 0x00, 0xff, 0xfe, 0xdd, 0xee, 0xff,
	0x52, 0x54, 0x00, 0xdd, 0xee, 0xff, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x11, 0x00, 0x01, 0x00, 0x00,
	0x00, 0x01, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* A.2.5 */
static const u8 rfc_decline[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x04, 0x00, 0x1c, 0x10,
	0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc,
	0x03, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* A.2.5 with the S bit */
static const u8 rfc_decline_sync[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x04, 0x00, 0x1c, 0x18,
	0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc,
	0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xe2, 0xd4, 0xc3, 0xd9,
};

/* What a deployed server answers to a header of version 2 */
static const u8 deployed_decline[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x04, 0x00, 0x2c, 0x20,
	0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc,
	0x03, 0x01, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xe2, 0xd4, 0xc3, 0xd9,
};

#define WIRE_RFC_GID \
	{ 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0, 0xff, 0xfe, 0xaa, 0xbb, 0xcc }
#define WIRE_RFC_PEER	{ 0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc }
#define WIRE_RFC_MAC	{ 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc }
#define WIRE_SERVER	{ 0xfc, 0xf4, 0x52, 0x54, 0, 0, 0, 1 }
#define WIRE_CLIENT	{ 0xd9, 0x47, 0x52, 0x54, 0, 0, 0, 2 }

#define WIRE_GID(link, host) \
	{ 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0, 0xff, 0xfe, 0, link, host }
#define WIRE_MAC(link, host)	{ 0x52, 0x54, 0, 0, link, host }

/* The fields that differ in the recorded Accepts and Confirms. */
#define WIRE_ACCEPT(_type, _peer, _gid, _mac, _rkey, _token, _addr, _psn, _fc) { \
	.type = _type, .version = 1, .accept = {			\
		.peer_id = _peer, .gid = _gid, .mac = _mac,		\
		.qpn = 0x11, .rkey = _rkey, .rmb_addr = _addr,		\
		.rmbe_index = 1, .token = _token, .psn = _psn,		\
		.size_code = 2, .mtu = 5, .first_contact = _fc } }

/**
 * struct wire_golden - a message and its meaning
 * @name: of the case
 * @bytes: as received
 * @len: of @bytes
 * @msg: what they say
 * @is_ours: we would send the same bytes for @msg
 */
struct wire_golden {
	const char *name;
	const u8 *bytes;
	size_t len;
	struct smc_clc_msg msg;
	bool is_ours;
};

#define WIRE_V2_EID	"SMCV2-BENCH-EID                 "
#define WIRE_V2_HOST	"(none)                          "
#define WIRE_V2_GID(host)	{ [10] = 0xff, 0xff, 10, 0, 0, host }

/* The common fields of recorded Accepts and Confirms of version 2. */
#define WIRE_V2_ACCEPT(_peer, _gid, _mac, _rkey, _addr, _token, _psn)	\
	.peer_id = _peer, .gid = _gid, .mac = _mac,				\
	.qpn = 0x11, .rkey = _rkey, .rmb_addr = _addr, .rmbe_index = 1,	\
	.token = _token, .psn = _psn, .size_code = 2, .mtu = 5,		\
	.eid = { WIRE_V2_EID }
#define WIRE_V2_FCE { .is_direct = true, .os = 2, .release = 1,		\
	.host = { WIRE_V2_HOST }, .max_conns = 255, .max_links = 2, .features = 1 }
#define WIRE_V2_SERVER	{ 0xad, 0xda, 0x52, 0x54, 0, 0, 0, 1 }
#define WIRE_V2_CLIENT	{ 0x04, 0x9f, 0x52, 0x54, 0, 0, 0, 2 }

#define WIRE_BYTES(array) .name = #array, .bytes = array, .len = sizeof(array)

static const struct wire_golden wire_goldens[] = {
	{
		WIRE_BYTES(rec_proposal), .is_ours = true,
		.msg = { .type = SMC_CLC_PROPOSAL, .version = 2, .proposal = {
			.peer_id = WIRE_CLIENT,
			.gid = WIRE_GID(0, 2), .mac = WIRE_MAC(0, 2),
			.offers_v1 = true, .has_subnets = true,
			.subnet = 0x0a000000, .subnet_len = 24 } },
	}, {
		WIRE_BYTES(rec_accept_fc), .is_ours = true,
		.msg = WIRE_ACCEPT(SMC_CLC_ACCEPT, WIRE_SERVER, WIRE_GID(0, 1),
				   WIRE_MAC(0, 1), 0x3d4,
				   1, 0xff3888a6c36f0000, 0xa1a7b6, true),
	}, {
		WIRE_BYTES(rec_confirm_fc), .is_ours = true,
		.msg = WIRE_ACCEPT(SMC_CLC_CONFIRM, WIRE_CLIENT, WIRE_GID(0, 2),
				   WIRE_MAC(0, 2), 0x332,
				   1, 0xff43853b45b10000, 0x60c631, true),
	}, {
		WIRE_BYTES(rec_accept_link2), .is_ours = true,
		.msg = WIRE_ACCEPT(SMC_CLC_ACCEPT, WIRE_SERVER, WIRE_GID(1, 1),
				   WIRE_MAC(1, 1), 0x4bc,
				   2, 0xff3888a6c45d0000, 0x66c134, false),
	}, {
		WIRE_BYTES(rec_confirm_link2), .is_ours = true,
		.msg = WIRE_ACCEPT(SMC_CLC_CONFIRM, WIRE_CLIENT, WIRE_GID(1, 2),
				   WIRE_MAC(1, 2), 0x4e2,
				   2, 0xff43853b45c20000, 0x846279, false),
	}, {
		WIRE_BYTES(rec_accept_link1), .is_ours = true,
		.msg = WIRE_ACCEPT(SMC_CLC_ACCEPT, WIRE_SERVER, WIRE_GID(0, 1),
				   WIRE_MAC(0, 1), 0x45b,
				   3, 0xff3888a6c45d0000, 0xa1a7b6, false),
	}, {
		WIRE_BYTES(rec_confirm_link1), .is_ours = true,
		.msg = WIRE_ACCEPT(SMC_CLC_CONFIRM, WIRE_CLIENT, WIRE_GID(0, 2),
				   WIRE_MAC(0, 2), 0x4ce,
				   3, 0xff43853b45c20000, 0x60c631, false),
	}, {
		WIRE_BYTES(rec_accept_reuse), .is_ours = true,
		.msg = WIRE_ACCEPT(SMC_CLC_ACCEPT, WIRE_SERVER, WIRE_GID(0, 1),
				   WIRE_MAC(0, 1), 0x45b,
				   4, 0xff3888a6c45d0000, 0xa1a7b6, false),
	}, {
		WIRE_BYTES(rec_confirm_reuse), .is_ours = true,
		.msg = WIRE_ACCEPT(SMC_CLC_CONFIRM, WIRE_CLIENT, WIRE_GID(0, 2),
				   WIRE_MAC(0, 2), 0x4ce,
				   4, 0xff43853b45c20000, 0x60c631, false),
	}, {
		WIRE_BYTES(rec_v2_proposal), .is_ours = true,
		.msg = { .type = SMC_CLC_PROPOSAL, .version = 2,
			 .proposal = { .offers_v2 = true, .v2 = {
				.gid = WIRE_V2_GID(2), .release = 1,
				.max_conns = 255, .max_links = 2, .features = 1,
				.nr_eids = 1, .eid = { { WIRE_V2_EID } } } } },
	}, {
		WIRE_BYTES(rec_v2_accept_fc), .is_ours = true,
		.msg = { .type = SMC_CLC_ACCEPT, .version = 2, .accept = {
			WIRE_V2_ACCEPT(WIRE_V2_SERVER, WIRE_V2_GID(1), WIRE_MAC(0, 1),
				       0x3b2, 0xff30b9bb04200000, 1, 0xa6b53e),
			.first_contact = true, .fce = WIRE_V2_FCE } },
	}, {
		WIRE_BYTES(rec_v2_confirm_fc), .is_ours = true,
		.msg = { .type = SMC_CLC_CONFIRM, .version = 2, .accept = {
			WIRE_V2_ACCEPT(WIRE_V2_CLIENT, WIRE_V2_GID(2), WIRE_MAC(0, 2),
				       0x33b, 0xff482e66853f0000, 1, 0xeee816),
			.first_contact = true, .fce = WIRE_V2_FCE,
			.nr_gids = 1, .gids = { WIRE_V2_GID(2) } } },
	}, {
		WIRE_BYTES(rec_v2_accept), .is_ours = true,
		.msg = { .type = SMC_CLC_ACCEPT, .version = 2, .accept = {
			WIRE_V2_ACCEPT(WIRE_V2_SERVER, WIRE_V2_GID(1), WIRE_MAC(0, 1),
				       0x61e, 0xff30b9bb04220000, 2, 0xa6b53e) } },
	}, {
		WIRE_BYTES(rec_v2_confirm), .is_ours = true,
		.msg = { .type = SMC_CLC_CONFIRM, .version = 2, .accept = {
			WIRE_V2_ACCEPT(WIRE_V2_CLIENT, WIRE_V2_GID(2), WIRE_MAC(0, 2),
				       0x4fe, 0xff482e6685410000, 2, 0xeee816) } },
	}, {
		WIRE_BYTES(rfc_proposal_ipv4), .is_ours = true,
		.msg = { .type = SMC_CLC_PROPOSAL, .version = 1, .proposal = {
			.peer_id = WIRE_RFC_PEER, .gid = WIRE_RFC_GID,
			.mac = WIRE_RFC_MAC, .offers_v1 = true,
			.has_subnets = true, .subnet = 0xc0a80a00,
			.subnet_len = 24 } },
	}, {
		WIRE_BYTES(rfc_proposal_ipv6_one), .is_ours = true,
		.msg = { .type = SMC_CLC_PROPOSAL, .version = 1, .proposal = {
			.peer_id = WIRE_RFC_PEER, .gid = WIRE_RFC_GID,
			.mac = WIRE_RFC_MAC, .offers_v1 = true,
			.has_subnets = true, .nr_prefixes = 1,
			.prefix = { { .len = 64, .addr = {
				0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1 } } } } },
	}, {
		WIRE_BYTES(rfc_proposal_growth),
		.msg = { .type = SMC_CLC_PROPOSAL, .version = 1, .proposal = {
			.peer_id = WIRE_RFC_PEER, .gid = WIRE_RFC_GID,
			.mac = WIRE_RFC_MAC, .offers_v1 = true,
			.has_subnets = true, .subnet = 0xc0a80a00,
			.subnet_len = 24 } },
	}, {
		WIRE_BYTES(rfc_accept), .is_ours = true,
		.msg = { .type = SMC_CLC_ACCEPT, .version = 1, .accept = {
			.peer_id = WIRE_RFC_PEER, .gid = WIRE_RFC_GID,
			.mac = WIRE_RFC_MAC, .qpn = 0x0a0b0c,
			.rkey = 0x11223344, .rmbe_index = 255,
			.token = 0x89abcdef, .size_code = 5, .mtu = 3,
			.rmb_addr = 0x0123456789abcdef, .psn = 0xfedcba,
			.first_contact = true } },
	}, {
		WIRE_BYTES(rfc_confirm), .is_ours = true,
		.msg = { .type = SMC_CLC_CONFIRM, .version = 1, .accept = {
			.peer_id = { 0x56, 0x78, 0x52, 0x54, 0, 0xdd, 0xee,
				     0xff },
			.gid = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0,
				 0xff, 0xfe, 0xdd, 0xee, 0xff },
			.mac = { 0x52, 0x54, 0, 0xdd, 0xee, 0xff },
			.qpn = 0x11, .rkey = 0x1100, .rmbe_index = 1,
			.token = 1, .size_code = 0, .mtu = 5,
			.rmb_addr = 0x100000, .psn = 1 } },
	}, {
		WIRE_BYTES(rfc_decline), .is_ours = true,
		.msg = { .type = SMC_CLC_DECLINE, .version = 1, .decline = {
			.peer_id = WIRE_RFC_PEER, .diagnosis = 0x03070000 } },
	}, {
		WIRE_BYTES(rfc_decline_sync), .is_ours = true,
		.msg = { .type = SMC_CLC_DECLINE, .version = 1, .decline = {
			.peer_id = WIRE_RFC_PEER, .diagnosis = 0x04000000,
			.out_of_sync = true } },
	}, {
		WIRE_BYTES(deployed_decline), .is_ours = true,
		.msg = { .type = SMC_CLC_DECLINE, .version = 2, .decline = {
			.peer_id = WIRE_RFC_PEER, .diagnosis = 0x03010000,
			.os = 2 } },
	},
};

KUNIT_ARRAY_PARAM_DESC(wire_golden, wire_goldens, name);

/* Decode from an allocation of exactly @len bytes. */
static enum smc_clc_verdict wire_decode(const u8 *bytes, size_t len,
					struct smc_clc_msg *msg)
{
	enum smc_clc_verdict verdict;
	u8 *copy = kmemdup(bytes, len, GFP_KERNEL);

	if (!copy)
		return -1;
	verdict = smc_clc_decode(copy, len, msg);
	kfree(copy);
	return verdict;
}

/* Decode a copy of @bytes in which the byte at @at is @value. */
static enum smc_clc_verdict wire_decode_with(const u8 *bytes, size_t len,
					     size_t at, u8 value,
					     struct smc_clc_msg *msg)
{
	u8 copy[SMC_CLC_MSG_MAX_LEN];

	memcpy(copy, bytes, len);
	copy[at] = value;
	return wire_decode(copy, len, msg);
}

static void wire_set_len(u8 *bytes, u16 len)
{
	bytes[5] = len >> 8;
	bytes[6] = len;
}

static void wire_expect_same(struct kunit *test, const struct smc_clc_msg *msg,
			     const struct smc_clc_msg *want)
{
	KUNIT_ASSERT_EQ(test, msg->type, want->type);
	KUNIT_EXPECT_EQ(test, msg->version, want->version);
	switch (want->type) {
	case SMC_CLC_PROPOSAL:
		KUNIT_EXPECT_MEMEQ(test, &msg->proposal, &want->proposal,
				   sizeof(msg->proposal));
		break;
	case SMC_CLC_ACCEPT:
	case SMC_CLC_CONFIRM:
		KUNIT_EXPECT_MEMEQ(test, &msg->accept, &want->accept,
				   sizeof(msg->accept));
		break;
	case SMC_CLC_DECLINE:
		KUNIT_EXPECT_MEMEQ(test, &msg->decline, &want->decline,
				   sizeof(msg->decline));
		break;
	}
}

static void clc_11_peek_tells_exact_length(struct kunit *test)
{
	const struct wire_golden *golden = test->param_value;
	enum smc_clc_type type;
	u16 len;

	KUNIT_ASSERT_EQ(test, smc_clc_peek(golden->bytes, &len, &type),
			SMC_CLC_OK);
	KUNIT_EXPECT_EQ(test, len, golden->len);
	KUNIT_EXPECT_EQ(test, type, golden->msg.type);
}

struct wire_header {
	const char *name;
	u8 type;
	u8 version;
	u16 len;
	enum smc_clc_verdict verdict;
};

static const struct wire_header wire_headers[] = {
	{ "type 0", 0, 1, 52, SMC_CLC_PROTO },
	{ "type 5", 5, 1, 68, SMC_CLC_PROTO },
	{ "type 255", 255, 1, 68, SMC_CLC_PROTO },
	{ "Proposal, length 0", 1, 1, 0, SMC_CLC_PROTO },
	{ "Proposal, one byte short", 1, 1, 51, SMC_CLC_PROTO },
	{ "Proposal, shortest", 1, 1, 52, SMC_CLC_OK },
	{ "Proposal, 8 prefixes", 1, 1, 188, SMC_CLC_OK },
	{ "Proposal, longest", 1, 1, 1024, SMC_CLC_OK },
	{ "Proposal, too long", 1, 1, 1025, SMC_CLC_PROTO },
	{ "Proposal, endless", 1, 2, 65535, SMC_CLC_PROTO },
	{ "Accept, one byte short", 2, 1, 67, SMC_CLC_PROTO },
	{ "Accept", 2, 1, 68, SMC_CLC_OK },
	{ "Accept, one byte long", 2, 1, 69, SMC_CLC_PROTO },
	{ "Accept of version 2 with length of version 1", 2, 2, 68, SMC_CLC_OK },
	{ "Accept of version 2, one byte short", 2, 2, 107, SMC_CLC_PROTO },
	{ "Accept of version 2", 2, 2, 108, SMC_CLC_OK },
	{ "Accept of version 1 with length of version 2", 2, 1, 108,
	  SMC_CLC_PROTO },
	{ "Accept, too long", 2, 2, 1025, SMC_CLC_PROTO },
	{ "Confirm, one byte short", 3, 1, 67, SMC_CLC_PROTO },
	{ "Confirm", 3, 1, 68, SMC_CLC_OK },
	{ "Confirm, one byte long", 3, 1, 69, SMC_CLC_PROTO },
	{ "Confirm of version 2", 3, 2, 180, SMC_CLC_OK },
	{ "Confirm of SMC-D", 3, 1, 48, SMC_CLC_PROTO },
	{ "Decline, one byte short", 4, 1, 27, SMC_CLC_PROTO },
	{ "Decline", 4, 1, 28, SMC_CLC_OK },
	{ "Decline, one byte long", 4, 1, 29, SMC_CLC_PROTO },
	{ "Decline of version 2", 4, 2, 44, SMC_CLC_OK },
	{ "Decline of version 1 with length of version 2", 4, 1, 44,
	  SMC_CLC_PROTO },
	{ "Decline of version 0", 4, 0, 28, SMC_CLC_OK },
};

KUNIT_ARRAY_PARAM_DESC(wire_header, wire_headers, name);

static void err_16_peek_checks_type_and_length(struct kunit *test)
{
	const struct wire_header *row = test->param_value;
	u8 hdr[SMC_CLC_HDR_LEN] = { 0xe2, 0xd4, 0xc3, 0xd9 };
	enum smc_clc_type type;
	u16 len;

	hdr[4] = row->type;
	wire_set_len(hdr, row->len);
	hdr[7] = row->version << 4;
	KUNIT_ASSERT_EQ(test, smc_clc_peek(hdr, &len, &type), row->verdict);
	if (row->verdict != SMC_CLC_OK)
		return;
	KUNIT_EXPECT_EQ(test, len, row->len);
	KUNIT_EXPECT_EQ(test, type, row->type);
}

static void clc_06_message_decodes(struct kunit *test)
{
	const struct wire_golden *golden = test->param_value;
	struct smc_clc_msg msg;

	KUNIT_ASSERT_EQ(test, wire_decode(golden->bytes, golden->len, &msg),
			SMC_CLC_OK);
	wire_expect_same(test, &msg, &golden->msg);
}

static void clc_06_message_encodes_back(struct kunit *test)
{
	const struct wire_golden *golden = test->param_value;
	u8 buf[SMC_CLC_MSG_MAX_LEN];

	if (!golden->is_ours)
		kunit_skip(test, "a form that only others send");
	memset(buf, 0xa5, sizeof(buf));
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&golden->msg, buf, sizeof(buf)),
			golden->len);
	KUNIT_EXPECT_MEMEQ(test, buf, golden->bytes, golden->len);
	KUNIT_EXPECT_EQ(test, buf[golden->len], 0xa5);
}

static void err_16_every_truncation_is_refused(struct kunit *test)
{
	const struct wire_golden *golden = test->param_value;
	u8 buf[SMC_CLC_MSG_MAX_LEN];
	struct smc_clc_msg msg;
	size_t len;

	for (len = 1; len < golden->len; len++)
		KUNIT_EXPECT_EQ_MSG(test, wire_decode(golden->bytes, len, &msg),
				    SMC_CLC_PROTO, "%zu bytes", len);
	/* whole, but the header names a longer one */
	memcpy(buf, golden->bytes, len);
	wire_set_len(buf, len + 1);
	KUNIT_EXPECT_EQ(test, wire_decode(buf, len, &msg), SMC_CLC_PROTO);
}

/*
 * Header and trailer agree with the shorter length here; only the content is wrong.
 */
static void err_16_every_short_form_is_refused(struct kunit *test)
{
	const struct wire_golden *golden = test->param_value;
	u8 buf[SMC_CLC_MSG_MAX_LEN];
	struct smc_clc_msg msg;
	size_t len;

	for (len = SMC_CLC_HDR_LEN + 4; len < golden->len; len++) {
		if (golden->msg.type == SMC_CLC_DECLINE &&
		    len == SMC_CLC_DECLINE_LEN)
			continue;
		/* an Accept of version 2 with the length of version 1 is of version 1 */
		if (golden->msg.type != SMC_CLC_PROPOSAL && len == SMC_CLC_ACCEPT_LEN)
			continue;
		/* only the list of GIDs may be missing */
		if (golden->bytes == rec_v2_confirm_fc && len == 160)
			continue;
		memcpy(buf, golden->bytes, len);
		memcpy(buf + len - 4, golden->bytes, 4);
		wire_set_len(buf, len);
		KUNIT_EXPECT_EQ_MSG(test, wire_decode(buf, len, &msg),
				    SMC_CLC_PROTO, "%zu bytes", len);
	}
}

static void err_16_longer_form_is_refused(struct kunit *test)
{
	const struct wire_golden *golden = test->param_value;
	u8 buf[SMC_CLC_MSG_MAX_LEN] = {};
	size_t len = golden->len + 1;
	struct smc_clc_msg msg;

	if (golden->msg.version > SMC_CLC_V1 && golden->bytes != rec_proposal &&
	    golden->bytes != deployed_decline)
		kunit_skip(test, "later versions may be longer");
	memcpy(buf, golden->bytes, golden->len - 4);
	memcpy(buf + len - 4, golden->bytes, 4);
	wire_set_len(buf, len);
	KUNIT_EXPECT_EQ(test, wire_decode(buf, len, &msg), SMC_CLC_PROTO);
}

static void clc_02_bad_eyecatcher_is_protocol_error(struct kunit *test)
{
	const struct wire_golden *golden = test->param_value;
	const u8 *bytes = golden->bytes;
	size_t len = golden->len;
	struct smc_clc_msg msg;
	enum smc_clc_type type;
	unsigned int i;
	u8 hdr[8];
	u16 total;

	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, SMC_CLC_PROTO,
				wire_decode_with(bytes, len, i, bytes[i] ^ 1,
						 &msg));
		KUNIT_EXPECT_EQ(test, SMC_CLC_PROTO,
				wire_decode_with(bytes, len, len - 1 - i, 0,
						 &msg));
		memcpy(hdr, bytes, sizeof(hdr));
		hdr[i] ^= 0x80;
		KUNIT_EXPECT_EQ(test, smc_clc_peek(hdr, &total, &type),
				SMC_CLC_PROTO);
	}
	/* The eye catcher of SMC-D, which is invalid in SMC-R. */
	KUNIT_EXPECT_EQ(test, wire_decode_with(bytes, len, 3, 0xc4, &msg),
			SMC_CLC_PROTO);
}

static void clc_03_reserved_is_sent_as_zero(struct kunit *test)
{
	struct smc_clc_msg msg;
	u8 buf[188];

	/* All ones in every field: bits that stay zero are reserved. */
	memset(&msg, 0xff, sizeof(msg));
	msg.version = SMC_CLC_V1;
	msg.accept.nr_gids = 0;
	msg.type = SMC_CLC_ACCEPT;
	msg.accept.first_contact = true;
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 68);
	KUNIT_EXPECT_EQ(test, buf[7], 0x18);
	KUNIT_EXPECT_EQ(test, buf[51], 0);
	KUNIT_EXPECT_EQ(test, buf[60], 0);

	msg.type = SMC_CLC_DECLINE;
	msg.decline.out_of_sync = true;
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 28);
	KUNIT_EXPECT_EQ(test, buf[7], 0x18);
	KUNIT_EXPECT_TRUE(test, clc_all_zero(buf + 20, 4));

	msg.type = SMC_CLC_PROPOSAL;
	msg.proposal.v2.nr_eids = 0;
	msg.proposal.nr_prefixes = 8;
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 188);
	KUNIT_EXPECT_EQ(test, buf[7], 0x10);
	KUNIT_EXPECT_TRUE(test, clc_all_zero(buf + 38, 2));
	KUNIT_EXPECT_TRUE(test, clc_all_zero(buf + 45, 2));
}

static void clc_04_reserved_ones_are_accepted(struct kunit *test)
{
	struct smc_clc_msg msg;
	u8 buf[68];

	memcpy(buf, rfc_proposal_ipv4, 52);
	buf[7] |= 0x0f;
	memset(buf + 45, 0xff, 2);
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 52, &msg), SMC_CLC_OK);
	KUNIT_EXPECT_TRUE(test, msg.proposal.offers_v1);
	KUNIT_EXPECT_FALSE(test, msg.proposal.offers_v2);

	memcpy(buf, rfc_accept, 68);
	buf[7] |= 0x07;
	buf[51] = 0xff;
	buf[60] = 0xff;
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 68, &msg), SMC_CLC_OK);
	KUNIT_EXPECT_EQ(test, msg.accept.rmb_addr, 0x0123456789abcdef);
	KUNIT_EXPECT_EQ(test, msg.accept.psn, 0xfedcba);

	memcpy(buf, rfc_confirm, 68);
	buf[7] |= 0x0f;
	buf[51] = 0xff;
	buf[60] = 0xff;
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 68, &msg), SMC_CLC_OK);
	KUNIT_EXPECT_EQ(test, msg.accept.psn, 1);

	memcpy(buf, rfc_decline, 28);
	buf[7] |= 0x07;
	memset(buf + 20, 0xff, 4);
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 28, &msg), SMC_CLC_OK);
	KUNIT_EXPECT_FALSE(test, msg.decline.out_of_sync);
	KUNIT_EXPECT_EQ(test, msg.decline.diagnosis, 0x03070000);
}

static void clc_05_later_version_is_read_as_version_1(struct kunit *test)
{
	struct smc_clc_msg msg;
	unsigned int version;

	for (version = 2; version < 16; version++) {
		KUNIT_EXPECT_EQ(test, SMC_CLC_OK,
				wire_decode_with(rfc_accept, 68, 7,
						 version << 4 | 8, &msg));
		KUNIT_EXPECT_EQ(test, msg.version, SMC_CLC_V1);
		KUNIT_EXPECT_TRUE(test, msg.accept.first_contact);
		KUNIT_EXPECT_EQ(test, SMC_CLC_OK,
				wire_decode_with(rfc_decline, 28, 7,
						 version << 4, &msg));
		KUNIT_EXPECT_EQ(test, msg.version, SMC_CLC_V1);
		/* 0x08: the client offers nothing of version 2. */
		KUNIT_EXPECT_EQ(test, SMC_CLC_OK,
				wire_decode_with(rfc_proposal_ipv4, 52, 7,
						 version << 4 | 8, &msg));
		KUNIT_EXPECT_TRUE(test, msg.proposal.offers_v1);
	}
}

static void clc_05_version_0_is_declined(struct kunit *test)
{
	struct smc_clc_msg msg;
	u8 buf[52];

	KUNIT_EXPECT_EQ(test, SMC_CLC_ENUM,
			wire_decode_with(rfc_proposal_ipv4, 52, 7, 0, &msg));
	KUNIT_EXPECT_EQ(test, msg.type, SMC_CLC_PROPOSAL);
	KUNIT_EXPECT_EQ(test, SMC_CLC_ENUM,
			wire_decode_with(rfc_accept, 68, 7, 0, &msg));
	KUNIT_EXPECT_EQ(test, SMC_CLC_ENUM,
			wire_decode_with(rfc_confirm, 68, 7, 0, &msg));
	/* The message is malformed, too: that error comes first. */
	KUNIT_EXPECT_EQ(test, SMC_CLC_PROTO,
			wire_decode_with(rfc_accept, 67, 7, 0, &msg));
	memcpy(buf, rfc_proposal_ipv4, sizeof(buf));
	buf[7] = 0;
	KUNIT_EXPECT_EQ(test, SMC_CLC_PROTO, wire_decode_with(buf, 52, 44, 33, &msg));
	/* A Decline is not answered. */
	KUNIT_EXPECT_EQ(test, SMC_CLC_OK,
			wire_decode_with(rfc_decline, 28, 7, 0, &msg));
}

static void clc_05_sends_versions_1_and_2_only(struct kunit *test)
{
	struct smc_clc_msg msg = { .type = SMC_CLC_DECLINE };
	unsigned int version;
	u8 buf[44];

	for (version = 0; version < 256; version++) {
		msg.version = version;
		KUNIT_EXPECT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)),
				version == 1 ? 28 : version == 2 ? 44 : 0);
		if (version == 1 || version == 2)
			KUNIT_EXPECT_EQ(test, buf[7] & 0xf0, version << 4);
	}
}

static void prop_03_ipv4_form(struct kunit *test)
{
	const struct wire_golden *golden = &wire_goldens[0];
	struct smc_clc_msg msg;
	u8 buf[188];

	/* A deployed client sends 92 bytes; our form of the same message has 52. */
	KUNIT_ASSERT_EQ(test, wire_decode(golden->bytes, golden->len, &msg),
			SMC_CLC_OK);
	msg.version = SMC_CLC_V1;
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 52);
	KUNIT_EXPECT_EQ(test, buf[6], 52);
	KUNIT_EXPECT_EQ(test, buf[7], 0x10);
	KUNIT_EXPECT_MEMEQ(test, buf + 8, golden->bytes + 8, 30);
	KUNIT_EXPECT_TRUE(test, clc_all_zero(buf + 38, 2));
	KUNIT_EXPECT_MEMEQ(test, buf + 40, golden->bytes + 80, 12);
}

static void prop_04_ipv6_lengths(struct kunit *test)
{
	struct smc_clc_msg msg, back;
	u8 buf[188];
	unsigned int n;

	msg = wire_goldens[15].msg;
	KUNIT_ASSERT_EQ(test, msg.proposal.nr_prefixes, 1);
	for (n = 1; n <= 8; n++) {
		msg.proposal.nr_prefixes = n;
		msg.proposal.prefix[n - 1] = msg.proposal.prefix[0];
		msg.proposal.prefix[n - 1].addr[15] = n;
		msg.proposal.prefix[n - 1].len = 16 * n;
		KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)),
				52 + 17 * n);
		KUNIT_EXPECT_TRUE(test, clc_all_zero(buf + 40, 5));
		KUNIT_EXPECT_EQ(test, buf[47], n);
		KUNIT_ASSERT_EQ(test, wire_decode(buf, 52 + 17 * n, &back),
				SMC_CLC_OK);
		wire_expect_same(test, &back, &msg);
	}
}

static void prop_05_offset_is_honoured(struct kunit *test)
{
	u8 buf[SMC_CLC_MSG_MAX_LEN];
	struct smc_clc_msg msg;
	unsigned int growth;
	size_t len;

	for (growth = 0; growth <= 972; growth += 12) {
		len = 52 + growth;
		memset(buf, 0xff, sizeof(buf));
		memcpy(buf, rfc_proposal_ipv4, 40);
		wire_set_len(buf, len);
		buf[38] = growth >> 8;
		buf[39] = growth;
		memcpy(buf + 40 + growth, rfc_proposal_ipv4 + 40, 12);
		KUNIT_ASSERT_EQ(test, wire_decode(buf, len, &msg), SMC_CLC_OK);
		KUNIT_EXPECT_EQ(test, msg.proposal.subnet, 0xc0a80a00);
		KUNIT_EXPECT_EQ(test, msg.proposal.subnet_len, 24);
	}
}

static void prop_05_offset_out_of_message_is_refused(struct kunit *test)
{
	static const u16 offsets[] = { 1, 11, 13, 52, 100, 0x7fff, 0xfff8,
				    0xffff };
	struct smc_clc_msg msg;
	u8 buf[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		memcpy(buf, rfc_proposal_growth, 64);
		buf[38] = offsets[i] >> 8;
		buf[39] = offsets[i];
		KUNIT_EXPECT_EQ_MSG(test, wire_decode(buf, 64, &msg),
				    SMC_CLC_PROTO, "offset %u", offsets[i]);
	}
}

static void prop_06_nine_prefixes_are_refused(struct kunit *test)
{
	struct smc_clc_msg msg;
	u8 buf[205];

	memset(buf, 0x20, sizeof(buf));
	memcpy(buf, rfc_proposal_ipv6_one, 48);
	memcpy(buf + 201, rfc_proposal_ipv6_one, 4);
	wire_set_len(buf, 205);
	buf[47] = 9;
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 205, &msg), SMC_CLC_PROTO);
	buf[47] = 255;
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 205, &msg), SMC_CLC_PROTO);
	/* The same with eight is fine. */
	memcpy(buf + 184, rfc_proposal_ipv6_one, 4);
	wire_set_len(buf, 188);
	buf[47] = 8;
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 188, &msg), SMC_CLC_OK);
	KUNIT_EXPECT_EQ(test, msg.proposal.nr_prefixes, 8);
}

static void prop_06_nine_prefixes_are_not_sent(struct kunit *test)
{
	struct smc_clc_msg msg = wire_goldens[15].msg;
	u8 buf[256];

	msg.proposal.nr_prefixes = 9;
	KUNIT_EXPECT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 0);
}

static void err_16_proposal_fields_are_checked(struct kunit *test)
{
	const u8 *v4 = rfc_proposal_ipv4;
	struct smc_clc_msg msg;
	u8 buf[69];

	KUNIT_EXPECT_EQ(test, wire_decode_with(v4, 52, 44, 32, &msg),
			SMC_CLC_OK);
	KUNIT_EXPECT_EQ(test, wire_decode_with(v4, 52, 44, 33, &msg),
			SMC_CLC_PROTO);
	KUNIT_EXPECT_EQ(test, wire_decode_with(v4, 52, 47, 1, &msg),
			SMC_CLC_PROTO);
	/* A multicast MAC address, and an empty one */
	KUNIT_EXPECT_EQ(test, wire_decode_with(v4, 52, 32, 0x53, &msg),
			SMC_CLC_PROTO);
	memcpy(buf, v4, 52);
	memset(buf + 32, 0, 6);
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 52, &msg), SMC_CLC_PROTO);
	memcpy(buf, v4, 52);
	memset(buf + 16, 0, 16);
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 52, &msg), SMC_CLC_PROTO);

	memcpy(buf, rfc_proposal_ipv6_one, 69);
	buf[64] = 128;
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 69, &msg), SMC_CLC_OK);
	buf[64] = 129;
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 69, &msg), SMC_CLC_PROTO);
}

/* protocol.md: R = 0, D = 1, none = 2, both = 3 */
static void prop_02_deployed_path_types(struct kunit *test)
{
	static const bool offers[] = { true, false, false, true };
	struct smc_clc_msg msg;
	unsigned int path;

	for (path = 0; path < 4; path++) {
		if (path == 2)
			continue;
		KUNIT_EXPECT_EQ(test, SMC_CLC_OK,
				wire_decode_with(rec_proposal, 92, 7,
						 0x28 | path, &msg));
		KUNIT_EXPECT_EQ(test, msg.proposal.offers_v1, offers[path]);
		KUNIT_EXPECT_FALSE(test, msg.proposal.offers_v2);
		KUNIT_EXPECT_EQ(test, msg.proposal.subnet, 0x0a000000);
	}
	KUNIT_EXPECT_EQ(test, SMC_CLC_OK,
			wire_decode_with(rfc_proposal_ipv4, 52, 7, 0x12, &msg));
	KUNIT_EXPECT_FALSE(test, msg.proposal.offers_v1);
}

struct wire_v2_ext {
	const char *name;
	u8 at;
	u8 value;
	enum smc_clc_verdict verdict;
};

/* The recorded version 2 Proposal: extension at 80, one EID, ends at 152. */
static const struct wire_v2_ext wire_v2_exts[] = {
	{ "as recorded", 50, 0, SMC_CLC_OK },
	{ "no extension although offered", 51, 0, SMC_CLC_PROTO },
	{ "extension in the growth area", 51, 27, SMC_CLC_PROTO },
	{ "extension over the vendor's options", 51, 1, SMC_CLC_PROTO },
	{ "extension as late as possible", 51, 60, SMC_CLC_OK },
	{ "last byte of the extension missing", 51, 61, SMC_CLC_PROTO },
	{ "extension behind the message", 51, 200, SMC_CLC_PROTO },
	{ "extension far away", 50, 0xff, SMC_CLC_PROTO },
	{ "extension far away, and wrapping in 16 bits", 50, 0xfe, SMC_CLC_PROTO },
	{ "no EID", 80, 0, SMC_CLC_OK },
	{ "255 EIDs", 80, 255, SMC_CLC_PROTO },
	{ "EID in lower case", 120, 's', SMC_CLC_PROTO },
	{ "EID that begins with a dot", 120, '.', SMC_CLC_PROTO },
	{ "EID that begins with a blank", 120, ' ', SMC_CLC_PROTO },
	{ "EID with a blank inside", 124, ' ', SMC_CLC_PROTO },
	{ "EID with a NUL at its end", 151, 0, SMC_CLC_PROTO },
	{ "EID of 32 characters but the blanks", 151, 'Z', SMC_CLC_PROTO },
	{ "another EID", 120, '0', SMC_CLC_OK },
	{ "no limits are none at release 0", 83, 0, SMC_CLC_OK },
	{ "a release to come", 83, 0xf0, SMC_CLC_OK },
	{ "one EID more than there is", 80, 2, SMC_CLC_PROTO },
	{ "9 EIDs", 80, 9, SMC_CLC_PROTO },
	{ "GIDs without an offer of SMC-D", 81, 200, SMC_CLC_OK },
	{ "offers SMC-D version 2, its extension left out", 7, 0x26,
	  SMC_CLC_OK },
};

KUNIT_ARRAY_PARAM_DESC(wire_v2_ext, wire_v2_exts, name);

static void err_16_v2_extension_is_bounds_checked(struct kunit *test)
{
	const struct wire_v2_ext *row = test->param_value;
	struct smc_clc_msg msg;

	KUNIT_EXPECT_EQ(test, row->verdict,
			wire_decode_with(rec_v2_proposal, 156, row->at,
					 row->value, &msg));
}

static void err_16_ism_extension_is_bounds_checked(struct kunit *test)
{
	static const struct {
		u16 offset;
		u8 gids;
		enum smc_clc_verdict verdict;
	} rows[] = {
		{ 64, 0, SMC_CLC_OK }, { 64, 2, SMC_CLC_OK },
		{ 64, 3, SMC_CLC_PROTO }, { 65, 2, SMC_CLC_PROTO },
		{ 63, 0, SMC_CLC_PROTO }, { 32, 0, SMC_CLC_PROTO }, { 1, 0, SMC_CLC_PROTO },
		{ 64, 9, SMC_CLC_PROTO }, { 0, 8, SMC_CLC_OK },
		{ 96, 0, SMC_CLC_PROTO }, { 84, 0, SMC_CLC_OK },
		{ 85, 0, SMC_CLC_PROTO },
		{ 0, 9, SMC_CLC_PROTO }, { 0xffff, 0, SMC_CLC_PROTO },
	};
	struct smc_clc_msg msg;
	u8 buf[224] = {};
	unsigned int i;

	/* 48 bytes and two GIDs behind the EID; 220 is where they end. */
	memcpy(buf, rec_v2_proposal, 152);
	memcpy(buf + 220, rec_v2_proposal, 4);
	wire_set_len(buf, 224);
	buf[7] = 0x2e;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		buf[81] = rows[i].gids;
		buf[86] = rows[i].offset >> 8;
		buf[87] = rows[i].offset;
		KUNIT_EXPECT_EQ_MSG(test, wire_decode(buf, 224, &msg),
				    rows[i].verdict, "row %u", i);
	}
	/* the last 8 bytes as IP area of version 1 */
	buf[7] = 0x2c;
	buf[16] = 1;
	buf[32] = 2;
	buf[39] = 212 - 40;
	buf[86] = 0;
	buf[87] = 64;
	for (i = 1; i < 3; i++) {
		buf[81] = i;
		KUNIT_EXPECT_EQ(test, wire_decode(buf, 224, &msg),
				i == 1 ? SMC_CLC_OK : SMC_CLC_PROTO);
		KUNIT_EXPECT_TRUE(test, msg.proposal.offers_v2);
	}
	/* without an offer of SMC-R the GID does not matter */
	buf[7] = 0x26;
	memset(buf + 88, 0, SMC_GID_LEN);
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 224, &msg), SMC_CLC_OK);
	KUNIT_EXPECT_FALSE(test, msg.proposal.offers_v2);
}

/* What lies behind the message does not count, even if it is readable as an extension. */
static void err_16_v2_extension_ends_in_the_message(struct kunit *test)
{
	struct smc_clc_msg msg;
	unsigned int at;

	for (at = 52; at < 256; at++) {
		u8 buf[512] = {};

		memcpy(buf, rec_v2_proposal, 80);
		memcpy(buf + at, rec_v2_proposal + 80, 40);
		memset(buf + at + 40, 'A', SMC_EID_LEN);
		memcpy(buf + 152, rec_v2_proposal + 152, 4);
		buf[51] = at - 52;
		KUNIT_EXPECT_EQ_MSG(test, smc_clc_decode(buf, 156, &msg),
				    at == 80 ? SMC_CLC_OK : SMC_CLC_PROTO, "at %u", at);
		/* of SMC-D only, whose EIDs are not read */
		buf[7] = 0x26;
		KUNIT_EXPECT_EQ_MSG(test, smc_clc_decode(buf, 156, &msg),
				    at == 80 ? SMC_CLC_OK : SMC_CLC_PROTO, "at %u", at);
	}
}

/* The IP area before the extension, behind it, and overlapping it. */
static void err_16_areas_of_a_proposal_do_not_overlap(struct kunit *test)
{
	struct smc_clc_msg msg = wire_goldens[9].msg;
	u8 buf[164], moved[164];
	unsigned int at;

	msg.proposal.offers_v1 = true;
	msg.proposal.has_subnets = true;
	msg.proposal.subnet = 0x0a000000;
	msg.proposal.subnet_len = 24;
	memset(msg.proposal.gid, 0x11, sizeof(msg.proposal.gid));
	memset(msg.proposal.mac, 0x02, sizeof(msg.proposal.mac));
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 164);
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 164, &msg), SMC_CLC_OK);
	KUNIT_EXPECT_TRUE(test, msg.proposal.offers_v1);
	KUNIT_EXPECT_EQ(test, msg.proposal.subnet, 0x0a000000);
	KUNIT_EXPECT_EQ(test, msg.proposal.v2.nr_eids, 1);

	/* the extension at 80 now, and the IP area anywhere */
	memcpy(moved, buf, sizeof(moved));
	memcpy(moved + 80, buf + 88, 72);
	moved[51] = 28;
	for (at = 40; at <= 200; at++) {
		u8 copy[256] = {};

		memcpy(copy, moved, sizeof(moved));
		memset(copy + 152, 0, 8);
		copy[39] = at - 40;
		/* zeros are no subnet, but they are readable as one, also behind the message */
		KUNIT_EXPECT_EQ_MSG(test, smc_clc_decode(copy, 164, &msg),
				    at == 152 ? SMC_CLC_OK : SMC_CLC_PROTO, "at %u", at);
		KUNIT_EXPECT_EQ(test, wire_decode(copy, 164, &msg),
				at == 152 ? SMC_CLC_OK : SMC_CLC_PROTO);
		/* and so is a prefix */
		copy[159] = 1;
		KUNIT_EXPECT_EQ_MSG(test, smc_clc_decode(copy, 164, &msg), SMC_CLC_PROTO,
				    "at %u", at);
	}
}

static void err_16_accept_v2_is_bounds_checked(struct kunit *test)
{
	static const struct {
		u16 len;
		u8 release;
		u8 gids;
		enum smc_clc_verdict verdict;
	} rows[] = {
		/* release 0: with and without what release 1 added */
		{ 143, 0, 0, SMC_CLC_PROTO }, { 144, 0, 0, SMC_CLC_OK },
		{ 160, 0, 255, SMC_CLC_OK }, { 180, 0, 255, SMC_CLC_OK },
		/* later releases have all of it */
		{ 144, 1, 0, SMC_CLC_PROTO }, { 159, 1, 0, SMC_CLC_PROTO },
		{ 160, 1, 0, SMC_CLC_OK }, { 160, 15, 0, SMC_CLC_OK },
		/* then the list, or nothing of it */
		{ 161, 1, 0, SMC_CLC_PROTO }, { 163, 1, 0, SMC_CLC_PROTO },
		{ 164, 1, 0, SMC_CLC_OK }, { 164, 1, 1, SMC_CLC_PROTO },
		{ 179, 1, 1, SMC_CLC_PROTO }, { 180, 1, 1, SMC_CLC_OK },
		{ 180, 1, 0, SMC_CLC_OK }, { 180, 1, 2, SMC_CLC_PROTO },
		{ 196, 1, 2, SMC_CLC_OK }, { 292, 1, 8, SMC_CLC_OK },
		{ 308, 1, 9, SMC_CLC_PROTO }, { 1024, 1, 255, SMC_CLC_PROTO },
	};
	u8 buf[SMC_CLC_MSG_MAX_LEN];
	struct smc_clc_msg msg;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(buf, 0, sizeof(buf));
		memcpy(buf, rec_v2_confirm_fc, 156);
		buf[105] = 0x20 | rows[i].release;
		buf[156] = rows[i].gids;
		memcpy(buf + rows[i].len - 4, rec_v2_confirm_fc, 4);
		wire_set_len(buf, rows[i].len);
		KUNIT_EXPECT_EQ_MSG(test, wire_decode(buf, rows[i].len, &msg),
				    rows[i].verdict, "row %u", i);
		if (rows[i].verdict != SMC_CLC_OK)
			continue;
		KUNIT_EXPECT_EQ(test, msg.accept.fce.max_conns, rows[i].release ? 255 : 0);
		KUNIT_EXPECT_EQ(test, msg.accept.nr_gids, rows[i].release ? rows[i].gids : 0);
	}
}

static void clc_04_accept_v2_may_be_longer(struct kunit *test)
{
	struct smc_clc_msg msg;
	u8 buf[200] = {};

	memcpy(buf, rec_v2_accept_fc, 156);
	memcpy(buf + 196, rec_v2_accept_fc, 4);
	wire_set_len(buf, 200);
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 200, &msg), SMC_CLC_OK);
	KUNIT_EXPECT_EQ(test, msg.accept.fce.max_links, 2);
	/* subsequent contact has no extension that could be too short */
	memcpy(buf, rec_v2_accept, 104);
	wire_set_len(buf, 200);
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 200, &msg), SMC_CLC_OK);
	KUNIT_EXPECT_EQ(test, msg.accept.fce.release, 0);
}

static void prop_06_more_than_fits_is_not_sent(struct kunit *test)
{
	struct smc_clc_msg msg = wire_goldens[9].msg;
	u8 buf[SMC_CLC_MSG_MAX_LEN];
	unsigned int i;

	for (i = 0; i <= 8; i++) {
		msg.proposal.v2.nr_eids = i;
		if (i)
			memcpy(msg.proposal.v2.eid[i - 1], WIRE_V2_EID, SMC_EID_LEN);
		KUNIT_EXPECT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 124 + 32 * i);
		KUNIT_EXPECT_EQ(test, wire_decode(buf, 124 + 32 * i, &msg), SMC_CLC_OK);
		KUNIT_EXPECT_EQ(test, msg.proposal.v2.nr_eids, i);
	}
	msg.proposal.v2.nr_eids = 9;
	KUNIT_EXPECT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 0);
	msg = wire_goldens[11].msg;
	msg.accept.nr_gids = 9;
	KUNIT_EXPECT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 0);
}

static void acpt_05_index_0_is_refused_rmb_02(struct kunit *test)
{
	struct smc_clc_msg msg;

	KUNIT_EXPECT_EQ(test, wire_decode_with(rfc_accept, 68, 45, 0, &msg),
			SMC_CLC_PROTO);
	KUNIT_EXPECT_EQ(test, wire_decode_with(rfc_confirm, 68, 45, 0, &msg),
			SMC_CLC_PROTO);
	KUNIT_EXPECT_EQ(test, wire_decode_with(rfc_accept, 68, 45, 1, &msg),
			SMC_CLC_OK);
	KUNIT_EXPECT_EQ(test, msg.accept.rmbe_index, 1);
	KUNIT_EXPECT_EQ(test, wire_decode_with(rfc_accept, 68, 45, 255, &msg),
			SMC_CLC_OK);
	KUNIT_EXPECT_EQ(test, msg.accept.rmbe_index, 255);
}

static void err_16_accept_addresses_are_checked(struct kunit *test)
{
	struct smc_clc_msg msg;
	u8 buf[68];

	KUNIT_EXPECT_EQ(test, wire_decode_with(rfc_accept, 68, 32, 0x01, &msg),
			SMC_CLC_PROTO);
	memcpy(buf, rfc_confirm, 68);
	memset(buf + 32, 0, 6);
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 68, &msg), SMC_CLC_PROTO);
	memcpy(buf, rfc_accept, 68);
	memset(buf + 16, 0, 16);
	KUNIT_EXPECT_EQ(test, wire_decode(buf, 68, &msg), SMC_CLC_PROTO);
}

static void acpt_06_size_and_mtu_nibbles_cfrm_02(struct kunit *test)
{
	struct smc_clc_msg msg, back;
	unsigned int value;
	u8 buf[68];

	for (value = 0; value < 256; value++) {
		KUNIT_ASSERT_EQ(test, SMC_CLC_OK,
				wire_decode_with(rfc_confirm, 68, 50, value,
						 &msg));
		KUNIT_EXPECT_EQ(test, msg.accept.size_code, value >> 4);
		KUNIT_EXPECT_EQ(test, msg.accept.mtu, value & 15);
		KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)),
				68);
		KUNIT_EXPECT_EQ(test, buf[50], value);
		KUNIT_ASSERT_EQ(test, wire_decode(buf, 68, &back), SMC_CLC_OK);
		wire_expect_same(test, &back, &msg);
	}
}

static void acpt_09_psn_is_24_bits(struct kunit *test)
{
	struct smc_clc_msg msg = wire_goldens[1].msg;
	u8 buf[68];

	msg.accept.psn = 0xabfedcba;
	msg.accept.qpn = 0xcd123456;
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 68);
	KUNIT_EXPECT_EQ(test, buf[60], 0);
	KUNIT_ASSERT_EQ(test, wire_decode(buf, 68, &msg), SMC_CLC_OK);
	KUNIT_EXPECT_EQ(test, msg.accept.psn, 0xfedcba);
	KUNIT_EXPECT_EQ(test, msg.accept.qpn, 0x123456);
	KUNIT_EXPECT_EQ(test, msg.accept.rkey, 0x3d4);
}

static void cfrm_01_flag_of_deployed_peers_is_read(struct kunit *test)
{
	struct smc_clc_msg msg;

	KUNIT_EXPECT_EQ(test, wire_decode(rec_confirm_fc, 68, &msg),
			SMC_CLC_OK);
	KUNIT_EXPECT_TRUE(test, msg.accept.first_contact);
	KUNIT_EXPECT_EQ(test, wire_decode(rfc_confirm, 68, &msg), SMC_CLC_OK);
	KUNIT_EXPECT_FALSE(test, msg.accept.first_contact);
}

static void dcln_05_any_diagnosis_is_taken(struct kunit *test)
{
	static const u32 values[] = { 0, 1, 0x7fffffff, 0x80000000,
				   0xffffffff, 0x0a0b0c0d };
	struct smc_clc_msg msg;
	unsigned int i;
	u8 buf[44];

	memcpy(buf, deployed_decline, 44);
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		buf[16] = values[i] >> 24;
		buf[17] = values[i] >> 16;
		buf[18] = values[i] >> 8;
		buf[19] = values[i];
		KUNIT_ASSERT_EQ(test, wire_decode(buf, 44, &msg), SMC_CLC_OK);
		KUNIT_EXPECT_EQ(test, msg.decline.diagnosis, values[i]);
	}
}

static void dcln_04_out_of_sync_in_both_forms(struct kunit *test)
{
	struct smc_clc_msg msg;

	KUNIT_ASSERT_EQ(test, SMC_CLC_OK,
			wire_decode_with(deployed_decline, 44, 7, 0x28, &msg));
	KUNIT_EXPECT_TRUE(test, msg.decline.out_of_sync);
	KUNIT_ASSERT_EQ(test, wire_decode(rfc_decline_sync, 28, &msg),
			SMC_CLC_OK);
	KUNIT_EXPECT_TRUE(test, msg.decline.out_of_sync);
}

static void clc_06_encode_refuses_unknown_type(struct kunit *test)
{
	struct smc_clc_msg msg = { .version = SMC_CLC_V1 };
	u8 buf[188];

	KUNIT_EXPECT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 0);
	msg.type = 5;
	KUNIT_EXPECT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 0);
}

/* Invariants of every accepted message */
static void wire_expect_sane(struct kunit *test, const struct smc_clc_msg *msg)
{
	const struct smc_clc_proposal *prop = &msg->proposal;
	unsigned int i;

	if (msg->type == SMC_CLC_ACCEPT || msg->type == SMC_CLC_CONFIRM) {
		KUNIT_EXPECT_NE(test, msg->accept.rmbe_index, 0);
		KUNIT_EXPECT_LE(test, msg->accept.size_code, 15);
		KUNIT_EXPECT_LE(test, msg->accept.mtu, 15);
		KUNIT_EXPECT_LE(test, msg->accept.qpn, 0xffffff);
		KUNIT_EXPECT_LE(test, msg->accept.psn, 0xffffff);
		KUNIT_EXPECT_LE(test, msg->accept.nr_gids, 8);
	}
	if (msg->type != SMC_CLC_PROPOSAL)
		return;
	KUNIT_EXPECT_LE(test, prop->subnet_len, 32);
	KUNIT_ASSERT_LE(test, prop->nr_prefixes, 8);
	KUNIT_ASSERT_LE(test, prop->v2.nr_eids, 8);
	for (i = 0; i < prop->nr_prefixes; i++)
		KUNIT_EXPECT_LE(test, prop->prefix[i].len, 128);
	if (prop->offers_v1)
		KUNIT_EXPECT_TRUE(test, prop->has_subnets);
}

/* One round; true if the bytes were accepted as a message. */
static bool wire_fuzz_once(struct kunit *test, const u8 *bytes, size_t len)
{
	static struct smc_clc_msg msg, back;
	static u8 buf[SMC_CLC_MSG_MAX_LEN];
	enum smc_clc_verdict verdict;

	verdict = wire_decode(bytes, len, &msg);
	if (verdict == SMC_CLC_PROTO)
		return false;
	if (verdict == SMC_CLC_ENUM) {
		KUNIT_EXPECT_EQ(test, msg.version, 0);
		return false;
	}
	wire_expect_sane(test, &msg);
	if (msg.version < SMC_CLC_V1 || msg.version > SMC_CLC_V2)
		return true;
	/* an offer of SMC-D alone has no encoding here */
	if (msg.type == SMC_CLC_PROPOSAL &&
	    (msg.proposal.offers_v1 != msg.proposal.has_subnets ||
	     (!msg.proposal.offers_v1 && !msg.proposal.offers_v2)))
		return true;
	len = smc_kunit_clc_encode(&msg, buf, sizeof(buf));
	KUNIT_ASSERT_NE(test, len, 0);
	KUNIT_ASSERT_EQ(test, wire_decode(buf, len, &back), SMC_CLC_OK);
	wire_expect_same(test, &back, &msg);
	return true;
}

static void clc_02_noise_is_survived(struct kunit *test)
{
	unsigned int round, taken = 0;
	struct rnd_state rnd;
	u8 buf[256];
	size_t len;

	prandom_seed_state(&rnd, 7609);
	for (round = 0; round < 10000; round++) {
		len = 1 + prandom_u32_state(&rnd) % sizeof(buf);
		prandom_bytes_state(&rnd, buf, len);
		if (wire_fuzz_once(test, buf, len))
			taken++;
	}
	KUNIT_EXPECT_EQ(test, taken, 0);
}

static void err_16_damaged_messages_are_survived(struct kunit *test)
{
	unsigned int round, hits, taken = 0;
	const struct wire_golden *golden;
	u8 buf[SMC_CLC_MSG_MAX_LEN];
	struct rnd_state rnd;
	size_t len;

	prandom_seed_state(&rnd, 1911);
	for (round = 0; round < 6000; round++) {
		golden = &wire_goldens[prandom_u32_state(&rnd) %
				    ARRAY_SIZE(wire_goldens)];
		len = golden->len;
		memcpy(buf, golden->bytes, len);
		hits = 1 + prandom_u32_state(&rnd) % 4;
		while (hits--)
			buf[7 + prandom_u32_state(&rnd) % (len - 11)] =
				prandom_u32_state(&rnd);
		if (wire_fuzz_once(test, buf, len))
			taken++;
	}
	/* Most damage hits fields that the codec does not check. */
	KUNIT_EXPECT_GT(test, taken, 1500);
	KUNIT_EXPECT_LT(test, taken, 6000);
}

/* Header and trailer match a random length; all bytes between them are random. */
static void err_16_framed_noise_is_survived(struct kunit *test)
{
	u8 buf[SMC_CLC_MSG_MAX_LEN];
	struct rnd_state rnd;
	unsigned int round;
	size_t len;

	prandom_seed_state(&rnd, 44);
	for (round = 0; round < 6000; round++) {
		len = 12 + prandom_u32_state(&rnd) % 240;
		prandom_bytes_state(&rnd, buf, len);
		memcpy(buf, rfc_decline, 4);
		memcpy(buf + len - 4, rfc_decline, 4);
		buf[4] = 1 + (round & 3);
		wire_set_len(buf, len);
		/* Small numbers reach more branches than large ones. */
		if (len > 52) {
			buf[38] = 0;
			buf[39] %= len;
			buf[50] = 0;
			buf[51] %= len;
		}
		wire_fuzz_once(test, buf, len);
	}
}

static struct kunit_case smc_clc_wire_cases[] = {
	KUNIT_CASE_PARAM(clc_11_peek_tells_exact_length, wire_golden_gen_params),
	KUNIT_CASE_PARAM(err_16_peek_checks_type_and_length,
			 wire_header_gen_params),
	KUNIT_CASE_PARAM(clc_06_message_decodes, wire_golden_gen_params),
	KUNIT_CASE_PARAM(clc_06_message_encodes_back, wire_golden_gen_params),
	KUNIT_CASE_PARAM(err_16_every_truncation_is_refused,
			 wire_golden_gen_params),
	KUNIT_CASE_PARAM(err_16_every_short_form_is_refused,
			 wire_golden_gen_params),
	KUNIT_CASE_PARAM(err_16_longer_form_is_refused, wire_golden_gen_params),
	KUNIT_CASE_PARAM(clc_02_bad_eyecatcher_is_protocol_error,
			 wire_golden_gen_params),
	KUNIT_CASE(clc_03_reserved_is_sent_as_zero),
	KUNIT_CASE(clc_04_reserved_ones_are_accepted),
	KUNIT_CASE(clc_05_later_version_is_read_as_version_1),
	KUNIT_CASE(clc_05_version_0_is_declined),
	KUNIT_CASE(clc_05_sends_versions_1_and_2_only),
	KUNIT_CASE(clc_06_encode_refuses_unknown_type),
	KUNIT_CASE(prop_02_deployed_path_types),
	KUNIT_CASE(prop_03_ipv4_form),
	KUNIT_CASE(prop_04_ipv6_lengths),
	KUNIT_CASE(prop_05_offset_is_honoured),
	KUNIT_CASE(prop_05_offset_out_of_message_is_refused),
	KUNIT_CASE(prop_06_nine_prefixes_are_refused),
	KUNIT_CASE(prop_06_nine_prefixes_are_not_sent),
	KUNIT_CASE(err_16_proposal_fields_are_checked),
	KUNIT_CASE_PARAM(err_16_v2_extension_is_bounds_checked,
			 wire_v2_ext_gen_params),
	KUNIT_CASE(err_16_ism_extension_is_bounds_checked),
	KUNIT_CASE(err_16_v2_extension_ends_in_the_message),
	KUNIT_CASE(err_16_areas_of_a_proposal_do_not_overlap),
	KUNIT_CASE(err_16_accept_v2_is_bounds_checked),
	KUNIT_CASE(clc_04_accept_v2_may_be_longer),
	KUNIT_CASE(prop_06_more_than_fits_is_not_sent),
	KUNIT_CASE(acpt_05_index_0_is_refused_rmb_02),
	KUNIT_CASE(err_16_accept_addresses_are_checked),
	KUNIT_CASE(acpt_06_size_and_mtu_nibbles_cfrm_02),
	KUNIT_CASE(acpt_09_psn_is_24_bits),
	KUNIT_CASE(cfrm_01_flag_of_deployed_peers_is_read),
	KUNIT_CASE(dcln_04_out_of_sync_in_both_forms),
	KUNIT_CASE(dcln_05_any_diagnosis_is_taken),
	KUNIT_CASE(clc_02_noise_is_survived),
	KUNIT_CASE(err_16_damaged_messages_are_survived),
	KUNIT_CASE(err_16_framed_noise_is_survived),
	{}
};

static struct kunit_suite smc_clc_wire_suite = {
	.name = "smc_clc_wire",
	.test_cases = smc_clc_wire_cases,
};

kunit_test_suite(smc_clc_wire_suite);
