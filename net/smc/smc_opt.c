// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options.
 *
 * Operation: the inner TCP socket keeps every option, since it knows what is
 * legal, what its packets shall look like, and what holds after a fallback. Our
 * sock keeps what the core reads from it (SOL_SOCKET) or what acts on SMC, too.
 * The few that differ are named by opt_kind(); all others are carried to TCP. What
 * an option means on SMC is told by Documentation/options.md (API-04, API-06).
 *
 * Races: an option is set under our socket lock, on the inner sock first. So a
 * fallback that moves that sock to the application comes before or after it,
 * and loses nothing. The copy that our own sock keeps is written afterwards,
 * since the core takes the lock by itself (smc_opt_mirror()). Where the core
 * sets SOL_SOCKET options without asking us (SMC_SETS_SOL_SOCKET), our sock
 * has them first, and the inner one before they act (smc_opt_settle()); what others set
 * on that meanwhile stays.
 */
#include <linux/filter.h>
#include <linux/smc.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include <net/transp_v6.h>

#include "smc_close.h"
#include "smc_compat.h"
#include "smc_fallback.h"
#include "smc_keep.h"
#include "smc_notice.h"
#include "smc_opt.h"
#include "smc_tcp.h"
#include "smc_tx.h"

/* How an option differs from one that TCP simply keeps. */
enum opt_kind {
	OPT_CARRIED,	/* it does not */
	OPT_INNER,	/* TCP alone keeps it: nobody would look at ours */
	OPT_OURS,	/* our sock keeps it; the inner one after a fallback */
	OPT_SWITCH,	/* only TCP can do it, where the value is not zero */
	OPT_TCP_ONLY,	/* only TCP can do it */
	OPT_TCP_EARLY,	/* the same, and impossible once SMC was agreed on */
	OPT_REFUSED,	/* cannot be set; asking is TCP's, or the core's */
	OPT_BLANK,	/* asking for it would read bytes of TCP; setting is TCP's */
};

static enum opt_kind opt_kind_socket(int optname)
{
	switch (optname) {
	/* it would keep CLC messages from being seen in time */
	case SO_RCVLOWAT:
	/* reading CLC messages would move it */
	case SO_PEEK_OFF:
	/* how to end is the business of the SMC connection, CLOSE-01 */
	case SO_LINGER:
		return OPT_OURS;
	/* memory for packets that no payload is in */
	case SO_RESERVE_MEM:
		return OPT_REFUSED;
	/* the sock that has the port is chosen, and the program cannot be read back */
	case SO_ATTACH_REUSEPORT_CBPF:
	case SO_ATTACH_REUSEPORT_EBPF:
	case SO_DETACH_REUSEPORT_BPF:
		return OPT_INNER;
	default:
		return OPT_CARRIED;
	}
}

static enum opt_kind opt_kind_tcp(int optname)
{
	switch (optname) {
	/* data in the SYN come before any agreement on SMC */
	case TCP_FASTOPEN:
	case TCP_FASTOPEN_CONNECT:
	case TCP_FASTOPEN_NO_COOKIE:
		return OPT_SWITCH;
	case TCP_FASTOPEN_KEY:
	/* they leave no room for the option of SMC, or protect TCP only */
	case TCP_MD5SIG:
	case TCP_MD5SIG_EXT:
	case TCP_AO_ADD_KEY:
	case TCP_AO_INFO:
		return OPT_TCP_ONLY;
	/* sequence numbers and queues of TCP tell nothing about SMC */
	case TCP_REPAIR:
		return OPT_TCP_EARLY;
	/* an upper protocol would take over a socket that carries no data */
	case TCP_ULP:
		return OPT_REFUSED;
	case TCP_ZEROCOPY_RECEIVE:
		return OPT_BLANK;
	default:
		return OPT_CARRIED;
	}
}

static enum opt_kind opt_kind(int level, int optname)
{
	if (level == SOL_SOCKET)
		return opt_kind_socket(optname);
	if (level == SOL_TCP)
		return opt_kind_tcp(optname);
	/* a policy for one socket: RFC 7609 5.5 */
	if ((level == SOL_IP && (optname == IP_IPSEC_POLICY || optname == IP_XFRM_POLICY)) ||
	    (level == SOL_IPV6 && (optname == IPV6_IPSEC_POLICY || optname == IPV6_XFRM_POLICY)))
		return OPT_TCP_EARLY;
	return OPT_CARRIED;
}

