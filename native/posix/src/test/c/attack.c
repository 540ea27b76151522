// SPDX-License-Identifier: Apache-2.0
// A borrower that tries to write what it was lent, and then lies to its lender: docs/shared-memory.md.
// Usage: attack SOCKET   ends with a line "attack: attempts=N lies=N succeeded=N", and with status 1 if one succeeded
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define F_ADD_SEALS_ 1033
enum { HELLO = -1, SLAB = -2, UNMAP = -3, BYTES = -4 };
struct to_borrower { uint64_t slab; int32_t slot, generation; uint64_t offset, length; };
struct to_lender { int32_t slot, generation; uint64_t slab; };
struct lease { int socket, string, file; uint64_t slab, file_bytes, offset, length; int32_t slot, generation; };

static int attempts, lies, succeeded;
static const char *lender;

static void die(const char *what) { perror(what); exit(2); }

static void say(int s, int32_t slot, int32_t generation, uint64_t slab) {
    struct to_lender out = {htobe32(slot), htobe32(generation), htobe64(slab)};
    if (send(s, &out, sizeof out, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET) die("send");
}

static int hear(int s, struct to_borrower *in, int *file) {
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec io = {in, sizeof *in};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(s, &m, MSG_WAITALL);
    if (got != sizeof *in) return 0;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c) memcpy(file, CMSG_DATA(c), sizeof *file);
    in->slot = be32toh(in->slot), in->generation = be32toh(in->generation);
    in->slab = be64toh(in->slab), in->offset = be64toh(in->offset), in->length = be64toh(in->length);
    return 1;
}

static int connected(void) {
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    // a lie that is believed must not hang this
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){20, 0}, sizeof(struct timeval));
    strncpy(a.sun_path, lender, sizeof a.sun_path - 1);
    if (connect(s, (struct sockaddr *)&a, sizeof a)) die("connect");
    return s;
}

static void next(struct lease *l) {
    struct to_borrower in;
    do {
        if (!hear(l->socket, &in, &l->file)) die("lease");
        if (in.slot == SLAB) l->file_bytes = in.length;
    } while (in.slot < 0);
    l->slab = in.slab, l->slot = in.slot, l->generation = in.generation, l->offset = in.offset, l->length = in.length;
}

// with one lease
static struct lease borrow(void) {
    struct lease l = {.socket = connected()};
    struct to_borrower in;
    say(l.socket, HELLO, 1, 666);
    if (!hear(l.socket, &in, &l.string) || in.slot != HELLO) die("greeting");
    next(&l);
    return l;
}

static void attempt(const char *what, int did) {
    attempts++;
    if (did) succeeded++, printf("attack: SUCCEEDED: %s\n", what);
}

