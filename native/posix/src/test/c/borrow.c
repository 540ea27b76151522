// SPDX-License-Identifier: Apache-2.0
// An honest borrower that is no JVM: docs/shared-memory.md. It looks at every byte when it comes and before it goes.
// Usage: borrow SOCKET          keeps some of what it gets until its input or its lender ends
//        borrow SOCKET COUNT    keeps so many, and does what its input says, a line each:
//                               check | hangup | lie | exec | end
//        borrow SOCKET COUNT reaped   the same, in a child of a process that has nothing, and stays until all that it
//                               started has ended; and: fork
// Both end with a line "wrong=N messages=N bytes=N left=N"; left: descriptors and mappings that are still there
#define _GNU_SOURCE
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HELLO = -1, SLAB = -2, UNMAP = -3, BYTES = -4 };
enum { MOST_SLABS = 4096, MOST_HELD = 100000, USUALLY_HELD = 40, PAUSE_MILLIS = 20 };
struct to_borrower { uint64_t slab; int32_t slot, generation; uint64_t offset, length; };
struct to_lender { int32_t slot, generation; uint64_t slab; };
struct slab { uint64_t id, bytes; char *map; };
struct lease { uint64_t slab; int32_t slot, generation; const char *at; uint64_t length, seed; };

static struct slab slabs[MOST_SLABS];
static struct lease held[MOST_HELD];
static int slab_count, held_count, connection = -1, string = -1;
static uint64_t wrong, messages, bytes;

static void die(const char *what) { perror(what); exit(2); }

static int count_left(void) {
    int left = -6; // ".", "..", the folder itself; its input, output and errors
    DIR *files = opendir("/proc/self/fd");
    if (!files) die("/proc/self/fd");
    while (readdir(files)) left++;
    closedir(files);
    FILE *maps = fopen("/proc/self/maps", "r");
    for (char line[4096]; maps && fgets(line, sizeof line, maps);) left += strstr(line, "/memfd:") != NULL;
    if (maps) fclose(maps);
    return left;
}

static void say(int32_t slot, int32_t generation, uint64_t slab) {
    struct to_lender out = {htobe32(slot), htobe32(generation), htobe64(slab)};
    if (send(connection, &out, sizeof out, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET) die("send");
}

// 0 at the end
static int hear(struct to_borrower *in, int *file) {
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec io = {in, sizeof *in};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    // gone after an exec, as what a JVM has
    ssize_t got = recvmsg(connection, &m, MSG_WAITALL | MSG_CMSG_CLOEXEC);
    if (got != sizeof *in) return 0;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *file = -1;
    if (c) memcpy(file, CMSG_DATA(c), sizeof *file);
    in->slot = be32toh(in->slot), in->generation = be32toh(in->generation);
    in->slab = be64toh(in->slab), in->offset = be64toh(in->offset), in->length = be64toh(in->length);
    return 1;
}

// 0 if its lender refuses, or is gone
static int borrow(const char *path) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct to_borrower in;
    connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strncpy(a.sun_path, path, sizeof a.sun_path - 1);
    if (connect(connection, (struct sockaddr *)&a, sizeof a)) return perror("connect"), 0;
    say(HELLO, 1, getpid());
    if (!hear(&in, &string) || in.slot != HELLO) return errno = ECONNREFUSED, perror("greeting"), 0;
    return 1;
}

static struct slab *slab(uint64_t id) {
    for (int i = 0; i < slab_count; i++)
        if (slabs[i].id == id) return &slabs[i];
    fprintf(stderr, "borrow: no such slab: %llu\n", (unsigned long long)id);
    exit(3);
}

static void learn(struct to_borrower in, int file) {
    struct slab s = {in.slab, in.length, mmap(NULL, in.length, PROT_READ, MAP_SHARED, file, 0)};
    if (s.map == MAP_FAILED || slab_count == MOST_SLABS) die("mmap");
    close(file);
    slabs[slab_count++] = s;
}

static void unmap(uint64_t id) {
    struct slab *s = slab(id);
    munmap(s->map, s->bytes);
    *s = slabs[--slab_count];
    say(UNMAP, 0, id);
}

static uint64_t word(const char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return be64toh(value);
}