static bool opt_is_new(const struct smc_sock *smc)
{
	return smc->sk.sk_state == SMC_STATE_INIT && !smc->is_connecting;
}

static int opt_set_inner(struct smc_sock *smc, int level, int optname, sockptr_t optval,
			 unsigned int optlen)
{
	if (!smc->tcp)
		return -EBADF;
	if (level == SOL_SOCKET)
		return sock_setsockopt(smc->tcp, level, optname, optval, optlen);
	return READ_ONCE(smc->tcp->ops)->setsockopt(smc->tcp, level, optname, optval, optlen);
}

static int opt_read_int(sockptr_t optval, unsigned int optlen, int *val)
{
	if (optlen < sizeof(*val))
		return -EINVAL;
	return copy_from_sockptr(val, optval, sizeof(*val)) ? -EFAULT : 0;
}

static int opt_set_smc(struct smc_sock *smc, int optname, sockptr_t optval, unsigned int optlen)
{
	int rc, val;

	if (optname != SMC_LIMIT_HS)
		return -EOPNOTSUPP;
	rc = opt_read_int(optval, optlen, &val);
	if (!rc)
		WRITE_ONCE(smc->limits_handshakes, !!val);
	return rc;
}

/* As the core keeps it, including what it makes of large values. */
static int opt_set_linger(struct sock *sk, sockptr_t optval, unsigned int optlen)
{
	struct linger linger;
	unsigned long secs;

	if (optlen < sizeof(linger))
		return -EINVAL;
	if (copy_from_sockptr(&linger, optval, sizeof(linger)))
		return -EFAULT;
	if (!linger.l_onoff) {
		sock_reset_flag(sk, SOCK_LINGER);
		return 0;
	}
	/* a negative value is a very large one */
	secs = linger.l_linger;
	WRITE_ONCE(sk->sk_lingertime, secs >= MAX_SCHEDULE_TIMEOUT / HZ ?
				      MAX_SCHEDULE_TIMEOUT : secs * HZ);
	sock_set_flag(sk, SOCK_LINGER);
	return 0;
}

/**
 * smc_opt_rcvlowat() - SO_RCVLOWAT
 * @sk: our sock, or TCP's if the core came by our operations when that had just
 *	taken the file over
 * @val: bytes
 *
 * TCP's limit holds, so that the value a program reads back is the same.
 *
 * Context: Process context. Expects the socket lock held.
 * Return: 0; -EBADF after the inner socket has gone.
 */
int smc_opt_rcvlowat(struct sock *sk, int val)
{
	struct smc_sock *smc = smc_sk(sk);
	const struct sock *tsk;
	int cap;

	if (!smc_sock_is_ours(sk))
		return smc_tcp_ops(sk->sk_socket)->set_rcvlowat(sk, val);
	if (!smc->tcp)
		return -EBADF;
	tsk = smc->tcp->sk;
	cap = tsk->sk_userlocks & SOCK_RCVBUF_LOCK ?
	      READ_ONCE(tsk->sk_rcvbuf) : READ_ONCE(sock_net(tsk)->ipv4.sysctl_tcp_rmem[2]);
	val = min(val < 0 ? INT_MAX : val, cap >> 1);
	WRITE_ONCE(sk->sk_rcvlowat, val ? : 1);
	/* what is there may be enough now */
	if (smc_state_is_usable(&smc->close))
		sk->sk_data_ready(sk);
	return 0;
}

static int opt_set_rcvlowat(struct smc_sock *smc, sockptr_t optval, unsigned int optlen)
{
	int rc, val;

	rc = opt_read_int(optval, optlen, &val);
	return rc ?: smc_opt_rcvlowat(&smc->sk, val);
}

static int opt_set_peek_off(struct smc_sock *smc, sockptr_t optval, unsigned int optlen)
{
	int rc, val;

	rc = opt_read_int(optval, optlen, &val);
	if (rc)
		return rc;
	if (!READ_ONCE(smc->tcp->ops)->set_peek_off)
		return -EOPNOTSUPP;
	return sk_set_peek_off(&smc->sk, val);
}

