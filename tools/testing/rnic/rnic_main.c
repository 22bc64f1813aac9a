// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of the model: "rdma link add NAME type rnic netdev DEV" makes one, and "rdma link
 * delete NAME" removes it. Debugfs has its faults and its counts; see README.md.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/rdma_netlink.h>

#include "rnic.h"

static char *profile = "mlx5";
module_param(profile, charp, 0444);
MODULE_PARM_DESC(profile, "kind of adapter: mlx5, mlx4, bnxt_re, irdma, erdma, hns, strictest");

static char *dma = "bounce";
module_param(dma, charp, 0444);
MODULE_PARM_DESC(dma, "bounce: memory of its own; direct: the kernel's DMA; iommu: behind one");

static char *type = "rnic";
module_param(type, charp, 0444);
MODULE_PARM_DESC(type, "name of the type for \"rdma link add\"");

/* So that a count of instructions by CPU tells a host from its adapter; -1: any CPU. */
int rnic_irq_cpu = -1;
module_param_named(irq_cpu, rnic_irq_cpu, int, 0444);
MODULE_PARM_DESC(irq_cpu, "CPU that completions interrupt");

int rnic_engine_cpu = -1;
module_param_named(engine_cpu, rnic_engine_cpu, int, 0444);
MODULE_PARM_DESC(engine_cpu, "CPU of the threads of devices");

static const struct rnic_profile *the_profile;
static struct dentry *debug_dir;

/* Violations found, and those that the self-test expected, or that are forgiven. */
static atomic_t nr_found, nr_expected;
static bool is_expected;
module_param_named(forgive, is_expected, bool, 0644);
MODULE_PARM_DESC(forgive, "do not report violations: they are those of somebody else's module");

enum { MAX_REPORTS = 20 };

/**
 * rnic_violation() - report what an adapter does not forgive
 * @dev: device
 * @fmt: what it is
 *
 * Context: Any context.
 */
void rnic_violation(struct rnic_dev *dev, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	if (READ_ONCE(is_expected)) {
		atomic_inc(&nr_expected);
		return;
	}
	if (atomic_inc_return(&nr_found) > MAX_REPORTS)
		return;
	va_start(args, fmt);
	vaf.va = &args;
	WARN(1, "rnic: violation on %s: %pV\n", dev->netdev->name, &vaf);
	va_end(args);
}

/**
 * rnic_expect() - the following violations are expected, or no longer
 * @expected: they are; their count begins at zero
 */
void rnic_expect(bool expected)
{
	if (expected)
		atomic_set(&nr_expected, 0);
	WRITE_ONCE(is_expected, expected);
}

/**
 * rnic_nr_violations() - number of violations
 * @expected: those that the self-test expected
 */
int rnic_nr_violations(bool expected)
{
	return atomic_read(expected ? &nr_expected : &nr_found);
}

/**
 * rnic_verb_sleep() - take the time of a command to the firmware
 * @dev: device
 *
 * Context: Process context.
 */
void rnic_verb_sleep(struct rnic_dev *dev)
{
	u32 us = dev->profile->verb_us;

	might_sleep();
	usleep_range(us, us + us / 4);
}

static bool take_one(u32 *count)
{
	u32 left = READ_ONCE(*count);

	while (left)
		if (try_cmpxchg(count, &left, left - 1))
			return true;
	return false;
}

static bool is_to_fail(struct rnic_calls *calls)
{
	/* pairs with set_calls() */
	if (!smp_load_acquire(&calls->fail) || take_one(&calls->skip) || !take_one(&calls->fail))
		return false;
	atomic_inc(&calls->failed);
	return true;
}

/* Calls that are counted over all devices; the rest is not used. */
struct rnic_faults rnic_all;

/**
 * rnic_fails() - does this call fail
 * @dev: device
 * @calls: those of its verb, which has done nothing yet
 *
 * Context: Any context.
 */
bool rnic_fails(struct rnic_dev *dev, struct rnic_calls *calls)
{
	size_t offset = (void *)calls - (void *)&dev->faults;

	return is_to_fail(calls) || is_to_fail((void *)&rnic_all + offset);
}

