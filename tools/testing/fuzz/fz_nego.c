// SPDX-License-Identifier: GPL-2.0
/*
 * A handshake of two hosts with any settings, over encoded messages: a Proposal, an Accept and
 * a Confirm that nobody changed are taken with the same result at both ends; changed ones are
 * refused, or settle values that are in range.
 */
#include "fz.h"

#include "proto/smc_clc_nego.h"
#include "proto/smc_gid.h"

struct host {
	struct smc_nego_local local;
	struct smc_nego_end end;
	struct smc_nego_rmbe rmbe;
	u8 mtu;
};

static void any_gid(struct fz_in *in, u8 gid[SMC_GID_LEN])
{
	u8 how = fz_u8(in);

	memset(gid, 0, SMC_GID_LEN);
	if (how & 1) {
		gid[10] = 0xff;
		gid[11] = 0xff;
		gid[12] = 10;
	} else {
		gid[0] = how & 2 ? 0xfe : 0x20;
		gid[1] = 0x80;
	}
	gid[15] = 1 + (how >> 6);
}

static void any_host(struct fz_in *in, struct host *host, u8 id)
{
	struct smc_clc_v2_offer *v2 = &host->local.v2;
	u8 how = fz_u8(in), i;

	memset(host, 0, sizeof(*host));
	host->local.peer_id[7] = id;
	any_gid(in, host->local.gid);
	host->local.mac[0] = 2;
	host->local.mac[5] = id;
	host->local.has_v2 = how & 1;
	host->local.subnets.is_ipv6 = how & 2;
	host->local.subnets.ipv4 = 0x0a000000 | id;
	host->local.subnets.ipv4_len = how & 4 ? 0 : 24;
	any_gid(in, v2->gid);
	v2->release = fz_u8(in) % 3;
	v2->max_conns = fz_u8(in);
	v2->max_links = fz_u8(in) % (SMC_NEGO_MAX_LINKS + 1);
	v2->features = fz_u8(in);
	if (!v2->release) {
		v2->max_conns = 0;
		v2->max_links = 0;
		v2->features = 0;
	}
	v2->nr_eids = fz_u8(in) % (SMC_CLC_EIDS_MAX + 1);
	memset(v2->eid, ' ', sizeof(v2->eid));
	for (i = 0; i < v2->nr_eids; i++)
		v2->eid[i][0] = 'A' + fz_u8(in) % 16;
	memcpy(host->end.peer_id, host->local.peer_id, sizeof(host->end.peer_id));
	memcpy(host->end.mac, host->local.mac, sizeof(host->end.mac));
	host->end.qpn = 0x100 + id;
	host->end.psn = 0x200 + id;
	host->end.is_direct = how & 8;
	memset(host->end.host, ' ', sizeof(host->end.host));
	host->rmbe = (struct smc_nego_rmbe){
		.rkey = id, .addr = 4096, .token = id, .index = 1, .size_code = how >> 6,
	};
	host->mtu = 1 + fz_u8(in) % 5;
}

/* The message as the other side gets it; false if it was changed so that it is none. */
static bool carry(struct fz_in *in, const struct smc_clc_msg *msg, struct smc_clc_msg *got,
		  bool *is_changed)
{
	u8 bytes[SMC_CLC_MSG_MAX_LEN], how = fz_u8(in), at;
	size_t len = smc_clc_encode(msg, bytes);

	FZ_CHECK(len);
	if (!(how & 15)) {
		at = fz_u8(in);
		*is_changed |= at < len && in->left;
		bytes[at] ^= at < len ? fz_u8(in) : 0;
	}
	if (smc_clc_decode(bytes, len, got) == SMC_CLC_OK)
		return true;
	/* a GID list or EIDs that the wire has no form for are our own mistake */
	FZ_CHECK(*is_changed);
	return false;
}