static int opt_set_ours(struct smc_sock *smc, int optname, sockptr_t optval, unsigned int optlen)
{
	if (!smc->tcp)
		return -EBADF;
	if (optname == SO_LINGER)
		return opt_set_linger(&smc->sk, optval, optlen);
	if (optname == SO_PEEK_OFF)
		return opt_set_peek_off(smc, optval, optlen);
	return opt_set_rcvlowat(smc, optval, optlen);
}

/**
 * smc_opt_stay_with_tcp() - something was asked for that only TCP can do
 * @smc: the socket
 * @sock: the application's socket
 * @reason: for those who ask why
 *
 * A new socket becomes a TCP socket; a listening one makes TCP sockets from
 * now on. It still answers to whom it has offered SMC before, with a Decline.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: 0; -EINVAL when there is a connection or an attempt at one.
 */
int smc_opt_stay_with_tcp(struct smc_sock *smc, struct socket *sock, enum smc_decline reason)
{
	bool is_listening = smc->sk.sk_state == SMC_STATE_LISTEN;

	if (!smc->tcp || (!is_listening && !opt_is_new(smc)))
		return -EINVAL;
	smc_opt_settle(smc);
	smc->fallback = reason;
	smc->peer_diagnosis = 0;
	/* a listener asks for itself when a SYN comes, smc_listen_offers_no_smc() */
	WRITE_ONCE(smc->is_eager_tcp, true);
	smc->is_tcp_by_option = true;
	if (is_listening)
		return 0;
	smc_fallback_graft(smc, sock);
	return 0;
}