// the seed that it came with, and numbers that follow from it: another message in its place is wrong
static int is_right(struct lease l) {
    uint64_t seed = l.seed, bad = l.length < 8 || l.length % 8 || word(l.at) != seed;
    for (uint64_t i = 0; i + 1 < l.length / 8; i++) {
        uint64_t mixed = (seed + i) * 0x9e3779b97f4a7c15ULL;
        bad |= word(l.at + 8 * (i + 1)) ^ mixed ^ mixed >> 29;
    }
    return !bad;
}

static void take(struct to_borrower in) {
    struct slab *s = slab(in.slab);
    struct lease l = {in.slab, in.slot, in.generation, s->map + in.offset, in.length, 0};
    if (in.offset > s->bytes || in.length > s->bytes - in.offset || held_count == MOST_HELD) die("lease");
    if (l.length >= 8) l.seed = word(l.at);
    held[held_count++] = l;
    wrong += !is_right(l);
    bytes += l.length;
    if (messages++ == 0) puts("borrows"), fflush(stdout);
}

static void give_back(int which) {
    struct lease l = held[which];
    wrong += !is_right(l);
    held[which] = held[--held_count];
    say(l.slot, l.generation, l.slab);
}

// 0 at the end
static int receive(void) {
    struct to_borrower in;
    int file;
    if (!hear(&in, &file)) return 0;
    if (in.slot >= 0) take(in);
    else if (in.slot == SLAB) learn(in, file);
    else if (in.slot == UNMAP) unmap(in.slab);
    else die("a record of no kind");
    return 1;
}

static void check(void) {
    for (int i = 0; i < held_count; i++) wrong += !is_right(held[i]);
}

static void let_go(void) {
    for (int i = 0; i < slab_count; i++) munmap(slabs[i].map, slabs[i].bytes);
    if (connection >= 0) close(connection);
    close(string);
}

static int end(void) {
    check();
    let_go();
    printf("wrong=%llu messages=%llu bytes=%llu left=%d\n", (unsigned long long)wrong, (unsigned long long)messages,
           (unsigned long long)bytes, count_left());
    return wrong ? 1 : 0;
}

static int keep_some(void) {
    struct pollfd both[] = {{.fd = connection, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    srand(getpid());
    for (int goes_on = 1; goes_on && poll(both, 2, PAUSE_MILLIS) >= 0 && !both[1].revents;) {
        if (both[0].revents) {
            goes_on = receive();
            while (goes_on && held_count > rand() % USUALLY_HELD) give_back(rand() % held_count);
        } else if (held_count > 0) {
            // its lender may wait for it
            give_back(rand() % held_count);
        }
    }
    return end();
}

static int obey(const char *self, int count) {
    while (held_count < count && receive()) {}
    printf("holds=%d pid=%d\n", held_count, getpid()), fflush(stdout);
    for (char line[80]; fgets(line, sizeof line, stdin);) {
        if (!strcmp(line, "check\n")) {
            check();
            printf("wrong=%llu held=%d\n", (unsigned long long)wrong, held_count), fflush(stdout);
        } else if (!strcmp(line, "hangup\n")) {
            close(connection), connection = -1;
        } else if (!strcmp(line, "lie\n")) {
            say(held[0].slot, held[0].generation + 1, held[0].slab);
        } else if (!strcmp(line, "fork\n")) {
            // the child goes on, and alone has what was borrowed
            pid_t child = fork();
            if (child < 0) die("fork");
            if (child > 0) _exit(0);
            printf("child=%d\n", getpid()), fflush(stdout);
        } else if (!strcmp(line, "exec\n")) {
            execl(self, self, "waits", NULL);
            die("exec");
        } else break;
    }
    return end();
}

// the rest of the program is the child's
static void reap(void) {
    int status = 0;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1)) die("prctl");
    pid_t child = fork();
    if (child < 0) die("fork");
    if (child == 0) return;
    close(0);
    while (wait(&status) > 0 || errno == EINTR) {}
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "waits")) return printf("waits pid=%d\n", getpid()), fflush(stdout), getchar() == EOF ? 0 : 1;
    if (argc < 2 || argc > 4) return fprintf(stderr, "usage: borrow SOCKET [COUNT [reaped]]\n"), 2;
    if (argc == 4) reap();
    if (!borrow(argv[1])) return end(), 2;
    return argc == 2 ? keep_some() : obey(argv[0], atoi(argv[2]));
}
