// SPDX-License-Identifier: GPL-2.0
/*
 * smc stats --plot: samples the counters once a second and draws two curves each for bytes,
 * messages and connections as SVG, which rsvg-convert makes a PNG of.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "smc.h"

#define SAMPLES_MAX 86400
#define WIDTH 720
#define HEIGHT 160	/* of a panel */
#define LEFT 80
#define TOP 40

static const struct panel {
	const char *title;
	const char *curves[2][2];	/* sums of counters */
	const char *names[2];
} panels[] = {
	{ "bytes per second", { { "tx_bytes" }, { "rx_bytes" } }, { "sent", "received" } },
	{ "messages per second", { { "cdc_tx", "imm_tx" }, { "cdc_rx", "imm_rx" } },
	  { "sent", "received" } },
	{ "new connections per second",
	  { { "client_smc", "server_smc" }, { "client_tcp", "server_tcp" } }, { "SMC", "TCP" } },
};

static const char * const colours[] = { "#1f77b4", "#ff7f0e" };

struct sample {
	double seconds;		/* since the first one */
	uint64_t value[ARRAY_SIZE(panels)][2];
};

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
	(void)number;
	is_interrupted = 1;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static int take(struct sample *sample, double start)
{
	struct stats stats;
	int status = stats_read(&stats);
	size_t panel, curve;

	if (status)
		return status;
	sample->seconds = now() - start;
	for (panel = 0; panel < ARRAY_SIZE(panels); panel++)
		for (curve = 0; curve < 2; curve++) {
			const char * const *of = panels[panel].curves[curve];

			sample->value[panel][curve] = stats_value(&stats, of[0]) +
				(of[1] ? stats_value(&stats, of[1]) : 0);
		}
	return 0;
}

/* The rate between a sample and the one before it */
static double rate(const struct sample *sample, size_t panel, size_t curve)
{
	double seconds = sample->seconds - (sample - 1)->seconds;
	uint64_t moved = sample->value[panel][curve] - (sample - 1)->value[panel][curve];

	/* A module that was loaded again begins at zero. */
	return seconds > 0 && (int64_t)moved >= 0 ? moved / seconds : 0;
}

/* The least of 1, 2 and 5 times a power of ten that is not below the value */
static double round_up(double value)
{
	double power = 1;

	while (power * 10 <= value)
		power *= 10;
	return value <= power ? power : value <= 2 * power ? 2 * power :
	       value <= 5 * power ? 5 * power : 10 * power;
}

static void quantity(char text[32], double value)
{
	static const char units[] = " kMGT";
	const char *unit = units;

	for (; value >= 1000 && unit[1]; unit++)
		value /= 1000;
	snprintf(text, 32, "%g%c", value, *unit);
	text[strcspn(text, " ")] = '\0';
}

static void draw_panel(FILE *file, const struct sample *samples, size_t nr, size_t panel)
{
	double top = TOP + panel * (HEIGHT + 2 * TOP), most = 0, x, y;
	double last = samples[nr - 1].seconds;
	size_t curve, i;
	char text[32];

	for (i = 1; i < nr; i++)
		for (curve = 0; curve < 2; curve++)
			if (rate(&samples[i], panel, curve) > most)
				most = rate(&samples[i], panel, curve);
	most = round_up(most);
	fprintf(file, "<text x=\"%d\" y=\"%g\">%s</text>\n", LEFT, top - 12, panels[panel].title);
	fprintf(file, "<rect x=\"%d\" y=\"%g\" width=\"%d\" height=\"%d\"", LEFT, top, WIDTH,
		HEIGHT);
	fputs(" fill=\"none\" stroke=\"#999\"/>\n", file);
	for (i = 0; i <= 4; i++) {
		y = top + HEIGHT - HEIGHT * i / 4.0;
		quantity(text, most * i / 4);
		fprintf(file, "<path d=\"M%d %g h%d\" stroke=\"#ddd\"/>\n", LEFT, y, WIDTH);
		fprintf(file, "<text x=\"%d\" y=\"%g\" text-anchor=\"end\">%s</text>\n", LEFT - 8,
			y + 4, text);
		fprintf(file, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%.3g s</text>\n",
			LEFT + WIDTH * i / 4.0, top + HEIGHT + 18, last * i / 4);
	}
	for (curve = 0; curve < 2; curve++) {
		fprintf(file, "<text x=\"%zu\" y=\"%g\" fill=\"%s\">%s</text>\n",
			LEFT + WIDTH - 150 + 80 * curve, top - 12, colours[curve],
			panels[panel].names[curve]);
		fprintf(file, "<polyline fill=\"none\" stroke=\"%s\"", colours[curve]);
		fputs(" stroke-width=\"1.5\" points=\"", file);
		for (i = 1; i < nr; i++) {
			x = LEFT + WIDTH * samples[i].seconds / last;
			y = top + HEIGHT - HEIGHT * rate(&samples[i], panel, curve) / most;
			fprintf(file, "%.1f,%.1f ", x, y);
		}
		fputs("\"/>\n", file);
	}
}

