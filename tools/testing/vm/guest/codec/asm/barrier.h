/* SPDX-License-Identifier: GPL-2.0 */
/* The codecs include it; decode.c has what they want of it. */
