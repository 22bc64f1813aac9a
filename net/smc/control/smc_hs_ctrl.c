// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs that decide which SYNs and SYN-ACKs have the TCP option: the type smc_hs_ctrl of
 * struct_ops, and the sysctl net.smc.hs_ctrl with the name of the one that a namespace uses. TCP
 * calls it, in kernels since 6.19 with CONFIG_SMC_HS_CTRL_BPF.
 *
 * Ownership: BPF has the programs. A namespace has a reference on the one that it uses, which goes
 * on to work when user space removes it. BPF waits for RCU readers before it frees one without
 * references, and each holds this module.
 */
#include "control/smc_hs_ctrl.h"

#ifdef SMC_HS_CTRL

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <net/netns/generic.h>
#include <net/smc.h>

/* The file of a namespace. */
struct smc_hs_ctrl_net {
	struct ctl_table file;
	struct ctl_table_header *header;
};

static unsigned int smc_hs_ctrl_net_id;

/* Protects the list, and changes of what a namespace uses. */
static DEFINE_MUTEX(smc_hs_ctrl_lock);
static LIST_HEAD(smc_hs_ctrls);

/* BPF knows the type. */
static bool smc_hs_ctrl_is_known;

static struct smc_hs_ctrl *smc_hs_ctrl_find(const char *name)
{
	struct smc_hs_ctrl *ctrl;

	lockdep_assert_held(&smc_hs_ctrl_lock);
	list_for_each_entry(ctrl, &smc_hs_ctrls, list)
		if (!strcmp(ctrl->name, name))
			return ctrl;
	return NULL;
}

static struct smc_hs_ctrl *smc_hs_ctrl_of(const struct net *net)
{
	return rcu_dereference_protected(net->smc.hs_ctrl, lockdep_is_held(&smc_hs_ctrl_lock));
}

/* @ctrl: with a reference for @net, or NULL */
static void smc_hs_ctrl_replace(struct net *net, struct smc_hs_ctrl *ctrl)
{
	struct smc_hs_ctrl *old = smc_hs_ctrl_of(net);

	rcu_assign_pointer(net->smc.hs_ctrl, ctrl);
	if (old)
		bpf_struct_ops_put(old);
}

/* Use the one with a name, or none for "". Return: 0, or -EINVAL if there is no such name. */
static int smc_hs_ctrl_select(struct net *net, const char *name)
{
	struct smc_hs_ctrl *ctrl = NULL;

	guard(mutex)(&smc_hs_ctrl_lock);
	if (name[0]) {
		ctrl = smc_hs_ctrl_find(name);
		if (!ctrl || !bpf_struct_ops_get(ctrl))
			return -EINVAL;
	}
	smc_hs_ctrl_replace(net, ctrl);
	return 0;
}

static void smc_hs_ctrl_inherit(struct net *net)
{
	struct smc_hs_ctrl *ctrl;

	guard(mutex)(&smc_hs_ctrl_lock);
	ctrl = smc_hs_ctrl_of(&init_net);
	if (ctrl && ctrl->flags & SMC_HS_CTRL_FLAG_INHERITABLE && bpf_struct_ops_get(ctrl))
		smc_hs_ctrl_replace(net, ctrl);
}

static int smc_hs_ctrl_sysctl(SMC_CTL_TABLE *table, int write, void *buffer, size_t *lenp,
			      loff_t *ppos)
{
	/* with room for a character too many, so that no name is cut into a shorter one */
	char name[SMC_HS_CTRL_NAME_MAX + 1] = "";
	struct ctl_table text = { .data = name, .maxlen = sizeof(name) };
	const struct smc_hs_ctrl *ctrl;
	struct net *net = table->data;
	int rc;

	scoped_guard(mutex, &smc_hs_ctrl_lock) {
		ctrl = smc_hs_ctrl_of(net);
		if (ctrl)
			strscpy(name, ctrl->name, sizeof(name));
	}
	rc = proc_dostring(&text, write, buffer, lenp, ppos);
	return rc || !write ? rc : smc_hs_ctrl_select(net, name);
}

static int __net_init smc_hs_ctrl_init_net(struct net *net)
{
	struct smc_hs_ctrl_net *hn = net_generic(net, smc_hs_ctrl_net_id);

	hn->file.procname = "hs_ctrl";
	hn->file.data = net;
	hn->file.maxlen = SMC_HS_CTRL_NAME_MAX;
	hn->file.mode = 0644;
	hn->file.proc_handler = smc_hs_ctrl_sysctl;
	hn->header = register_net_sysctl_sz(net, "net/smc", &hn->file, 1);
	if (!hn->header && IS_ENABLED(CONFIG_SYSCTL))
		return -ENOMEM;
	smc_hs_ctrl_inherit(net);
	return 0;
}

static void __net_exit smc_hs_ctrl_exit_net(struct net *net)
{
	struct smc_hs_ctrl_net *hn = net_generic(net, smc_hs_ctrl_net_id);

	unregister_net_sysctl_table(hn->header);
	smc_hs_ctrl_select(net, "");
}

