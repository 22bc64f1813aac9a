// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options that only TCP can fulfil, which exclude SMC, and those that also act on a
 * connection on SMC. TCP and the core store and validate every option.
 * Documentation/options.md has the meaning of each (API-04, API-06).
 */
#include <linux/smc.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "rdma/smc_net.h"
#include "sock/smc_close.h"
#include "sock/smc_keepalive.h"
#include "sock/smc_sockopt.h"
#include "sock/smc_tcp.h"
#include "sock/smc_tx.h"
#include "sock/smc_wake.h"

/* Treatment of an option. */
enum opt_kind {
	OPT_PLAIN,	/* TCP's alone */
	OPT_SWITCH,	/* excludes SMC unless the value is zero */
	OPT_TCP_ONLY,	/* excludes SMC */
	OPT_TCP_EARLY,	/* excludes SMC; refused once SMC was agreed on */
	OPT_REFUSED,	/* refused until the socket is on TCP */
};

static enum opt_kind opt_kind_tcp(int optname)
{
	switch (optname) {
	/* data in the SYN precede any agreement on SMC */
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
	/* TCP's sequence numbers and queues do not describe a connection on SMC */
	case TCP_REPAIR:
		return OPT_TCP_EARLY;
	/* an upper layer protocol would take over a socket that may carry no data */
	case TCP_ULP:
		return OPT_REFUSED;
	default:
		return OPT_PLAIN;
	}
}

static enum opt_kind opt_classify(int level, int optname)
{
	if (level == SOL_TCP)
		return opt_kind_tcp(optname);
	/* a policy for one socket: RFC 7609 5.5 */
	if ((level == SOL_IP && (optname == IP_IPSEC_POLICY || optname == IP_XFRM_POLICY)) ||
	    (level == SOL_IPV6 && (optname == IPV6_IPSEC_POLICY || optname == IPV6_XFRM_POLICY)))
		return OPT_TCP_EARLY;
	return OPT_PLAIN;
}

/* True without a connection or an attempt at one. */
static bool opt_is_early(const struct smc_sock *smc)
{
	return smc->phase == SMC_PHASE_IDLE &&
	       (1 << smc->sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN);
}

