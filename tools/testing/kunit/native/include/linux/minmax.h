/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NATIVE_LINUX_MINMAX_H
#define NATIVE_LINUX_MINMAX_H

#define min_t(type, a, b)	({ type _a = (a), _b = (b); _a < _b ? _a : _b; })
#define max_t(type, a, b)	({ type _a = (a), _b = (b); _a > _b ? _a : _b; })
#define clamp_t(type, value, low, high)	min_t(type, max_t(type, value, low), high)

#define min(a, b)	min_t(typeof((a) + (b)), a, b)
#define max(a, b)	max_t(typeof((a) + (b)), a, b)
#define min_not_zero(a, b)	({ typeof(a) _x = (a); typeof(b) _y = (b);		\
				   !_x ? _y : !_y ? _x : min(_x, _y); })
#define min3(a, b, c)	min(min(a, b), c)
#define max3(a, b, c)	max(max(a, b), c)
#define swap(a, b)	do { typeof(a) _swap = (a); (a) = (b); (b) = _swap; } while (0)

#endif