static void check_params(const struct smc_params *params)
{
	FZ_CHECK(params->version == SMC_CLC_V1 || params->version == SMC_CLC_V2);
	FZ_CHECK(smc_nego_mtu_is_valid(params->mtu));
	FZ_CHECK(params->max_links >= 1 && params->max_links <= SMC_NEGO_MAX_LINKS);
	FZ_CHECK(params->max_conns >= SMC_NEGO_V21_MIN_CONNS);
	FZ_CHECK(params->version == SMC_CLC_V2 || (!params->release && !params->is_routed));
	FZ_CHECK(params->max_links_is_fixed == !!params->release);
	FZ_CHECK(params->llc_form == (params->version == SMC_CLC_V2 ? SMC_LLC_FORM_V2 :
								      SMC_LLC_FORM_V1));
}

/* Both ends of an undisturbed handshake. @peer_is_direct is the view of each. */
static void check_same(struct smc_params a, struct smc_params b)
{
	a.peer_is_direct = false;
	b.peer_is_direct = false;
	FZ_CHECK(a.version == b.version && a.release == b.release && a.mtu == b.mtu);
	FZ_CHECK(a.max_links == b.max_links && a.max_conns == b.max_conns);
	FZ_CHECK(a.features == b.features && a.is_routed == b.is_routed);
	FZ_CHECK(!memcmp(a.eid, b.eid, sizeof(a.eid)));
}

static void handshake(struct fz_in *in, const struct host *client, const struct host *server)
{
	struct smc_nego_end client_end = client->end, server_end = server->end;
	struct smc_clc_msg msg, prop = {}, accept = {}, confirm = {};
	struct smc_nego_confirmed confirmed;
	struct smc_nego_accepted accepted;
	struct smc_nego_known none = {};
	u8 peer_gid[SMC_GID_LEN] = {};
	struct smc_params params = {};
	bool is_changed = false;
	enum smc_decline reason;

	if (smc_nego_propose(&client->local, &msg) != SMC_DECLINE_NONE)
		return;
	if (!carry(in, &msg, &prop, &is_changed) || prop.type != SMC_CLC_PROPOSAL)
		return;
	if (smc_nego_server(&prop.proposal, &server->local, fz_u8(in) & 1, peer_gid, &params) !=
	    SMC_DECLINE_NONE)
		return;
	memcpy(server_end.gid, params.is_routed ? server->local.v2.gid : server->local.gid,
	       SMC_GID_LEN);
	memcpy(client_end.gid, params.is_routed ? client->local.v2.gid : client->local.gid,
	       SMC_GID_LEN);
	FZ_CHECK(is_changed || !memcmp(peer_gid, client_end.gid, SMC_GID_LEN));
	smc_nego_build_data(&accept, SMC_CLC_ACCEPT, &server_end, &server->rmbe, server->mtu,
			    &params, true);
	if (!carry(in, &accept, &confirm, &is_changed) || confirm.type != SMC_CLC_ACCEPT)
		return;
	accept = confirm;
	reason = smc_nego_classify_accept(&accept, &msg.proposal, &none, client->mtu, &accepted);
	if (reason != SMC_DECLINE_NONE) {
		FZ_CHECK(is_changed);
		return;
	}
	if (accept.accept.first_contact)
		check_params(&accepted.params);
	smc_nego_build_data(&confirm, SMC_CLC_CONFIRM, &client_end, &client->rmbe, client->mtu,
			    &accepted.params, true);
	if (!carry(in, &confirm, &msg, &is_changed) || msg.type != SMC_CLC_CONFIRM)
		return;
	reason = smc_nego_check_confirm(&msg, &prop.proposal, &params, NULL, server->mtu,
					&confirmed);
	if (reason != SMC_DECLINE_NONE) {
		FZ_CHECK(is_changed);
		return;
	}
	check_params(&confirmed.params);
	if (!is_changed)
		check_same(accepted.params, confirmed.params);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fz_in in = { data, size };
	struct host client, server;

	any_host(&in, &client, 1);
	any_host(&in, &server, 2);
	handshake(&in, &client, &server);
	return 0;
}
