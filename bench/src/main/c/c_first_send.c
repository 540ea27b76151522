// SPDX-License-Identifier: Apache-2.0
/* Sends a page from a mapping of 16 MiB that no ring knows yet: an io_uring that registers the mapping, writes a page of
 * it to a socket, and tells that it is written. Prints the median of the process's microseconds. What is sent from was
 * copied there just before. Usage: c_first_send huge|small MILLIS WINDOWS, of which it heeds the first */
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define SIZE (16 << 20)
#define HUGE_PAGE (2 << 20)
#define SENT 4096
#define MAPPINGS 15
#define WARM_UP 50000
#define NO_LIBRARY 3

static int ring;
static char message[SIZE];
static struct io_uring_params params;
static unsigned *sq_tail, *sq_array, *cq_head, *cq_tail, sq_mask, cq_mask;
static struct io_uring_sqe *entries;
static struct io_uring_cqe *completions;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void open_ring(void) {
    ring = syscall(SYS_io_uring_setup, 64, &params);
    if (ring < 0) {
        perror("c_first_send: io_uring_setup");
        exit(NO_LIBRARY);
    }
    size_t submissions = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    size_t answers = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    int access = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
    char *sq = mmap(NULL, submissions, access, flags, ring, IORING_OFF_SQ_RING);
    char *cq = mmap(NULL, answers, access, flags, ring, IORING_OFF_CQ_RING);
    entries = mmap(NULL, params.sq_entries * sizeof *entries, access, flags, ring, IORING_OFF_SQES);
    if (sq == MAP_FAILED || cq == MAP_FAILED || entries == MAP_FAILED) die("mmap of the ring");
    sq_tail = (unsigned *)(sq + params.sq_off.tail);
    sq_mask = *(unsigned *)(sq + params.sq_off.ring_mask);
    sq_array = (unsigned *)(sq + params.sq_off.array);
    cq_head = (unsigned *)(cq + params.cq_off.head);
    cq_tail = (unsigned *)(cq + params.cq_off.tail);
    cq_mask = *(unsigned *)(cq + params.cq_off.ring_mask);
    completions = (struct io_uring_cqe *)(cq + params.cq_off.cqes);
    struct io_uring_rsrc_register table = {.nr = 16, .flags = IORING_RSRC_REGISTER_SPARSE};
    if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS2, &table, sizeof table) < 0) {
        perror("c_first_send: IORING_REGISTER_BUFFERS2");
        exit(NO_LIBRARY);
    }
}

static void set_slot(void *memory, size_t length) {
    struct iovec slot = {memory, length};
    struct io_uring_rsrc_update2 update = {.data = (uintptr_t)&slot, .nr = 1};
    if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS_UPDATE, &update, sizeof update) != 1) die("update");
}

static void send_page(void *from, size_t length, int to) {
    set_slot(from, length);
    unsigned tail = *sq_tail;
    struct io_uring_sqe *entry = &entries[tail & sq_mask];
    memset(entry, 0, sizeof *entry);
    entry->opcode = IORING_OP_WRITE_FIXED;
    entry->fd = to;
    entry->addr = (uintptr_t)from;
    entry->len = SENT;
    sq_array[tail & sq_mask] = tail & sq_mask;
    __atomic_store_n(sq_tail, tail + 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1) die("io_uring_enter");
    unsigned head = *cq_head;
    if (head == __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE) || completions[head & cq_mask].res != SENT) {
        fprintf(stderr, "c_first_send: not sent whole\n");
        exit(1);
    }
    __atomic_store_n(cq_head, head + 1, __ATOMIC_RELEASE);
}

static void receive_and_forget(int from) {
    char into[SENT];
    for (size_t at = 0; at < SENT;) {
        ssize_t got = read(from, into + at, SENT - at);
        if (got <= 0) die("read");
        at += got;
    }
    set_slot(NULL, 0);
}

static char *filled(int advice) {
    char *room = mmap(NULL, SIZE + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) die("mmap");
    char *aligned = (char *)(((uintptr_t)room + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    if (madvise(aligned, SIZE, advice)) die("madvise");
    memcpy(aligned, message, SIZE);
    return aligned;
}

static double micros(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    int huge = argc == 4 && !strcmp(argv[1], "huge");
    if (!huge && (argc != 4 || strcmp(argv[1], "small"))) {
        fprintf(stderr, "c_first_send: usage: c_first_send huge|small MILLIS WINDOWS\n");
        return 2;
    }
    int pair[2], advice = huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) die("socketpair");
    memset(message, 1, SIZE);
    open_ring();
    char *warm = filled(advice);
    for (int i = 0; i < WARM_UP; i++) {
        send_page(warm, HUGE_PAGE, pair[0]);
        receive_and_forget(pair[1]);
    }
    double each[MAPPINGS];
    for (int i = 0; i < MAPPINGS; i++) {
        char *fresh = filled(advice);
        double start = micros();
        send_page(fresh, SIZE, pair[0]);
        each[i] = micros() - start;
        receive_and_forget(pair[1]);
    }
    qsort(each, MAPPINGS, sizeof *each, ascending);
    printf("%.1f\n", each[MAPPINGS / 2]);
    return 0;
}