/* TCP looks at it first: what TCP refuses is no reason to fall back. */
static int opt_set_tcp_only(struct smc_sock *smc, struct socket *sock, enum opt_kind kind,
			    int level, int optname, sockptr_t optval, unsigned int optlen)
{
	bool is_early = opt_is_new(smc) || smc->sk.sk_state == SMC_STATE_LISTEN;
	int val = 1;
	int rc;

	if (kind == OPT_TCP_EARLY && !is_early)
		return -EOPNOTSUPP;
	rc = opt_set_inner(smc, level, optname, optval, optlen);
	if (rc || !is_early)
		return rc;
	if (kind == OPT_SWITCH && copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	if (!val)
		return 0;
	return smc_opt_stay_with_tcp(smc, sock, level == SOL_TCP ? SMC_DECLINE_OPTUNSUPP :
								   SMC_DECLINE_IPSEC);
}

/* What the data path asks for, also where the inner socket cannot be asked. */
static void opt_copy_tcp(struct smc_sock *smc)
{
	const struct tcp_sock *tp = tcp_sk(smc->tcp->sk);

	WRITE_ONCE(smc->nonagle, tp->nonagle & (TCP_NAGLE_OFF | TCP_NAGLE_CORK));
	WRITE_ONCE(smc->tx_lowat, READ_ONCE(tp->notsent_lowat));
}

/* What an option that TCP has accepted also means for the connection on SMC. */
static void opt_note_tcp(struct smc_sock *smc, int optname)
{
	opt_copy_tcp(smc);
	if (optname == TCP_KEEPIDLE || optname == TCP_KEEPINTVL || optname == TCP_KEEPCNT ||
	    optname == TCP_USER_TIMEOUT)
		smc_keep_changed(smc, optname);
	if (!smc_state_is_usable(&smc->close))
		return;
	/* who waits may go on, as with TCP */
	if (optname == TCP_NOTSENT_LOWAT && smc_tx_is_writable(smc->conn))
		smc_sock_wake_writers(smc);
	/* TCP pushes here, too, even what TCP_CORK holds back */
	if ((optname == TCP_CORK && !(smc->nonagle & TCP_NAGLE_CORK)) ||
	    (optname == TCP_NODELAY && smc->nonagle & TCP_NAGLE_OFF))
		smc_tx_flush(smc->conn);
}

/* The same for SOL_SOCKET; @had are the flags of SO_TIMESTAMPING before. */
static void opt_note_socket(struct smc_sock *smc, int optname, u32 had)
{
	struct sock *tsk = smc->tcp->sk;
	u32 new = READ_ONCE(tsk->sk_tsflags) & ~had;

	if (optname == SO_KEEPALIVE)
		smc_keep_update(smc);
	if (new & SOF_TIMESTAMPING_OPT_ID && smc_state_is_usable(&smc->close))
		smc_notice_count_from(smc->conn, new & SOF_TIMESTAMPING_OPT_ID_TCP);
	/* the core allows these two to internet families, or to TCP, only */
	if (optname == SO_REUSEPORT)
		smc->sk.sk_reuseport = tsk->sk_reuseport;
	if (optname == SO_ZEROCOPY)
		sock_valbool_flag(&smc->sk, SOCK_ZEROCOPY, sock_flag(tsk, SOCK_ZEROCOPY));
}

static int opt_set_carried(struct smc_sock *smc, int level, int optname, sockptr_t optval,
			   unsigned int optlen)
{
	u32 had = smc->tcp ? READ_ONCE(smc->tcp->sk->sk_tsflags) : 0;
	int rc = opt_set_inner(smc, level, optname, optval, optlen);

	if (rc)
		return rc;
	if (level == SOL_TCP)
		opt_note_tcp(smc, optname);
	if (level == SOL_SOCKET)
		opt_note_socket(smc, optname, had);
	return 0;
}

/**
 * smc_opt_set() - setsockopt()
 * @smc: the socket
 * @sock: the application's socket; TCP's afterwards if the option asks for that
 * @level: any
 * @optname: of that level
 * @optval: the value
 * @optlen: its length
 *
 * SOL_SOCKET options want smc_opt_mirror() afterwards. RFC 7609 B.1 (API-04,
 * API-06 to API-09).
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: 0 or what TCP answers; -EOPNOTSUPP for what has no meaning here;
 *	   -EBADF after the inner socket has gone.
 */
int smc_opt_set(struct smc_sock *smc, struct socket *sock, int level, int optname,
		sockptr_t optval, unsigned int optlen)
{
	enum opt_kind kind = opt_kind(level, optname);

	if (level == SOL_SMC)
		return opt_set_smc(smc, optname, optval, optlen);
	switch (kind) {
	case OPT_OURS:
		return opt_set_ours(smc, optname, optval, optlen);
	case OPT_SWITCH:
	case OPT_TCP_ONLY:
	case OPT_TCP_EARLY:
		return opt_set_tcp_only(smc, sock, kind, level, optname, optval, optlen);
	case OPT_REFUSED:
		return -EOPNOTSUPP;
	default:
		return opt_set_carried(smc, level, optname, optval, optlen);
	}
}

/**
 * smc_opt_mirror() - let our sock keep a SOL_SOCKET option as well
 * @sock: the application's socket
 * @optname: the option, which smc_opt_set() has set
 * @optval: the value
 * @optlen: its length
 *
 * The core answers getsockopt() from our sock. What it does not allow to our
 * family is not kept there, which is no error: TCP has allowed it. If @sock is
 * TCP's by now, the option is set there a second time.
 *
 * Context: Process context, may sleep. The caller holds a reference on our
 * sock, and not its lock.
 */
void smc_opt_mirror(struct socket *sock, int optname, sockptr_t optval, unsigned int optlen)
{
	if (opt_kind(SOL_SOCKET, optname) == OPT_CARRIED)
		sock_setsockopt(sock, SOL_SOCKET, optname, optval, optlen);
}

/* Flags of a sock that are options. SOCK_TIMESTAMP is about packets only. */
#define OPT_FLAGS							\
	(BIT(SOCK_KEEPOPEN) | BIT(SOCK_URGINLINE) | BIT(SOCK_DBG) |	\
	 BIT(SOCK_BROADCAST) | BIT(SOCK_LOCALROUTE) |			\
	 BIT(SOCK_RCVTSTAMP) | BIT(SOCK_RCVTSTAMPNS) |			\
	 BIT(SOCK_TSTAMP_NEW) | BIT(SOCK_RXQ_OVFL) |			\
	 BIT(SOCK_WIFI_STATUS) | BIT(SOCK_NOFCS) |			\
	 BIT(SOCK_SELECT_ERR_QUEUE) | BIT(SOCK_FILTER_LOCKED) |		\
	 BIT(SOCK_TXTIME) | BIT(SOCK_RCVMARK) | BIT(SOCK_ZEROCOPY))

/* Options that are nothing but a value kept in a sock, and that nobody else sets. */
static void opt_copy_kept(const struct sock *from, struct sock *to)
{
	to->sk_rcvtimeo = from->sk_rcvtimeo;
	to->sk_sndtimeo = from->sk_sndtimeo;
	to->sk_no_check_tx = from->sk_no_check_tx;
	to->sk_clockid = from->sk_clockid;
	to->sk_txtime_deadline_mode = from->sk_txtime_deadline_mode;
	to->sk_txtime_report_errors = from->sk_txtime_report_errors;
#ifdef CONFIG_NET_RX_BUSY_POLL
	to->sk_ll_usec = from->sk_ll_usec;
	to->sk_prefer_busy_poll = from->sk_prefer_busy_poll;
	to->sk_busy_poll_budget = from->sk_busy_poll_budget;
#endif
}

/* Options that TCP, or a BPF program of a control group, may set on the inner sock, too. */
static void opt_copy_shared(const struct sock *from, struct sock *to)
{
	to->sk_flags = (to->sk_flags & ~OPT_FLAGS) | (from->sk_flags & OPT_FLAGS);
	to->sk_reuse = from->sk_reuse;
	to->sk_reuseport = from->sk_reuseport;
	to->sk_txrehash = from->sk_txrehash;
	to->sk_max_pacing_rate = from->sk_max_pacing_rate;
	to->sk_priority = from->sk_priority;
	to->sk_mark = from->sk_mark;
}

static void opt_note_seen(const struct sock *sk, struct smc_opt_seen *seen)
{
	seen->flags = sk->sk_flags;
	seen->reuse = sk->sk_reuse;
	seen->reuseport = sk->sk_reuseport;
	seen->txrehash = sk->sk_txrehash;
	seen->max_pacing_rate = sk->sk_max_pacing_rate;
	seen->priority = sk->sk_priority;
	seen->mark = sk->sk_mark;
	seen->bound_dev_if = sk->sk_bound_dev_if;
	seen->sndbuf = sk->sk_sndbuf;
	seen->rcvbuf = sk->sk_rcvbuf;
	seen->userlocks = sk->sk_userlocks;
}

/* What was set on ours since the last look counts, otherwise what TCP has. */
static u64 opt_choose(u64 ours, u64 seen, u64 tcps)
{
	return ours == seen ? tcps : ours;
}

/* Expects the lock of @tsk held. */
static void opt_settle_shared(struct sock *sk, struct sock *tsk, const struct smc_opt_seen *seen)
{
	unsigned long set = (sk->sk_flags ^ seen->flags) & OPT_FLAGS;
	u32 mark = opt_choose(sk->sk_mark, seen->mark, tsk->sk_mark);

	if (mark != tsk->sk_mark)
		sk_dst_reset(tsk);
	tsk->sk_mark = mark;
	tsk->sk_flags = (tsk->sk_flags & ~set) | (sk->sk_flags & set);
	tsk->sk_reuse = opt_choose(sk->sk_reuse, seen->reuse, tsk->sk_reuse);
	tsk->sk_reuseport = opt_choose(sk->sk_reuseport, seen->reuseport, tsk->sk_reuseport);
	tsk->sk_txrehash = opt_choose(sk->sk_txrehash, seen->txrehash, tsk->sk_txrehash);
	tsk->sk_max_pacing_rate = opt_choose(sk->sk_max_pacing_rate, seen->max_pacing_rate,
					     tsk->sk_max_pacing_rate);
	tsk->sk_priority = opt_choose(sk->sk_priority, seen->priority, tsk->sk_priority);
	opt_copy_shared(tsk, sk);
}

/* Sizes of our own are others, unless they were set. Expects the lock of @tsk held. */
static void opt_settle_buffers(const struct sock *sk, struct sock *tsk,
			       const struct smc_opt_seen *seen)
{
	u8 set = (sk->sk_userlocks ^ seen->userlocks) & (SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK);

	if (sk->sk_userlocks & SOCK_SNDBUF_LOCK &&
	    (set & SOCK_SNDBUF_LOCK || sk->sk_sndbuf != seen->sndbuf))
		tsk->sk_sndbuf = sk->sk_sndbuf;
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK &&
	    (set & SOCK_RCVBUF_LOCK || sk->sk_rcvbuf != seen->rcvbuf))
		tsk->sk_rcvbuf = sk->sk_rcvbuf;
	tsk->sk_userlocks = (tsk->sk_userlocks & ~set) | (sk->sk_userlocks & set);
}