/**
 * rnic_verb() - begin a verb that is a command to the firmware
 * @dev: device
 * @calls: those of the verb
 *
 * Context: Process context.
 * Return: 0, or -EIO if the call is to fail.
 */
int rnic_verb(struct rnic_dev *dev, struct rnic_calls *calls)
{
	rnic_verb_sleep(dev);
	return rnic_fails(dev, calls) ? -EIO : 0;
}

static int rnic_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			     struct ib_udata *udata)
{
	const struct rnic_profile *p = to_rnic(ib)->profile;

	*attr = (struct ib_device_attr){
		.max_mr_size = ~0ULL,
		.page_size_cap = ~(u64)(p->min_page - 1) & 0xffffffff,
		.max_qp = 65536,
		.max_qp_wr = p->max_wr,
		.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
		.kernel_cap_flags = IBK_LOCAL_DMA_LKEY | IBK_ALLOW_USER_UNREG,
		.max_send_sge = p->max_send_sge,
		.max_recv_sge = p->max_recv_sge,
		.max_cq = 65536,
		.max_cqe = 65536,
		.max_mr = 65536,
		.max_pd = 65536,
		.max_qp_rd_atom = 16,
		.max_qp_init_rd_atom = 16,
		.max_fast_reg_page_list_len = p->max_pages,
		.max_pkeys = 1,
		.sys_image_guid = ib->node_guid,
	};
	return 0;
}

static bool is_up(const struct rnic_dev *dev)
{
	return netif_running(dev->netdev) && netif_carrier_ok(dev->netdev);
}

static int rnic_query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct rnic_dev *dev = to_rnic(ib);
	bool up = is_up(dev);

	might_sleep();
	if (dev->profile->habits & RNIC_PORT_RTNL) {
		rtnl_lock();
		up = is_up(dev);
		rtnl_unlock();
	}
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = iboe_get_mtu(READ_ONCE(dev->netdev->mtu)) ?: IB_MTU_256;
	attr->gid_tbl_len = 128;
	attr->pkey_tbl_len = 1;
	attr->max_msg_sz = 1 << 30;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	attr->ip_gids = true;
	return 0;
}

static int rnic_get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *p)
{
	p->core_cap_flags = RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP;
	if (to_rnic(ib)->profile->habits & RNIC_HAS_V1)
		p->core_cap_flags |= RDMA_CORE_CAP_PROT_ROCE;
	p->pkey_tbl_len = 1;
	p->gid_tbl_len = 128;
	return 0;
}

static enum rdma_link_layer rnic_get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int rnic_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff;
	return index ? -EINVAL : 0;
}

static int rnic_add_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int rnic_del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int rnic_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct rnic_dev *dev = to_rnic(pd->device);

	return rnic_verb(dev, &dev->faults.create);
}

static int rnic_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static const struct rdma_stat_desc stat_descs[RNIC_NR_STATS] = {
	[RNIC_STAT_SENT_PKTS].name = "sent_pkts",
	[RNIC_STAT_RCVD_PKTS].name = "rcvd_pkts",
	[RNIC_STAT_DUPLICATE].name = "duplicate_request",
	[RNIC_STAT_OUT_OF_SEQ].name = "out_of_seq_request",
	[RNIC_STAT_RCVD_RNR].name = "rcvd_rnr_err",
	[RNIC_STAT_SENT_RNR].name = "send_rnr_err",
	[RNIC_STAT_RCVD_SEQ].name = "rcvd_seq_err",
	[RNIC_STAT_RETRY_EXC].name = "retry_exceeded_err",
	[RNIC_STAT_RNR_EXC].name = "retry_rnr_exceeded_err",
	[RNIC_STAT_RETRIES].name = "completer_retry_err",
	[RNIC_STAT_SEND_ERR].name = "send_err",
	[RNIC_STAT_LINK_DOWNED].name = "link_downed",
	[RNIC_STAT_SENDS].name = "rdma_sends",
	[RNIC_STAT_RECVS].name = "rdma_recvs",
	[RNIC_STAT_WRITES].name = "rdma_writes",
	[RNIC_STAT_INLINE].name = "inline_sends",
	[RNIC_STAT_EVENTS].name = "completion_events",
};