static int opt_set_smc(struct sock *sk, int optname, sockptr_t optval, unsigned int optlen)
{
	struct smc_sock *smc;
	int val, rc = -EOPNOTSUPP;

	if (optname != SMC_LIMIT_HS)
		return -EOPNOTSUPP;
	if (optlen < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	lock_sock(sk);
	smc = smc_sk(sk);
	if (smc) {
		WRITE_ONCE(smc->limits_handshakes, !!val);
		rc = 0;
	}
	release_sock(sk);
	return rc;
}

static bool opt_is_allowed(struct sock *sk, enum opt_kind kind, bool *is_early)
{
	const struct smc_sock *smc;
	bool is_ours;

	lock_sock(sk);
	smc = smc_sk(sk);
	is_ours = smc;
	*is_early = is_ours && opt_is_early(smc);
	release_sock(sk);
	if (!is_ours || kind == OPT_SWITCH || kind == OPT_TCP_ONLY)
		return true;
	return kind == OPT_TCP_EARLY && *is_early;
}

/* A new socket becomes TCP's; a listener does so with new children, and declines earlier offers. */
static void opt_exclude_smc(struct sock *sk)
{
	struct smc_sock *smc;

	lock_sock(sk);
	smc = smc_sk(sk);
	if (smc && smc_sock_listener(smc)) {
		/* smc_listen_withholds_smc() reads it for each SYN */
		WRITE_ONCE(smc->fallback, SMC_DECLINE_OPTUNSUPP);
	} else if (smc && opt_is_early(smc)) {
		smc->memory_age_ms = 0;
		smc_tcp_become(smc, SMC_DECLINE_OPTUNSUPP);
	}
	release_sock(sk);
}

/* TCP checks the option first: an invalid one must not cause a fallback. */
static int opt_set_tcp_only(struct sock *sk, enum opt_kind kind, int level, int optname,
			    sockptr_t optval, unsigned int optlen)
{
	bool is_early;
	int val = 1;
	int rc;

	if (!opt_is_allowed(sk, kind, &is_early))
		return -EOPNOTSUPP;
	rc = smc_tcp_prot(sk)->setsockopt(sk, level, optname, optval, optlen);
	if (rc || !is_early)
		return rc;
	if (kind == OPT_SWITCH && copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	if (val)
		opt_exclude_smc(sk);
	return 0;
}

/* Apply an option that TCP has accepted to a connection on SMC. */
static void opt_note_tcp(struct smc_sock *smc, int optname)
{
	const struct tcp_sock *tp = tcp_sk(smc->sk);
	struct smc_conn *conn = smc->conn;

	if (optname == TCP_KEEPIDLE || optname == TCP_KEEPINTVL || optname == TCP_KEEPCNT ||
	    optname == TCP_USER_TIMEOUT)
		smc_keepalive_update(smc);
	/* waiting writers may proceed, as with TCP */
	if (optname == TCP_NOTSENT_LOWAT && smc_tx_is_writable(conn))
		smc_wake_writers(conn->sk);
	/* push pending data as TCP does, even what TCP_CORK held back */
	if (optname == TCP_CORK && !(tp->nonagle & TCP_NAGLE_CORK)) {
		smc_stat_inc(sock_net(conn->sk), SMC_STAT_CORK);
		smc_tx_flush(conn);
	} else if (optname == TCP_NODELAY && tp->nonagle & TCP_NAGLE_OFF) {
		smc_stat_inc(sock_net(conn->sk), SMC_STAT_NODELAY);
		smc_tx_flush(conn);
	}
}

static void opt_note(struct sock *sk, int optname)
{
	struct smc_sock *smc;

	lock_sock(sk);
	smc = smc_sk(sk);
	if (smc && smc_sock_is_usable(smc))
		opt_note_tcp(smc, optname);
	release_sock(sk);
}

/**
 * smc_sockopt_set() - setsockopt() except SOL_SOCKET
 * @sk: the sock
 * @level: any
 * @optname: of that level
 * @optval: the value
 * @optlen: its length
 *
 * RFC 7609 B.1 (API-04, API-06 to API-09).
 *
 * Context: Process context, may sleep. Takes the socket lock.
 * Return: 0 or TCP's result; -EOPNOTSUPP for an option that cannot apply.
 */
int smc_sockopt_set(struct sock *sk, int level, int optname, sockptr_t optval, unsigned int optlen)
{
	enum opt_kind kind = opt_classify(level, optname);
	int rc;

	guard(smc_call)(sk);
	if (level == SOL_SMC)
		return opt_set_smc(sk, optname, optval, optlen);
	if (kind != OPT_PLAIN)
		return opt_set_tcp_only(sk, kind, level, optname, optval, optlen);
	rc = smc_tcp_prot(sk)->setsockopt(sk, level, optname, optval, optlen);
	if (!rc && level == SOL_TCP)
		opt_note(sk, optname);
	return rc;
}

/**
 * smc_sockopt_keepalive() - set SO_KEEPALIVE
 * @sk: the sock
 * @is_on: the value
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_sockopt_keepalive(struct sock *sk, int is_on)
{
	struct smc_sock *smc = smc_sk(sk);

	sock_owned_by_me(sk);
	smc_tcp_prot(sk)->keepalive(sk, is_on);
	/* the core sets it only after this call */
	sock_valbool_flag(sk, SOCK_KEEPOPEN, is_on);
	if (smc && smc->phase == SMC_PHASE_SMC)
		smc_keepalive_update(smc);
}

/**
 * smc_sockopt_rcvlowat() - set SO_RCVLOWAT
 * @sk: the sock
 * @val: bytes
 *
 * Context: Process context. Expects the socket lock held.
 * Return: 0 or TCP's result.
 */
int smc_sockopt_rcvlowat(struct sock *sk, int val)
{
	struct smc_sock *smc = smc_sk(sk);
	int rc;

	sock_owned_by_me(sk);
	rc = smc_tcp_ops(sk->sk_socket)->set_rcvlowat(sk, val);
	/* queued data may suffice now */
	if (!rc && smc && smc_sock_is_usable(smc))
		smc_wake_readers(sk);
	return rc;
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

static int opt_get_smc(struct sock *sk, int optname, char __user *optval, int __user *optlen)
{
	struct smc_sock *smc;
	int val = -1;

	if (optname != SMC_LIMIT_HS)
		return -EOPNOTSUPP;
	rcu_read_lock();
	smc = smc_sk(sk);
	if (smc)
		val = READ_ONCE(smc->limits_handshakes);
	rcu_read_unlock();
	return val < 0 ? -EOPNOTSUPP : opt_put(&val, sizeof(val), optval, optlen);
}

/* TCP reads the slot twice, and a fallback empties it. Return: false if the slot is not ours. */
static bool opt_get_ulp(struct sock *sk, char __user *optval, int __user *optlen, int *rc)
{
	bool is_ours;

	rcu_read_lock();
	is_ours = smc_sk(sk);
	rcu_read_unlock();
	if (is_ours)
		*rc = opt_put(smc_ulp_sock.name, TCP_ULP_NAME_MAX, optval, optlen);
	return is_ours;
}

/**
 * smc_sockopt_tcp_state() - get the state of a TCP connection after the same events
 * @smc: the socket, not in phase IDLE
 *
 * Context: Process context. Expects the socket lock held.
 * Return: TCP_SYN_SENT during the handshake, TCP_CLOSE after an abort, or when both sides are done.
 */
u8 smc_sockopt_tcp_state(const struct smc_sock *smc)
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
	u8 now;

	sock_owned_by_me(smc->sk);
	/* TCP is established, but the handshake is in progress */
	if (smc->phase != SMC_PHASE_SMC)
		return TCP_SYN_SENT;
	now = state[smc_state_shown(smc->close.state)];
	/* TCP would have no connection left */
	if (smc_close_is_over(smc))
		return TCP_CLOSE;
	/* shutdown() takes effect behind pending data */
	if (smc->shutdown & SEND_SHUTDOWN && now == TCP_ESTABLISHED)
		return TCP_FIN_WAIT1;
	if (smc->shutdown & SEND_SHUTDOWN && now == TCP_CLOSE_WAIT)
		return TCP_LAST_ACK;
	return now;
}

/* Replace the counters and times of CLC by those of the connection on SMC. */
static void opt_fill_conn(struct smc_conn *conn, struct tcp_info *info)
{
	smc_tx_poll(conn, NULL, NULL);
	spin_lock_bh(&conn->lock);
	info->tcpi_bytes_sent = conn->ctl.tx_sent;
	info->tcpi_bytes_acked = conn->ctl.tx_fin;
	info->tcpi_notsent_bytes = smc_cdc_unsent(&conn->ctl);
	info->tcpi_unacked = conn->tx_inflight;
	info->tcpi_bytes_received = READ_ONCE(conn->ctl.rx_prod);
	/* TCP's estimate stays until a message was measured; the hosts are the same */
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
static int opt_get_tcp_info(struct sock *sk, char __user *optval, int __user *optlen)
{
	struct smc_sock *smc;
	struct tcp_info info;

	tcp_get_info(sk, &info);
	lock_sock(sk);
	smc = smc_sk(sk);
	if (smc && smc->phase != SMC_PHASE_IDLE)
		info.tcpi_state = smc_sockopt_tcp_state(smc);
	if (smc && smc->phase == SMC_PHASE_SMC)
		opt_fill_conn(smc->conn, &info);
	release_sock(sk);
	return opt_put(&info, sizeof(info), optval, optlen);
}

/**
 * smc_sockopt_get() - getsockopt() except SOL_SOCKET
 * @sk: the sock
 * @level: any
 * @optname: of that level
 * @optval: receives the value
 * @optlen: its room; receives the length of the value
 *
 * Context: Process context, may sleep. Takes the socket lock.
 * Return: 0 or TCP's result; -EOPNOTSUPP for an option that cannot apply; -EFAULT.
 */
int smc_sockopt_get(struct sock *sk, int level, int optname, char __user *optval,
		    int __user *optlen)
{
	bool is_on_smc;
	int rc;

	guard(smc_call)(sk);
	if (level == SOL_SMC)
		return opt_get_smc(sk, optname, optval, optlen);
	if (level == SOL_TCP && optname == TCP_INFO)
		return opt_get_tcp_info(sk, optval, optlen);
	if (level == SOL_TCP && optname == TCP_ULP && opt_get_ulp(sk, optval, optlen, &rc))
		return rc;
	if (level == SOL_TCP && optname == TCP_ZEROCOPY_RECEIVE) {
		rcu_read_lock();
		is_on_smc = smc_sk(sk) && READ_ONCE(smc_sk(sk)->phase) != SMC_PHASE_IDLE;
		rcu_read_unlock();
		/* it would read bytes of TCP */
		if (is_on_smc)
			return -EOPNOTSUPP;
	}
	return smc_tcp_prot(sk)->getsockopt(sk, level, optname, optval, optlen);
}