/* The core hands options to us: ours has them all but for what others have set. */
static void opt_take_back(struct sock *sk, const struct sock *tsk)
{
	WRITE_ONCE(sk->sk_bound_dev_if, tsk->sk_bound_dev_if);
	WRITE_ONCE(sk->sk_mark, tsk->sk_mark);
	WRITE_ONCE(sk->sk_priority, tsk->sk_priority);
	/* the one default of a SOL_SOCKET option that is TCP's own */
	WRITE_ONCE(sk->sk_txrehash, tsk->sk_txrehash);
}

/**
 * smc_opt_settle() - our sock and the inner one come to the same options
 * @smc: the socket, new, with an inner one
 *
 * To be called before the inner socket is bound, listens, connects or becomes
 * the application's, and after bind(). Where the core sets SOL_SOCKET options on our
 * sock alone the inner one is given those that have changed there since the last
 * time. Otherwise what the inner one has stays, and getsockopt() tells that: bind() to a
 * link-local address chooses a device, a BPF program of a control group a device, a
 * mark or a rate, as `ip vrf exec` does, IP_TOS a priority. BPF filters stay behind.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_opt_settle(struct smc_sock *smc)
{
	const struct smc_opt_seen *seen = &smc->opt_seen;
	struct sock *sk = &smc->sk;
	struct sock *tsk;
	int val;

	if (!smc->tcp)
		return;
	tsk = smc->tcp->sk;
	if (SMC_SETS_SOL_SOCKET) {
		opt_take_back(sk, tsk);
		return;
	}
	if (sk->sk_bound_dev_if != seen->bound_dev_if &&
	    sk->sk_bound_dev_if != tsk->sk_bound_dev_if)
		sock_bindtoindex(tsk, sk->sk_bound_dev_if, true);
	sk->sk_bound_dev_if = tsk->sk_bound_dev_if;
	/* time stamps need more than the flags */
	if (sock_flag(sk, SOCK_RCVTSTAMP))
		sock_enable_timestamps(tsk);
	val = sk->sk_tsflags;
	if (val != tsk->sk_tsflags)
		sock_setsockopt(smc->tcp, SOL_SOCKET, SO_TIMESTAMPING_OLD,
				KERNEL_SOCKPTR(&val), sizeof(val));
	lock_sock(tsk);
	opt_copy_kept(sk, tsk);
	opt_settle_shared(sk, tsk, seen);
	opt_settle_buffers(sk, tsk, seen);
	release_sock(tsk);
	opt_note_seen(sk, &smc->opt_seen);
}

