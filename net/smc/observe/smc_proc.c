// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/smc4 and /proc/net/smc6: the sockets of a namespace that sock_diag shows, one a line,
 * for any user. The columns are the first ten of /proc/net/tcp, then the mode. States are those of
 * sock_diag; 01, 07 and 0A mean the same on TCP. No line has an address of the kernel.
 *
 * No lock is held between two lines. Sockets that come and go meanwhile may be missed.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <net/inet_sock.h>

#include "group/smc_core.h"
#include "observe/smc_proc.h"
#include "sock/smc_fallback.h"
#include "sock/smc_sock.h"

#define SMC_PROC_HEAD	\
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode mode"

/* One line. */
struct smc_proc_line {
	struct smc_diag_msg msg;	/* see smc_fallback_describe() */
	u32 tx_queue;			/* bytes that are not acknowledged */
	u32 rx_queue;			/* bytes to read; of a listener: connections */
};

/**
 * struct smc_proc_walk - where a reader is
 * @net: keeps the namespace of the file
 * @family: of the file: AF_INET or AF_INET6
 * @sock: of the sockets; see smc_sock_for_each()
 * @record: of the connections on TCP; see smc_fallback_next()
 * @pos: of @line, counted from 1; 0 at first
 * @line: the last line that was found
 */
struct smc_proc_walk {
	struct seq_net_private net;
	unsigned long family;
	unsigned long sock;
	unsigned int record;
	loff_t pos;
	struct smc_proc_line line;
};

/* State and queues; the mode is known. */
static void proc_read(const struct smc_sock *smc, struct smc_proc_line *line)
{
	struct smc_conn *conn;

	rcu_read_lock();
	/* a child has a copy of its listener's */
	line->rx_queue = rcu_access_pointer(smc->listener) ? READ_ONCE(smc->sk->sk_ack_backlog) : 0;
	line->msg.state = smc_sock_shown_state(smc);
	/* pairs with smp_store_release() in smc_sock_make_conn() */
	conn = smp_load_acquire(&smc->conn);
	if (conn) {
		line->tx_queue = smc_conn_unacked(conn);
		line->rx_queue = smc_conn_readable(conn);
	}
	rcu_read_unlock();
}

/* Called in an RCU read section. Return: 1 to end the walk at a socket of this file. */
static int proc_visit(struct smc_sock *smc, void *arg)
{
	struct smc_proc_walk *walk = arg;
	struct smc_proc_line *line = &walk->line;

	memset(line, 0, sizeof(*line));
	smc_fallback_describe(smc->sk, &line->msg);
	if (line->msg.family != walk->family)
		return 0;
	line->msg.mode = smc->fallback != SMC_DECLINE_NONE ? SMC_DIAG_MODE_FALLBACK_TCP :
							     SMC_DIAG_MODE_SMCR;
	proc_read(smc, line);
	return 1;
}

/* Finds the next line. */
static bool proc_advance(struct smc_proc_walk *walk)
{
	struct net *net = walk->net.net;
	struct smc_fallback_record rec;

	if (smc_sock_for_each(net, &walk->sock, proc_visit, walk)) {
		walk->sock++;
		return true;
	}
	while (smc_fallback_next(net, &walk->record, &rec)) {
		if (rec.msg.family != walk->family)
			continue;
		walk->line = (struct smc_proc_line){ .msg = rec.msg };
		walk->line.msg.state = SMC_DIAG_ST_ACTIVE;
		walk->line.msg.mode = SMC_DIAG_MODE_FALLBACK_TCP;
		return true;
	}
	return false;
}

static void *proc_seek(struct smc_proc_walk *walk, loff_t pos)
{
	if (pos < walk->pos) {
		walk->sock = 0;
		walk->record = 0;
		walk->pos = 0;
	}
	while (walk->pos < pos) {
		if (!proc_advance(walk))
			return NULL;
		walk->pos++;
	}
	return walk;
}

