// SPDX-License-Identifier: Apache-2.0
/* What waking processes costs that sleep in a read of a unix socket, and then look at the ends of memory that all have
   mapped: 32 bytes go to each, whatever the memory's size. Nanoseconds until the last one has looked, the median.
   Usage: c_wake fan-out|round-trip PROCESSES-BYTES MILLIS WINDOWS, the first two joined by a dash */
#define _GNU_SOURCE
#include "c_window.h"
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST 256
#define RECORD 32
#define ROUNDS 25
#define WARM_UP 10

static int sockets[MOST];
static volatile double *looked;
static volatile uint64_t *memory;
static size_t words;

static void fail(const char *what) {
    perror(what);
    exit(2);
}

static void pause_for(long nanos) {
    struct timespec t = {0, nanos};
    nanosleep(&t, NULL);
}

static void look(void) {
    if (memory[0] != words || memory[words - 1] != words) {
        fprintf(stderr, "c_wake: other words\n");
        exit(2);
    }
}

static void receiver(int index, int socket, int answers) {
    char record[RECORD];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(socket, record, RECORD) == RECORD) {
        look();
        if (answers && write(socket, record, RECORD) != RECORD) fail("write");
        looked[index] = now();
    }
    exit(0);
}

static double fan_out(int processes) {
    char record[RECORD] = {0};
    double last = 0;
    for (int i = 0; i < processes; i++) looked[i] = 0;
    pause_for(5000000);
    double start = now();
    for (int i = 0; i < processes; i++)
        if (write(sockets[i], record, RECORD) != RECORD) fail("write");
    for (int i = 0; i < processes; i++) {
        while (looked[i] == 0) pause_for(1000000);
        if (looked[i] > last) last = looked[i];
    }
    return last - start;
}

static double round_trip(int times) {
    char record[RECORD] = {0};
    double start = now();
    for (int i = 0; i < times; i++) {
        if (write(sockets[0], record, RECORD) != RECORD || read(sockets[0], record, RECORD) != RECORD) fail("socket");
        look();
    }
    return (now() - start) / times;
}

int main(int argc, char **argv) {
    int processes = 0, trips;
    size_t bytes = 0;
    if (argc != 4) return 2;
    trips = !strncmp(argv[1], "round-trip-", 11);
    if (sscanf(argv[1] + (trips ? 11 : 8), "%d-%zu", &processes, &bytes) != 2 || processes < 1 || processes > MOST
        || bytes < 16)
        return 2;
    words = bytes / 8;
    int fd = memfd_create("c_wake", 0);
    if (fd < 0 || ftruncate(fd, bytes)) fail("memfd");
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    looked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || looked == MAP_FAILED) fail("mmap");
    for (size_t i = 0; i < words; i++) memory[i] = words;
    for (int i = 0; i < processes; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) fail("socketpair");
        pid_t child = fork();
        if (child < 0) fail("fork");
        if (child == 0) {
            /* of those before it: their end is the parent's alone */
            for (int j = 0; j < i; j++) close(sockets[j]);
            close(pair[0]);
            receiver(i, pair[1], trips);
        }
        close(pair[1]);
        sockets[i] = pair[0];
    }
    double each[ROUNDS];
    for (int i = -WARM_UP; i < ROUNDS; i++) {
        double nanos = trips ? round_trip(1000) : fan_out(processes);
        if (i >= 0) each[i] = nanos;
    }
    qsort(each, ROUNDS, sizeof *each, ascending);
    printf("%.0f\n", each[ROUNDS / 2]);
    return 0;
}