/**
 * smc_opt_begin() - a socket has got its inner one, with the options of a new socket
 * @smc: the socket
 *
 * Context: Process context, may sleep. Nobody else knows the socket.
 */
void smc_opt_begin(struct smc_sock *smc)
{
	opt_note_seen(&smc->sk, &smc->opt_seen);
	smc_opt_settle(smc);
}

/**
 * smc_opt_keepalive() - SO_KEEPALIVE, where the core sets it by itself
 * @sk: our sock
 * @is_on: the value
 *
 * Unlike other SOL_SOCKET options it acts while there is a connection.
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_opt_keepalive(struct sock *sk, int is_on)
{
	struct smc_sock *smc = smc_sk(sk);
	struct sock *tsk;

	if (SMC_SETS_SOL_SOCKET || !smc->tcp)
		return;
	tsk = smc->tcp->sk;
	lock_sock(tsk);
	if (tsk->sk_prot->keepalive)
		tsk->sk_prot->keepalive(tsk, is_on);
	sock_valbool_flag(tsk, SOCK_KEEPOPEN, is_on);
	release_sock(tsk);
	smc_keep_update(smc);
}

static int opt_put(const void *val, int size, char __user *optval, int __user *optlen)
{
	int len;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	len = min(len, size);
	if (put_user(len, optlen) || copy_to_user(optval, val, len))
		return -EFAULT;
	return 0;
}

static int opt_get_smc(struct smc_sock *smc, int optname, char __user *optval, int __user *optlen)
{
	int val = smc->limits_handshakes;

	if (optname != SMC_LIMIT_HS)
		return -EOPNOTSUPP;
	return opt_put(&val, sizeof(val), optval, optlen);
}

/* The state that a TCP connection would be in after the same events. */
static u8 opt_tcp_state(const struct smc_sock *smc)
{
	static const u8 state[] = {
		[SMC_STATE_ACTIVE]		= TCP_ESTABLISHED,
		[SMC_STATE_PEERCLOSEWAIT1]	= TCP_FIN_WAIT2,
		[SMC_STATE_PEERCLOSEWAIT2]	= TCP_CLOSING,
		[SMC_STATE_APPFINCLOSEWAIT]	= TCP_CLOSING,
		[SMC_STATE_APPCLOSEWAIT1]	= TCP_CLOSE_WAIT,
		[SMC_STATE_APPCLOSEWAIT2]	= TCP_LAST_ACK,
		[SMC_STATE_PEERFINCLOSEWAIT]	= TCP_LAST_ACK,
		[SMC_STATE_PEERABORTWAIT]	= TCP_CLOSE,
		[SMC_STATE_PROCESSABORT]	= TCP_CLOSE,
		[SMC_STATE_CLOSED]		= TCP_CLOSE,
	};

	u8 now = state[smc->sk.sk_state];

	/* CLC on an established TCP connection: nothing to use yet */
	if (smc->is_connecting)
		return TCP_SYN_SENT;
	/* of a TCP connection nothing would be left */
	if (smc_close_is_over(smc))
		return TCP_CLOSE;
	/* our end follows what is still to be sent */
	if (smc->sk.sk_shutdown & SEND_SHUTDOWN && now == TCP_ESTABLISHED)
		return TCP_FIN_WAIT1;
	if (smc->sk.sk_shutdown & SEND_SHUTDOWN && now == TCP_CLOSE_WAIT)
		return TCP_LAST_ACK;
	return now;
}