static void write_it(struct lease l) {
    uint64_t n = l.file_bytes;
    char *map = mmap(NULL, n, PROT_READ, MAP_SHARED, l.file, 0), word[8] = "written!", link[64];
    if (map == MAP_FAILED) die("mmap");
    char *before = malloc(l.length);
    memcpy(before, map + l.offset, l.length);
    attempt("mmap for writing", mmap(NULL, n, PROT_WRITE, MAP_SHARED, l.file, 0) != MAP_FAILED);
    snprintf(link, sizeof link, "/proc/self/fd/%d", l.file);
    int again = open(link, O_RDWR);
    attempt("mmap for writing of a file opened again", again >= 0 && mmap(NULL, n, PROT_WRITE, MAP_SHARED, again, 0) != MAP_FAILED);
    attempt("mprotect", mprotect(map, n, PROT_READ | PROT_WRITE) == 0);
    char *moved = mmap(NULL, n, PROT_READ, MAP_SHARED, l.file, 0);
    moved = mremap(moved, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    attempt("mprotect after mremap", moved != MAP_FAILED && mprotect(moved, n, PROT_READ | PROT_WRITE) == 0);
    attempt("pwrite", pwrite(l.file, word, 8, l.offset) > 0);
    int p[2];
    if (pipe(p) || write(p[1], word, 8) != 8) die("pipe");
    off64_t at = l.offset;
    attempt("splice", splice(p[0], NULL, l.file, &at, 8, 0) > 0);
    lseek(l.file, l.offset, SEEK_SET);
    int source = open("/proc/self/exe", O_RDONLY);
    attempt("sendfile", sendfile(l.file, source, NULL, 8) > 0);
    attempt("ftruncate to nothing", ftruncate(l.file, 0) == 0);
    attempt("ftruncate to more", ftruncate(l.file, n * 2) == 0);
    attempt("hole", fallocate(l.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, n) == 0);
    attempt("another seal", fcntl(l.file, F_ADD_SEALS_, 0x8) == 0);
    int mem = open("/proc/self/mem", O_RDWR);
    attempt("/proc/self/mem", mem >= 0 && pwrite(mem, word, 8, (off_t)(uintptr_t)(map + l.offset)) > 0);
    struct iovec from = {word, 8}, to = {map + l.offset, 8};
    attempt("process_vm_writev", process_vm_writev(getpid(), &from, 1, &to, 1, 0) > 0);
    attempt("read into the mapping", read(source, map + l.offset, 8) > 0);
    attempt("MADV_REMOVE", madvise(map, n, MADV_REMOVE) == 0);
    // they work, and there is no word in a slab that any process waits on
    long woken = syscall(SYS_futex, map + (l.offset & ~3UL), FUTEX_WAKE, 1 << 20, NULL, NULL, 0);
    long sent = syscall(SYS_futex, map, FUTEX_REQUEUE, 0, (void *)(1UL << 20), map + 4096, 0);
    attempt("a waiter found", woken > 0 || sent > 0);
    fcntl(l.file, F_SETFL, O_NONBLOCK | O_APPEND);
    attempt("other bytes", memcmp(before, map + l.offset, l.length) != 0);
}

// the connection has to end; the string is kept, as by one that goes on reading
static void lie(const char *what, struct lease l, void (*words)(struct lease)) {
    struct to_borrower in;
    int ignored;
    words(l);
    while (hear(l.socket, &in, &ignored)) {}
    char byte;
    lies++;
    if (recv(l.socket, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN) succeeded++, printf("attack: BELIEVED: %s\n", what);
}

static void twice(struct lease l) { for (int i = 0; i < 2; i++) say(l.socket, l.slot, l.generation, l.slab); }
static void highest(struct lease l) { say(l.socket, INT32_MAX, l.generation, l.slab); }
static void lowest(struct lease l) { say(l.socket, INT32_MIN, 0, l.slab); }
static void not_used(struct lease l) { say(l.socket, l.slot + 100000, 0, l.slab); }
static void other_generation(struct lease l) { say(l.socket, l.slot, l.generation + 1, l.slab); }
static void other_slab(struct lease l) { say(l.socket, l.slot, l.generation, ~l.slab); }
static void unmapped(struct lease l) { say(l.socket, UNMAP, 0, l.slab); }
static void bytes(struct lease l) { say(l.socket, BYTES, 0, 1ULL << 62); }
static void five_thousand(struct lease l) { for (int i = 0; i < 5000; i++) say(l.socket, i, 0, l.slab); }
static void random_words(struct lease l) { for (int i = 0; i < 20000; i++) say(l.socket, rand(), rand(), rand()); }
static void ungreeted(struct lease l) { say(l.socket, 0, 0, 0); }
static void other_version(struct lease l) { say(l.socket, HELLO, 2, 666); }

// true by itself
static void descriptor(struct lease l) {
    struct to_lender out = {htobe32(l.slot), htobe32(l.generation), htobe64(l.slab)};
    union { struct cmsghdr align; char bytes[CMSG_SPACE(sizeof(int))]; } control = {0};
    struct iovec io = {&out, sizeof out};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof l.file);
    memcpy(CMSG_DATA(c), &l.file, sizeof l.file);
    if (sendmsg(l.socket, &m, MSG_NOSIGNAL) < 0) die("sendmsg");
}

// an honest one's, of a generation that the liar has none of
static void anothers(struct lease l) {
    struct lease other = borrow();
    while (other.generation < 3) {
        say(other.socket, other.slot, other.generation, other.slab);
        next(&other);
    }
    say(l.socket, other.slot, other.generation, other.slab);
    char byte;
    while (recv(l.socket, &byte, 1, 0) > 0) {}
    close(other.socket), close(other.string);
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: attack SOCKET\n"), 2;
    lender = argv[1];
    write_it(borrow());
    lie("twice", borrow(), twice);
    lie("highest slot", borrow(), highest);
    lie("lowest slot", borrow(), lowest);
    lie("slot of no use", borrow(), not_used);
    lie("other generation", borrow(), other_generation);
    lie("other slab", borrow(), other_slab);
    lie("unmapped while lent", borrow(), unmapped);
    lie("a kind of the lender's", borrow(), bytes);
    lie("five thousand for one", borrow(), five_thousand);
    lie("random words", borrow(), random_words);
    lie("another borrower's", borrow(), anothers);
    lie("with a descriptor", borrow(), descriptor);
    lie("no greeting", (struct lease){.socket = connected()}, ungreeted);
    lie("greeting of another version", (struct lease){.socket = connected()}, other_version);
    printf("attack: attempts=%d lies=%d succeeded=%d\n", attempts, lies, succeeded);
    return succeeded ? 1 : 0;
}