static struct rdma_hw_stats *rnic_alloc_hw_port_stats(struct ib_device *ib, u32 port)
{
	return rdma_alloc_hw_stats_struct(stat_descs, RNIC_NR_STATS,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static int rnic_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port, int index)
{
	int i;

	if (!port)
		return -EINVAL;
	for (i = 0; i < RNIC_NR_STATS; i++)
		stats->value[i] = atomic64_read(&to_rnic(ib)->stats[i]);
	return RNIC_NR_STATS;
}

/* What is left when no client uses the device any more. */
static void check_empty(struct rnic_dev *dev)
{
	if (!xa_empty(&dev->qps))
		rnic_violation(dev, "QPs are left");
	if (!xa_empty(&dev->mrs))
		rnic_violation(dev, "MRs are left");
	rnic_dma_check_empty(dev);
	xa_destroy(&dev->qps);
	xa_destroy(&dev->mrs);
}

static void tear_down(struct rnic_dev *dev)
{
	debugfs_remove_recursive(dev->dir);
	unregister_netdevice_notifier(&dev->netdev_nb);
	rnic_wire_close(dev);
	rnic_engine_stop(dev);
	check_empty(dev);
	rnic_dma_detach(dev);
	dev_put(dev->netdev);
}

static void rnic_dealloc_driver(struct ib_device *ib)
{
	tear_down(to_rnic(ib));
}

static const struct ib_device_ops rnic_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_no_driver_id_binding = 1,
	.add_gid = rnic_add_gid,
	.alloc_hw_port_stats = rnic_alloc_hw_port_stats,
	.alloc_mr = rnic_alloc_mr,
	.alloc_pd = rnic_alloc_pd,
	.create_cq = rnic_create_cq,
	.create_qp = rnic_create_qp,
	.dealloc_driver = rnic_dealloc_driver,
	.dealloc_pd = rnic_dealloc_pd,
	.del_gid = rnic_del_gid,
	.dereg_mr = rnic_dereg_mr,
	.destroy_cq = rnic_destroy_cq,
	.destroy_qp = rnic_destroy_qp,
	.get_dma_mr = rnic_get_dma_mr,
	.get_hw_stats = rnic_get_hw_stats,
	.get_link_layer = rnic_get_link_layer,
	.get_port_immutable = rnic_get_port_immutable,
	.map_mr_sg = rnic_map_mr_sg,
	.modify_qp = rnic_modify_qp,
	.poll_cq = rnic_poll_cq,
	.post_recv = rnic_post_recv,
	.post_send = rnic_post_send,
	.query_device = rnic_query_device,
	.query_pkey = rnic_query_pkey,
	.query_port = rnic_query_port,
	.query_qp = rnic_query_qp,
	.reg_user_mr = rnic_reg_user_mr,
	.req_notify_cq = rnic_req_notify_cq,
	INIT_RDMA_OBJ_SIZE(ib_cq, rnic_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, rnic_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, rnic_qp, ib),
};

static void dispatch(struct rnic_dev *dev, enum ib_event_type what)
{
	struct ib_event event = { .device = &dev->ib, .event = what, .element.port_num = 1 };

	ib_dispatch_event(&event);
}