/* Bytes and times of the connection on SMC instead of those of CLC. */
static void opt_fill_conn(struct smc_conn *conn, struct tcp_info *info)
{
	u32 unsent = smc_conn_unsent(conn);
	u32 writable = smc_conn_writable(conn);

	spin_lock_bh(&conn->lock);
	if (conn->snd_geom.size) {
		info->tcpi_bytes_sent = conn->tx_total - unsent;
		info->tcpi_bytes_acked = conn->tx_total -
					 (smc_geom_space(conn->snd_geom) - writable);
		info->tcpi_notsent_bytes = unsent;
		info->tcpi_unacked = conn->tx_inflight;
	}
	if (conn->ctl.rx_geom.size)
		info->tcpi_bytes_received = conn->rx_total + smc_cdc_readable(&conn->ctl);
	/* until a message was measured it is TCP's, which is that of a path to the same host */
	if (conn->rtt.min) {
		info->tcpi_rtt = ewma_smc_rtt_read(&conn->rtt.mean);
		info->tcpi_rttvar = ewma_smc_rtt_var_read(&conn->rtt.var);
		info->tcpi_min_rtt = conn->rtt.min;
	}
	spin_unlock_bh(&conn->lock);
	info->tcpi_bytes_retrans = 0;
	info->tcpi_last_data_sent = jiffies_to_msecs(jiffies - READ_ONCE(conn->tx_jiffies));
	info->tcpi_last_ack_recv = jiffies_to_msecs(jiffies - READ_ONCE(conn->ack_jiffies));
	info->tcpi_last_data_recv = jiffies_to_msecs(jiffies - READ_ONCE(conn->rx_jiffies));
}

