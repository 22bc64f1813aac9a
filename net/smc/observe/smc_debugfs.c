// SPDX-License-Identifier: GPL-2.0
/*
 * Operator access to link groups and links: debugfs, smc/links.
 *
 * A read lists all link groups with their links. Writing "GROUP LINK", with the numbers of the
 * list, ends one link in order: the peer is notified, and its connections move to other links. It
 * does not wait for them: a client stops the queue once its response to DELETE LINK is sent, and
 * data in flight is sent again on another link, so nothing is lost. Connections of the last link
 * are reset. "GROUP all" ends the group with its connections. RFC 7609 3.5.4, 3.5.5.1.3,
 * 3.5.5.1.4 (LGT-03, DELL-01).
 *
 * A kernel without debugfs lacks only this file.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "rdma/smc_fault.h"
#include "group/smc_link.h"
#include "group/smc_llc.h"
#include "observe/smc_debugfs.h"

#define SMC_OPER_LINE	64

static struct dentry *smc_debugfs_dir;

static void oper_show_link(struct seq_file *m, const struct smc_link *link)
{
	seq_printf(m, "  link %u %s %s port %u gid %pI6 peer gid %pI6 uid %08x peer uid %08x connections %d\n",
		   link->num, smc_state_link_names[link->state], link->wr.dev_name,
		   link->wr.end.port, link->wr.end.gid.raw, link->peer.gid, link->uid,
		   link->peer_uid, atomic_read(&link->nr_conns));
}

static void oper_show_group(struct smc_link_group *lgr, void *arg)
{
	struct seq_file *m = arg;
	int i;

	mutex_lock(&lgr->lock);
	seq_printf(m, "group %08x %s %s %s peer %8phN connections %u%s\n", lgr->id,
		   lgr->key.role == SMC_ROLE_SERVER ? "server" : "client",
		   smc_state_lgr_names[READ_ONCE(lgr->state)], smc_state_lgr_type_names[lgr->type],
		   lgr->peer_name, READ_ONCE(lgr->nr_conns),
		   lgr->ext & SMC_LLC_EXT_IMMEDIATE ? " immediate data" : "");
	for (i = 0; i < SMC_LINKS_MAX; i++)
		if (lgr->links[i])
			oper_show_link(m, lgr->links[i]);
	mutex_unlock(&lgr->lock);
}

static int oper_show(struct seq_file *m, void *unused)
{
	smc_lgr_for_each(NULL, oper_show_group, m);
	return 0;
}

/* A parsed command; @is_found is set once it matched a group or link. */
struct oper_command {
	u32 id;
	bool is_all;
	u8 num;
	bool is_found;
};

static void oper_execute(struct smc_link_group *lgr, void *arg)
{
	struct oper_command *cmd = arg;
	int i;

	if (lgr->id != cmd->id || READ_ONCE(lgr->state) != SMC_LGR_ACTIVE)
		return;
	if (cmd->is_all) {
		cmd->is_found = true;
		smc_llc_end_group(lgr, SMC_LLC_DELETE_OPERATOR, true);
		return;
	}
	mutex_lock(&lgr->lock);
	for (i = 0; i < SMC_LINKS_MAX; i++) {
		if (!lgr->links[i] || lgr->links[i]->num != cmd->num ||
		    lgr->links[i]->state != SMC_LINK_ACTIVE)
			continue;
		cmd->is_found = true;
		smc_llc_give_up_link(lgr, i);
	}
	mutex_unlock(&lgr->lock);
}

static int oper_parse(char *line, struct oper_command *cmd)
{
	char *id = strsep(&line, " ");

	if (!line || kstrtou32(id, 16, &cmd->id))
		return -EINVAL;
	line = strim(line);
	cmd->is_all = !strcmp(line, "all");
	if (!cmd->is_all && kstrtou8(line, 10, &cmd->num))
		return -EINVAL;
	return 0;
}

static ssize_t oper_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	struct oper_command cmd = {};
	char line[SMC_OPER_LINE];
	int rc;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	line[len] = '\0';
	rc = oper_parse(line, &cmd);
	if (rc)
		return rc;
	smc_lgr_for_each(NULL, oper_execute, &cmd);
	return cmd.is_found ? len : -ENOENT;
}

static int oper_open(struct inode *inode, struct file *file)
{
	return single_open(file, oper_show, NULL);
}

static const struct file_operations oper_fops = {
	.owner		= THIS_MODULE,
	.open		= oper_open,
	.read		= seq_read,
	.write		= oper_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/**
 * smc_debugfs_init() - create the operator's files
 *
 * Context: Process context, module load; link groups can be listed.
 */
void smc_debugfs_init(void)
{
	smc_debugfs_dir = debugfs_create_dir("smc", NULL);
	debugfs_create_file("links", 0600, smc_debugfs_dir, NULL, &oper_fops);
	smc_fault_init(smc_debugfs_dir);
}

/**
 * smc_debugfs_exit() - undo smc_debugfs_init()
 *
 * No file operation runs when this returns.
 *
 * Context: Process context, module unload.
 */
void smc_debugfs_exit(void)
{
	debugfs_remove_recursive(smc_debugfs_dir);
}