/* What drivers tell the core of the port: less than soft-RoCE does. */
static void on_port(struct rnic_dev *dev, unsigned long event)
{
	u32 habit = event == NETDEV_CHANGE ? RNIC_EVENT_CARRIER : RNIC_EVENT_ADMIN;
	bool up = is_up(dev);

	/* not yet, when the notifier is registered */
	if (up && dev_name(&dev->ib.dev))
		pr_info("%s: set active\n", dev_name(&dev->ib.dev));
	if (!(dev->profile->habits & habit) || up == dev->was_up)
		return;
	dev->was_up = up;
	if (!up)
		rnic_count(dev, RNIC_STAT_LINK_DOWNED);
	dispatch(dev, up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

static int on_netdev(struct notifier_block *nb, unsigned long event, void *info)
{
	struct rnic_dev *dev = container_of(nb, struct rnic_dev, netdev_nb);

	if (netdev_notifier_info_to_dev(info) != dev->netdev)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		on_port(dev, event);
		break;
	case NETDEV_UNREGISTER:
		if (ib_device_try_get(&dev->ib))
			ib_unregister_device_queued(&dev->ib);
		break;
	}
	return NOTIFY_DONE;
}

/* Debugfs */

/* A fatal error: all QPs fail, and from now on the device behaves as its profile says. */
static void be_fatal(struct rnic_dev *dev)
{
	enum rnic_fatal what = dev->profile->fatal;
	struct rnic_qp *qp;
	unsigned long id;

	if (what == RNIC_FATAL_RANDOM)
		what = get_random_u32_below(RNIC_FATAL_RANDOM);
	mutex_lock(&dev->lock);
	WRITE_ONCE(dev->fatal, what + 1);
	WRITE_ONCE(dev->faults.cut, 1);
	if (what == RNIC_FATAL_LOSES_CQES)
		WRITE_ONCE(dev->faults.dead, 1);
	xa_for_each(&dev->qps, id, qp) {
		if (qp->state == IB_QPS_RESET)
			continue;
		rnic_qp_set_state(qp, IB_QPS_ERR);
		rnic_flush(qp);
	}
	/* the flushes have caused the last events */
	if (what == RNIC_FATAL_FLUSHES)
		WRITE_ONCE(dev->faults.quiet, 1);
	mutex_unlock(&dev->lock);
	rnic_kick(dev);
	dispatch(dev, IB_EVENT_DEVICE_FATAL);
}

#define FAULT(name) { #name, offsetof(struct rnic_faults, name) }
struct fault_name {
	const char *name;
	size_t offset;
};

static const struct fault_name fault_names[] = {
	FAULT(dead), FAULT(dead_send), FAULT(quiet), FAULT(late_us), FAULT(spurious),
	FAULT(shuffle), FAULT(twice), FAULT(cut), FAULT(alloc_pages), FAULT(map_every),
};

/* struct rnic_calls */
static const struct fault_name calls_names[] = {
	FAULT(create), FAULT(modify), FAULT(destroy), FAULT(alloc), FAULT(dereg), FAULT(post),
	FAULT(reg), FAULT(recv),
};

static void *fault_of(struct rnic_faults *faults, const struct fault_name *name)
{
	return (void *)faults + name->offset;
}

static const struct fault_name *name_of(const struct fault_name *names, int nr, const char *name)
{
	int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(name, names[i].name))
			return &names[i];
	return NULL;
}

/* The end of it leaves the number of calls that have failed. */
static void set_calls(struct rnic_calls *calls, u32 fail, u32 skip)
{
	WRITE_ONCE(calls->fail, 0);
	if (!fail)
		return;
	atomic_set(&calls->failed, 0);
	WRITE_ONCE(calls->skip, skip);
	/* pairs with is_to_fail() */
	smp_store_release(&calls->fail, fail);
}

/* "fatal", or "NAME VALUE" */
static ssize_t fault_write(struct file *file, const char __user *data, size_t len, loff_t *pos)
{
	struct rnic_dev *dev = file_inode(file)->i_private;
	char text[40] = "", name[32];
	const struct fault_name *fault;
	u32 value = 1;

	if (len >= sizeof(text) || copy_from_user(text, data, len))
		return -EINVAL;
	if (sscanf(text, "%31s %u", name, &value) < 1)
		return -EINVAL;
	if (!strcmp(name, "fatal")) {
		be_fatal(dev);
		return len;
	}
	fault = name_of(fault_names, ARRAY_SIZE(fault_names), name);
	if (!fault)
		return -EINVAL;
	WRITE_ONCE(*(u32 *)fault_of(&dev->faults, fault), value);
	rnic_kick(dev);
	return len;
}

