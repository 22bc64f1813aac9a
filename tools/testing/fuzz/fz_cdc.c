// SPDX-License-Identifier: GPL-2.0
/*
 * CDC messages and immediate data of a hostile peer, applied to one control block while the
 * application reads, writes and changes links: positions stay in their rings, and a message that
 * is refused changes none.
 */
#include "fz.h"

#include "proto/smc_cdc_imm.h"

static void check_codec(const u8 *bytes, size_t len)
{
	struct smc_cdc_msg msg = {}, again = {};
	u8 once[SMC_CDC_LEN], twice[SMC_CDC_LEN];

	if (smc_cdc_decode(bytes, len, &msg))
		return;
	FZ_CHECK(len >= SMC_CDC_USED_LEN);
	smc_cdc_encode(&msg, once);
	FZ_CHECK(!smc_cdc_decode(once, sizeof(once), &again));
	smc_cdc_encode(&again, twice);
	FZ_CHECK(!memcmp(once, twice, sizeof(once)));
	FZ_CHECK(msg.seq == again.seq && msg.token == again.token);
	FZ_CHECK(smc_cursor_is_equal(msg.prod, again.prod));
	FZ_CHECK(smc_cursor_is_equal(msg.cons, again.cons));
	FZ_CHECK(msg.prod_flags == again.prod_flags && msg.conn_flags == again.conn_flags);
}

static void check_edge(const struct smc_edge *e, u64 reader)
{
	FZ_CHECK(reader - e->lap < smc_edge_space(e));
	FZ_CHECK(e->lap == (u64)e->wrap * smc_edge_space(e));
}

static void check_ctl(const struct smc_cdc_ctl *ctl)
{
	unsigned int i;

	check_edge(&ctl->rx_edge, ctl->rx_cons_sent);
	check_edge(&ctl->tx_edge, ctl->tx_cons);
	FZ_CHECK(ctl->rx_cons_sent <= ctl->rx_cons && ctl->rx_cons <= ctl->rx_prod);
	/* the peer overwrites no byte before an update reports it as read */
	FZ_CHECK(ctl->rx_prod - ctl->rx_cons_sent <= smc_edge_space(&ctl->rx_edge));
	FZ_CHECK(ctl->tx_cons <= ctl->tx_sent && ctl->tx_fin <= ctl->tx_sent);
	FZ_CHECK(ctl->tx_sent <= ctl->tx_prep);
	FZ_CHECK(ctl->tx_sent - ctl->tx_cons <= smc_edge_space(&ctl->tx_edge));
	FZ_CHECK(smc_cdc_window(ctl) <= smc_edge_space(&ctl->tx_edge));
	FZ_CHECK(smc_cdc_unacked(ctl) <= ctl->snd_size);
	FZ_CHECK(ctl->rx_nr_waits <= SMC_CDC_WAITS_MAX);
	for (i = 0; i < ctl->rx_nr_waits; i++)
		FZ_CHECK(ctl->rx_wait[i].nr_held <= SMC_CDC_HELD_MAX);
	FZ_CHECK(smc_cdc_urg_distance(ctl) < (s64)smc_edge_space(&ctl->rx_edge));
	FZ_CHECK(smc_cdc_read_limit(ctl, 0) <= smc_cdc_readable(ctl));
}

/* A number near what is expected: that has effects, and its neighbours are the limits. */
static struct smc_cursor near(struct fz_in *in, const struct smc_edge *e, u64 from)
{
	u32 space = smc_edge_space(e);
	u8 how = fz_u8(in);

	if (how == 0xff)
		return (struct smc_cursor){ .wrap = fz_u32(in), .off = fz_u32(in) };
	from += how & 0x80 ? -(u64)(how % space) : how % (space + 1);
	/* laps before the first one have numbers, too */
	from += 0x10000ULL * space;
	return (struct smc_cursor){ .wrap = from / space, .off = e->base + from % space };
}

static void apply(struct fz_in *in, struct smc_cdc_ctl *ctl, bool is_moved)
{
	struct smc_cdc_ctl before = *ctl;
	struct smc_cdc_msg msg = {};
	u32 events;
	u8 how = fz_u8(in);

	msg.seq = ctl->rx_seq + (how & 0x80 ? fz_u8(in) - 128 : 1);
	msg.prod = near(in, &ctl->rx_edge, ctl->rx_prod);
	msg.cons = near(in, &ctl->tx_edge, ctl->tx_cons);
	msg.prod_flags = how & 0x40 ? fz_u8(in) : 0;
	msg.conn_flags = how & 0x20 ? fz_u8(in) : 0;
	msg.link_num = how & 3;
	events = is_moved ? smc_cdc_apply_moved(ctl, &msg) : smc_cdc_apply(ctl, &msg);
	/* the first message does not count if what was held for it is invalid */
	if (!(events & (SMC_EV_STALE | SMC_EV_HELD | SMC_EV_LOST)))
		return;
	FZ_CHECK(before.rx_prod == ctl->rx_prod && before.tx_cons == ctl->tx_cons);
	FZ_CHECK(before.rx_conn_flags == ctl->rx_conn_flags);
	FZ_CHECK(!(events & (SMC_EV_DATA | SMC_EV_SPACE)));
}

