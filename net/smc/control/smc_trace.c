// SPDX-License-Identifier: GPL-2.0
/* Defines the tracepoints that smc_trace.h declares. */
#include "group/smc_core.h"
#include "sock/smc_sock.h"
#include "smc_compat.h"

#define CREATE_TRACE_POINTS
#include "control/smc_trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(smc_switch_to_fallback);
EXPORT_TRACEPOINT_SYMBOL_GPL(smc_tx_sendmsg);
EXPORT_TRACEPOINT_SYMBOL_GPL(smc_rx_recvmsg);
EXPORT_TRACEPOINT_SYMBOL_GPL(smcr_link_down);
