// SPDX-License-Identifier: Apache-2.0
/* Windows of a fixed time, and the lower quartile of what an operation takes in them: in the others it may have met a
 * neighbour. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MAX_WINDOWS 64

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double window(void (*operation)(void), double nanos) {
    double start = now(), end;
    long done = 0;
    do {
        for (int i = 0; i < 100; i++) operation();
        done += 100;
        end = now();
    } while (end - start < nanos);
    return (end - start) / done;
}

/* after one window to warm up; not all need it */
__attribute__((unused)) static double lower_quartile(void (*operation)(void), double nanos, int windows) {
    double each[MAX_WINDOWS];
    window(operation, nanos);
    for (int i = 0; i < windows; i++) each[i] = window(operation, nanos);
    qsort(each, windows, sizeof *each, ascending);
    return each[windows / 4];
}