static const struct file_operations fault_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = fault_write,
};

static int state_show(struct seq_file *s, void *unused)
{
	struct rnic_dev *dev = s->private;
	unsigned long id, qps = 0, mrs = 0;
	void *p;
	int i;

	mutex_lock(&dev->lock);
	xa_for_each(&dev->qps, id, p)
		qps++;
	xa_for_each(&dev->mrs, id, p)
		mrs++;
	mutex_unlock(&dev->lock);
	seq_printf(s, "profile %s\nfatal %d\nqps %lu\nmrs %lu\nmappings %u\n", dev->profile->name,
		   dev->fatal, qps, mrs, READ_ONCE(dev->dma.nr_mappings));
	for (i = 0; i < ARRAY_SIZE(fault_names); i++)
		seq_printf(s, "%s %u\n", fault_names[i].name,
			   *(u32 *)fault_of(&dev->faults, &fault_names[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

/* "NAME CALLS [SKIP]" */
static ssize_t calls_write(struct file *file, const char __user *data, size_t len, loff_t *pos)
{
	const struct fault_name *verb;
	char text[60] = "", name[32];
	u32 fail, skip = 0;

	if (len >= sizeof(text) || copy_from_user(text, data, len))
		return -EINVAL;
	if (sscanf(text, "%31s %u %u", name, &fail, &skip) < 2)
		return -EINVAL;
	verb = name_of(calls_names, ARRAY_SIZE(calls_names), name);
	if (!verb)
		return -EINVAL;
	set_calls(fault_of(file_inode(file)->i_private, verb), fail, skip);
	return len;
}

static int calls_show(struct seq_file *s, void *unused)
{
	const struct rnic_calls *calls;
	int i;

	for (i = 0; i < ARRAY_SIZE(calls_names); i++) {
		calls = fault_of(s->private, &calls_names[i]);
		seq_printf(s, "%s %u %u failed %d\n", calls_names[i].name, calls->fail,
			   calls->skip, atomic_read(&calls->failed));
	}
	return 0;
}

static int calls_open(struct inode *inode, struct file *file)
{
	return single_open(file, calls_show, inode->i_private);
}

static const struct file_operations calls_fops = {
	.owner = THIS_MODULE,
	.open = calls_open,
	.read = seq_read,
	.write = calls_write,
	.release = single_release,
};

static int violations_get(void *unused, u64 *value)
{
	*value = rnic_nr_violations(false);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(violations_fops, violations_get, NULL, "%llu\n");

static struct rnic_dev *device_of(const char *name)
{
	struct ib_device *ib = ib_device_get_by_name(name, RDMA_DRIVER_UNKNOWN);

	if (ib && ib->ops.owner == THIS_MODULE)
		return to_rnic(ib);
	if (ib)
		ib_device_put(ib);
	return NULL;
}

/* "A B": the self-test of two devices; fails with its error */
static ssize_t selftest_write(struct file *file, const char __user *data, size_t len, loff_t *pos)
{
	char text[64] = "", name_a[20], name_b[20];
	struct rnic_dev *a, *b;
	int rc = -ENODEV;

	if (len >= sizeof(text) || copy_from_user(text, data, len) ||
	    sscanf(text, "%19s %19s", name_a, name_b) != 2)
		return -EINVAL;
	a = device_of(name_a);
	b = device_of(name_b);
	if (a && b)
		rc = rnic_selftest(a, b);
	if (a)
		ib_device_put(&a->ib);
	if (b)
		ib_device_put(&b->ib);
	return rc ?: len;
}

static const struct file_operations selftest_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = selftest_write,
};

/* Devices */

static int set_up(struct rnic_dev *dev)
{
	int rc;

	rc = rnic_dma_attach(dev, dma);
	if (rc)
		return rc;
	rc = rnic_engine_start(dev);
	if (rc)
		goto out_dma;
	rc = rnic_wire_open(dev);
	if (rc)
		goto out_engine;
	dev->netdev_nb.notifier_call = on_netdev;
	rc = register_netdevice_notifier(&dev->netdev_nb);
	if (rc)
		goto out_wire;
	return 0;
out_wire:
	rnic_wire_close(dev);
out_engine:
	rnic_engine_stop(dev);
out_dma:
	rnic_dma_detach(dev);
	return rc;
}

static void describe(struct rnic_dev *dev)
{
	struct ib_device *ib = &dev->ib;

	strscpy(ib->node_desc, "rnic", sizeof(ib->node_desc));
	ib->node_type = RDMA_NODE_IB_CA;
	ib->phys_port_cnt = 1;
	ib->num_comp_vectors = num_possible_cpus();
	ib->local_dma_lkey = RNIC_DMA_LKEY;
	addrconf_addr_eui48((u8 *)&ib->node_guid, dev->netdev->dev_addr);
}

static int rnic_newlink(const char *name, struct net_device *netdev)
{
	struct ib_device *bound = ib_device_get_by_netdev(netdev, RDMA_DRIVER_UNKNOWN);
	struct rnic_dev *dev;
	int rc;

	if (bound) {
		ib_device_put(bound);
		return -EEXIST;
	}
	dev = ib_alloc_device(rnic_dev, ib);
	if (!dev)
		return -ENOMEM;
	dev->profile = the_profile;
	dev->netdev = netdev;
	dev_hold(netdev);
	dev->was_up = is_up(dev);
	dev->faults.shuffle = !!(the_profile->habits & RNIC_SHUFFLES);
	rnic_dma_init(&dev->dma);
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC);
	describe(dev);
	rc = set_up(dev);
	if (rc) {
		dev_put(netdev);
		ib_dealloc_device(&dev->ib);
		return rc;
	}
	/* from here on, ib_dealloc_device() also tears down */
	ib_set_device_ops(&dev->ib, &rnic_ops);
	rc = ib_device_set_netdev(&dev->ib, netdev, 1);
	if (rc)
		goto out;
	dev->dir = debugfs_create_dir(name, debug_dir);
	debugfs_create_file("fault", 0200, dev->dir, dev, &fault_fops);
	debugfs_create_file("calls", 0600, dev->dir, &dev->faults, &calls_fops);
	debugfs_create_file("state", 0400, dev->dir, dev, &state_fops);
	/* as soft-RoCE says it; clients use the device before the call returns */
	if (dev->was_up)
		pr_info("%s: set active\n", name);
	rc = ib_register_device(&dev->ib, name, dev->device);
out:
	if (rc)
		ib_dealloc_device(&dev->ib);
	return rc;
}

static struct rdma_link_ops rnic_link_ops = {
	.newlink = rnic_newlink,
};

/* -1, or a CPU that is online */
static bool __init is_cpu(int cpu)
{
	return cpu == -1 || (cpu >= 0 && cpu < nr_cpu_ids && cpu_online(cpu));
}

static int __init rnic_init(void)
{
	the_profile = rnic_profile_find(profile);
	if (!the_profile)
		return -EINVAL;
	if (!is_cpu(rnic_irq_cpu) || !is_cpu(rnic_engine_cpu))
		return -EINVAL;
	debug_dir = debugfs_create_dir("rnic", NULL);
	debugfs_create_file_unsafe("violations", 0400, debug_dir, NULL, &violations_fops);
	debugfs_create_file("calls", 0600, debug_dir, &rnic_all, &calls_fops);
	debugfs_create_file("selftest", 0200, debug_dir, NULL, &selftest_fops);
	rnic_link_ops.type = type;
	rdma_link_register(&rnic_link_ops);
	return 0;
}

static void __exit rnic_exit(void)
{
	rdma_link_unregister(&rnic_link_ops);
	ib_unregister_driver(RDMA_DRIVER_UNKNOWN);
	debugfs_remove_recursive(debug_dir);
}

module_init(rnic_init);
module_exit(rnic_exit);
MODULE_DESCRIPTION("strict model of an RNIC, for tests");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RDMA_LINK("rnic");