static void apply_imm(struct fz_in *in, struct smc_cdc_ctl *ctl)
{
	u64 before = ctl->rx_prod;
	u8 link_num = fz_u8(in) & 3;
	u16 step = fz_u8(in);
	u32 events;

	step |= step & 0x80 ? fz_u8(in) << 8 : 0;
	events = smc_cdc_apply_imm(ctl, link_num, smc_imm_get_step(step));
	if (!link_num)
		FZ_CHECK(events == SMC_EV_STALE);
	if (events & (SMC_EV_STALE | SMC_EV_INVALID) && !(events & SMC_EV_DATA))
		FZ_CHECK(before == ctl->rx_prod);
}

static void read_some(struct fz_in *in, struct smc_cdc_ctl *ctl)
{
	u32 n = fz_u8(in), readable = smc_cdc_readable(ctl);
	int rc = smc_cdc_consume(ctl, n);

	FZ_CHECK((rc < 0) == (n > readable));
	FZ_CHECK(smc_cdc_readable(ctl) == (rc < 0 ? readable : readable - n));
}

static void send_some(struct fz_in *in, struct smc_cdc_ctl *ctl)
{
	struct smc_cdc_msg msg;
	struct smc_xfer x;
	u32 window;

	ctl->tx_prep += fz_u8(in) % (ctl->snd_size - smc_cdc_unacked(ctl) + 1);
	smc_cdc_plan(ctl, ctl->tx_message, &x);
	window = smc_cdc_window(ctl);
	FZ_CHECK(x.len <= window && x.len <= smc_cdc_unsent(ctl));
	if (x.len && smc_cdc_may_use_imm(ctl, x.len))
		FZ_CHECK(smc_imm_get_step(smc_cdc_build_imm(ctl, x.len)) == x.len);
	else if (smc_cdc_build(ctl, &x, &msg))
		return;
	FZ_CHECK(smc_cdc_window(ctl) == window - x.len);
	if (fz_u8(in) & 1)
		smc_cdc_done(ctl, ctl->tx_seq, ctl->tx_sent - ctl->tx_fin);
}

static void change(struct fz_in *in, struct smc_cdc_ctl *ctl)
{
	struct smc_cdc_msg msg;
	struct smc_xfer x;

	switch (fz_u8(in) % 9) {
	case 0:
		smc_cdc_give_up(ctl);
		break;
	case 1:
		smc_cdc_build_validation(ctl, &msg);
		break;
	case 2:
		smc_cdc_mark_urgent(ctl);
		break;
	case 3:
		smc_cdc_end_urgent(ctl);
		break;
	case 4:
		if (smc_cdc_urg_distance(ctl) >= 0)
			smc_cdc_urg_store(ctl, 0x5a, fz_u8(in) & 1);
		break;
	case 5:
		smc_cdc_urg_take_out(ctl);
		break;
	case 6:
		smc_cdc_urg_read(ctl, fz_u8(in) & 1);
		break;
	case 7:
		FZ_CHECK(smc_cdc_replay(ctl, &x) == x.len);
		FZ_CHECK(ctl->tx_fin + x.len == ctl->tx_sent);
		break;
	default:
		smc_cdc_urg_pass(ctl);
		break;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fz_in in = { data, size }, all = in;
	struct smc_cdc_ctl ctl;
	unsigned int steps, base;
	size_t len;
	u8 *bytes;

	bytes = fz_rest(&all, &len);
	check_codec(bytes, len);
	free(bytes);
	/* small rings, so that many wraps are near */
	base = fz_u8(&in) & 1 ? SMC_EYE_CATCHER_LEN : 0;
	len = base + 16 + fz_u8(&in) % 64;
	smc_cdc_ctl_init(&ctl, base, len, len, 128);
	ctl.tx_imm_name = fz_u8(&in) & 1;
	check_ctl(&ctl);
	for (steps = 0; in.left && steps < 500; steps++) {
		switch (fz_u8(&in) % 8) {
		case 0 ... 2:
			apply(&in, &ctl, false);
			break;
		case 3:
			apply(&in, &ctl, true);
			break;
		case 4:
			apply_imm(&in, &ctl);
			break;
		case 5:
			read_some(&in, &ctl);
			break;
		case 6:
			send_some(&in, &ctl);
			break;
		default:
			change(&in, &ctl);
			break;
		}
		check_ctl(&ctl);
	}
	return 0;
}