static struct pernet_operations smc_hs_ctrl_net_ops = {
	.init	= smc_hs_ctrl_init_net,
	.exit	= smc_hs_ctrl_exit_net,
	.id	= &smc_hs_ctrl_net_id,
	.size	= sizeof(struct smc_hs_ctrl_net),
};

/* What BPF asks about a program: it may read what its arguments point to. */

static bool smc_hs_ctrl_is_valid_access(int off, int size, enum bpf_access_type type,
					const struct bpf_prog *prog,
					struct bpf_insn_access_aux *info)
{
	if (type != BPF_READ || off < 0 || off >= (int)sizeof(u64) * MAX_BPF_FUNC_ARGS)
		return false;
	return btf_ctx_access(off, size, type, prog, info);
}

static const struct bpf_verifier_ops smc_hs_ctrl_verifier_ops = {
	.get_func_proto	 = bpf_base_func_proto,
	.is_valid_access = smc_hs_ctrl_is_valid_access,
};

static int smc_hs_ctrl_init_type(struct btf *btf)
{
	smc_hs_ctrl_is_known = true;
	return 0;
}

/* TCP calls in an RCU read section. */
static int smc_hs_ctrl_check_member(const struct btf_type *t, const struct btf_member *member,
				    const struct bpf_prog *prog)
{
	return prog->sleepable ? -EINVAL : 0;
}

/* Return: 1 if the member is copied, 0 to leave it to BPF */
static int smc_hs_ctrl_init_member(const struct btf_type *t, const struct btf_member *member,
				   void *kdata, const void *udata)
{
	const struct smc_hs_ctrl *from = udata;
	struct smc_hs_ctrl *to = kdata;

	switch (__btf_member_bit_offset(t, member) / BITS_PER_BYTE) {
	case offsetof(struct smc_hs_ctrl, name):
		/* "" stands for none */
		return strscpy(to->name, from->name, sizeof(to->name)) > 0 ? 1 : -EINVAL;
	case offsetof(struct smc_hs_ctrl, flags):
		if (from->flags & ~SMC_HS_CTRL_ALL_FLAGS)
			return -EINVAL;
		to->flags = from->flags;
		return 1;
	default:
		return 0;
	}
}

static int smc_hs_ctrl_add(void *kdata, struct bpf_link *link)
{
	struct smc_hs_ctrl *ctrl = kdata;

	guard(mutex)(&smc_hs_ctrl_lock);
	if (smc_hs_ctrl_find(ctrl->name))
		return -EEXIST;
	list_add_tail(&ctrl->list, &smc_hs_ctrls);
	return 0;
}

static void smc_hs_ctrl_del(void *kdata, struct bpf_link *link)
{
	struct smc_hs_ctrl *ctrl = kdata;

	guard(mutex)(&smc_hs_ctrl_lock);
	list_del(&ctrl->list);
}

/* Targets of the indirect calls, for control-flow integrity. */

static int smc_hs_ctrl_syn_stub(struct tcp_sock *tp)
{
	return 1;
}

static int smc_hs_ctrl_synack_stub(const struct tcp_sock *tp, struct inet_request_sock *ireq)
{
	return 1;
}

static struct smc_hs_ctrl smc_hs_ctrl_stubs = {
	.syn_option	= smc_hs_ctrl_syn_stub,
	.synack_option	= smc_hs_ctrl_synack_stub,
};

static struct bpf_struct_ops smc_hs_ctrl_type = {
	.name		= "smc_hs_ctrl",
	.owner		= THIS_MODULE,
	.verifier_ops	= &smc_hs_ctrl_verifier_ops,
	.init		= smc_hs_ctrl_init_type,
	.check_member	= smc_hs_ctrl_check_member,
	.init_member	= smc_hs_ctrl_init_member,
	.reg		= smc_hs_ctrl_add,
	.unreg		= smc_hs_ctrl_del,
	.cfi_stubs	= &smc_hs_ctrl_stubs,
};

/**
 * smc_hs_ctrl_init() - register the type of programs, and create the sysctl of each namespace
 *
 * A build without the kernel's BTF has none, and BPF refuses the type; this is no failure.
 *
 * Context: Process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int smc_hs_ctrl_init(void)
{
	int rc = register_bpf_struct_ops(&smc_hs_ctrl_type, smc_hs_ctrl);

	/* without BTF of the module it returns 0 */
	if (rc || !smc_hs_ctrl_is_known)
		pr_warn("smc: BPF does not know smc_hs_ctrl (%d): was the module built without BTF?\n",
			rc);
	return register_pernet_subsys(&smc_hs_ctrl_net_ops);
}

/**
 * smc_hs_ctrl_exit() - remove the sysctls
 *
 * BPF forgets the type with the module. No program is left, since each holds the module.
 *
 * Context: Process context, may sleep.
 */
void smc_hs_ctrl_exit(void)
{
	unregister_pernet_subsys(&smc_hs_ctrl_net_ops);
}

#endif /* SMC_HS_CTRL */