/* MSS and options are those of the TCP connection to the peer. */
static int opt_get_tcp_info(struct smc_sock *smc, char __user *optval, int __user *optlen)
{
	struct sock *sk = &smc->sk;
	struct tcp_info info;

	tcp_get_info(smc->tcp->sk, &info);
	/* what waits for accept(): in TCP's queue, and in ours */
	if (info.tcpi_state == TCP_LISTEN)
		info.tcpi_unacked += smc_sock_nr_children(smc, SMC_CHILD_READY);
	if (sk->sk_state != SMC_STATE_LISTEN &&
	    (sk->sk_state != SMC_STATE_INIT || smc->is_connecting)) {
		info.tcpi_state = opt_tcp_state(smc);
		if (!smc->is_connecting && smc->conn)
			opt_fill_conn(smc->conn, &info);
	}
	return opt_put(&info, sizeof(info), optval, optlen);
}

/**
 * smc_opt_get() - getsockopt(), but for SOL_SOCKET
 * @smc: the socket
 * @level: any; SOL_SOCKET does not get here, the core reads our sock
 * @optname: of that level
 * @optval: where the value goes
 * @optlen: room there; becomes the length of the value
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: 0 or what TCP answers; -EOPNOTSUPP for what has no meaning here;
 *	   -EBADF after the inner socket has gone; -EFAULT.
 */
int smc_opt_get(struct smc_sock *smc, int level, int optname, char __user *optval,
		int __user *optlen)
{
	int secs;

	if (level == SOL_SMC)
		return opt_get_smc(smc, optname, optval, optlen);
	if (!smc->tcp)
		return -EBADF;
	if (opt_kind(level, optname) == OPT_BLANK)
		return -EOPNOTSUPP;
	if (level == SOL_TCP && optname == TCP_INFO)
		return opt_get_tcp_info(smc, optval, optlen);
	secs = level == SOL_TCP ? smc_keep_own(smc, optname) : 0;
	if (secs)
		return opt_put(&secs, sizeof(secs), optval, optlen);
	return READ_ONCE(smc->tcp->ops)->getsockopt(smc->tcp, level, optname, optval, optlen);
}

/* The core reads it back from our sock; what TCP receives goes through its own. */
static void opt_share_filter(const struct sock *from, struct sock *to)
{
	struct sk_filter *filter;

	rcu_read_lock();
	filter = rcu_dereference(from->sk_filter);
	if (filter && refcount_inc_not_zero(&filter->refcnt)) {
		/* given back when the sock goes, or has another one */
		atomic_add(bpf_prog_size(filter->prog->len), &to->sk_omem_alloc);
		rcu_assign_pointer(to->sk_filter, filter);
	}
	rcu_read_unlock();
}

static void opt_inherit_carried(const struct sock *from, struct sock *to)
{
	opt_copy_kept(from, to);
	opt_copy_shared(from, to);
	opt_share_filter(from, to);
	to->sk_bound_dev_if = from->sk_bound_dev_if;
	to->sk_userlocks = from->sk_userlocks;
	to->sk_tsflags = from->sk_tsflags;
}

/**
 * smc_opt_inherit() - a child has the options of its listener, as TCP's have
 * @listener: where it came from
 * @child: new, with its inner socket, which TCP made in the image of that of
 *	   the listener
 *
 * Context: Process context. Expects the socket lock of @listener held.
 */
void smc_opt_inherit(const struct smc_sock *listener, struct smc_sock *child)
{
	const struct sock *from = &listener->sk;
	struct sock *to = &child->sk;

	opt_inherit_carried(SMC_SETS_SOL_SOCKET ? child->tcp->sk : from, to);
	to->sk_sndbuf = from->sk_sndbuf;
	to->sk_rcvbuf = from->sk_rcvbuf;
	/* what the listener was given since it gave that to its inner socket; the device and
	 * the mark of a connection may be its own
	 */
	child->opt_seen = listener->opt_seen;
	smc_opt_settle(child);
	to->sk_rcvlowat = READ_ONCE(from->sk_rcvlowat);
	to->sk_peek_off = READ_ONCE(from->sk_peek_off);
	to->sk_lingertime = READ_ONCE(from->sk_lingertime);
	if (sock_flag(from, SOCK_LINGER))
		sock_set_flag(to, SOCK_LINGER);
	opt_copy_tcp(child);
	child->is_eager_tcp = listener->is_eager_tcp;
	child->is_tcp_by_option = listener->is_tcp_by_option;
	child->fallback = SMC_DECLINE_NONE;
	if (listener->is_eager_tcp)
		child->fallback = listener->fallback;
}