static void *smc_proc_start(struct seq_file *seq, loff_t *pos)
{
	struct smc_proc_walk *walk = seq->private;

	walk->family = (unsigned long)pde_data(file_inode(seq->file));
	return *pos ? proc_seek(walk, *pos) : SEQ_START_TOKEN;
}

static void *smc_proc_next(struct seq_file *seq, void *v, loff_t *pos)
{
	return proc_seek(seq->private, ++*pos);
}

static void smc_proc_stop(struct seq_file *seq, void *v)
{
}

static void proc_show_end(struct seq_file *seq, unsigned long family, const __be32 *addr,
			  __be16 port)
{
	if (family == AF_INET)
		seq_printf(seq, " %08X:%04X", (__force u32)addr[0], ntohs(port));
	else
		seq_printf(seq, " %08X%08X%08X%08X:%04X", (__force u32)addr[0],
			   (__force u32)addr[1], (__force u32)addr[2], (__force u32)addr[3],
			   ntohs(port));
}

static int smc_proc_show(struct seq_file *seq, void *v)
{
	static const char * const modes[] = {
		[SMC_DIAG_MODE_SMCR] = "SMC-R",
		[SMC_DIAG_MODE_FALLBACK_TCP] = "TCP",
	};
	const struct smc_proc_walk *walk = seq->private;
	const struct smc_proc_line *line = &walk->line;
	const struct smc_diag_msg *msg = &line->msg;

	if (v == SEQ_START_TOKEN) {
		seq_puts(seq, SMC_PROC_HEAD "\n");
		return 0;
	}
	seq_printf(seq, "%4lld:", walk->pos - 1);
	proc_show_end(seq, walk->family, msg->id.idiag_src, msg->id.idiag_sport);
	proc_show_end(seq, walk->family, msg->id.idiag_dst, msg->id.idiag_dport);
	/* no timer, nothing retransmitted */
	seq_printf(seq, " %02X %08X:%08X 00:00000000 00000000 %5u        0 %llu %s\n", msg->state,
		   line->tx_queue, line->rx_queue,
		   from_kuid_munged(seq_user_ns(seq), KUIDT_INIT(msg->uid)),
		   (unsigned long long)msg->inode, modes[msg->mode]);
	return 0;
}

static const struct seq_operations smc_proc_ops __maybe_unused = {
	.start	= smc_proc_start,
	.next	= smc_proc_next,
	.stop	= smc_proc_stop,
	.show	= smc_proc_show,
};

static int __net_init smc_proc_init_net(struct net *net)
{
	/* there is no file, which is no error */
	if (!IS_ENABLED(CONFIG_PROC_FS))
		return 0;
	if (!proc_create_net_data("smc4", 0444, net->proc_net, &smc_proc_ops,
				  sizeof(struct smc_proc_walk), (void *)AF_INET))
		return -ENOMEM;
	if (proc_create_net_data("smc6", 0444, net->proc_net, &smc_proc_ops,
				 sizeof(struct smc_proc_walk), (void *)AF_INET6))
		return 0;
	remove_proc_entry("smc4", net->proc_net);
	return -ENOMEM;
}

static void __net_exit smc_proc_exit_net(struct net *net)
{
	remove_proc_entry("smc6", net->proc_net);
	remove_proc_entry("smc4", net->proc_net);
}

static struct pernet_operations smc_proc_net_ops = {
	.init	= smc_proc_init_net,
	.exit	= smc_proc_exit_net,
};

/**
 * smc_proc_init() - create the files in each namespace
 *
 * Context: Process context, module load; sockets can be listed.
 * Return: 0 or -ENOMEM.
 */
int smc_proc_init(void)
{
	return register_pernet_subsys(&smc_proc_net_ops);
}

/**
 * smc_proc_exit() - remove the files
 *
 * No file operation runs when this returns.
 *
 * Context: Process context, module unload.
 */
void smc_proc_exit(void)
{
	unregister_pernet_subsys(&smc_proc_net_ops);
}