static bool is_png(const char *path)
{
	size_t len = strlen(path);

	return len > 4 && !strcmp(path + len - 4, ".png");
}

/* The shell does not see the name of the file as part of the command. */
static FILE *open_plot(const char *path)
{
	if (!is_png(path))
		return fopen(path, "w");
	signal(SIGPIPE, SIG_IGN);
	if (setenv("SMC_PLOT", path, 1))
		return NULL;
	return popen("exec rsvg-convert -o \"$SMC_PLOT\"", "w");
}

static int draw(const char *path, const struct sample *samples, size_t nr)
{
	int height = ARRAY_SIZE(panels) * (HEIGHT + 2 * TOP);
	FILE *file = open_plot(path);
	size_t panel;
	bool failed;

	if (!file) {
		fprintf(stderr, "smc: %s: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\"",
		LEFT + WIDTH + 40, height);
	fputs(" font-family=\"sans-serif\" font-size=\"12\">\n", file);
	fputs("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n", file);
	for (panel = 0; panel < ARRAY_SIZE(panels); panel++)
		draw_panel(file, samples, nr, panel);
	fputs("</svg>\n", file);
	failed = ferror(file);
	if (is_png(path)) {
		if (!pclose(file) && !failed)
			return 0;
		fprintf(stderr, "smc: %s: rsvg-convert failed\n", path);
		return EXIT_FAILURE;
	}
	if (fclose(file) || failed) {
		fprintf(stderr, "smc: %s: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	return 0;
}

/**
 * plot() - sample the counters for a time and draw their rates
 * @args: option p, the file, a PNG if its name ends so; option t, the seconds, 60 by default
 *
 * An interrupt ends the time early.
 *
 * Return: exit status.
 */
int plot(const struct args *args)
{
	struct sigaction action = { .sa_handler = interrupt };
	struct sample *samples;
	double start = now();
	long nr = 0, wanted = 60;
	int status;

	if (!number_option(args, 't', 1, SAMPLES_MAX - 1, &wanted))
		return EXIT_USAGE;
	if (is_png(args->option['p']) && system("command -v rsvg-convert >/dev/null")) {
		fprintf(stderr, "smc: a PNG needs the program rsvg-convert (librsvg2-bin); "
			"an SVG needs none\n");
		return EXIT_USAGE;
	}
	samples = calloc(wanted + 1, sizeof(*samples));
	if (!samples)
		return EXIT_FAILURE;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	do {
		struct timespec until = { .tv_sec = start + nr };

		until.tv_nsec = (start + nr - until.tv_sec) * 1e9;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		status = take(&samples[nr], start);
	} while (!status && ++nr <= wanted && !is_interrupted);
	if (!status && nr < 2) {
		fprintf(stderr, "smc: interrupted before the second sample\n");
		status = EXIT_FAILURE;
	}
	if (!status)
		status = draw(args->option['p'], samples, nr);
	free(samples);
	return status;
}
