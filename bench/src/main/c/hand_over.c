// SPDX-License-Identifier: Apache-2.0
/* The floor beneath a hand-over: 64 processes that do nothing else wait on a unix socket each, for the descriptor of a
 * sealed memory file, whose seals and size they look at before they map it, or for a copy of its bytes.
 * gcc -O2 -o hand_over hand_over.c && ./hand_over 4194304      prints both in ms, the medians of 15 rounds,
 * and what two of the calls take hot and cold */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 64, ROUNDS = 15, HEADER = 64, SEALS = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW };

static char header[HEADER];

static void check(int good, const char *what) {
    if (!good) {
        perror(what);
        _exit(1);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void send_all(int socket, const char *bytes, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t sent = write(socket, bytes + done, length - done);
        check(sent > 0, "write");
        done += sent;
    }
}

static void receive_all(int socket, char *bytes, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t got = read(socket, bytes + done, length - done);
        if (got == 0) _exit(0); /* the other side has ended */
        check(got > 0, "read");
        done += got;
    }
}

static void send_descriptor(int socket, int fd) {
    struct iovec bytes = {header, HEADER};
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    check(sendmsg(socket, &message, 0) == HEADER, "sendmsg");
}

static int receive_descriptor(int socket) {
    struct iovec bytes = {header, HEADER};
    char control[CMSG_SPACE(sizeof(int))];
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got == 0) _exit(0);
    check(got == HEADER && CMSG_FIRSTHDR(&message), "recvmsg");
    int fd;
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

/* each of them: 'd' for a descriptor, 'c' for a copy; answers once it has the bytes, and lets go of them */
static void receiver(int socket, size_t length) {
    for (;;) {
        char kind;
        receive_all(socket, &kind, 1);
        send_all(socket, &kind, 1);
        char *bytes;
        int fd = -1;
        if (kind == 'd') {
            struct stat file;
            fd = receive_descriptor(socket);
            check((fcntl(fd, F_GET_SEALS) & SEALS) == SEALS, "seals");
            check(fstat(fd, &file) == 0 && (size_t)file.st_size == length, "fstat");
            bytes = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
        } else {
            bytes = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (bytes != MAP_FAILED) receive_all(socket, bytes, length);
        }
        check(bytes != MAP_FAILED, "mmap");
        send_all(socket, "H", 1);
        munmap(bytes, length);
        if (fd >= 0) close(fd);
    }
}

static double round_of(char kind, int *sockets, int fd, const char *bytes, size_t length) {
    char answer;
    for (int i = 0; i < PROCESSES; i++) send_all(sockets[i], &kind, 1);
    for (int i = 0; i < PROCESSES; i++) receive_all(sockets[i], &answer, 1);
    usleep(100000);
    double start = now();
    for (int i = 0; i < PROCESSES; i++) {
        if (kind == 'd')
            send_descriptor(sockets[i], fd);
        else
            send_all(sockets[i], bytes, length);
    }
    for (int i = 0; i < PROCESSES; i++) receive_all(sockets[i], &answer, 1);
    return now() - start;
}

static int ascending(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* two of the receiver's calls by a thread that slept before, or not: prints the medians in us */
static void cold(int fd, size_t length, int sleep_us) {
    double seals[ROUNDS], map[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        if (sleep_us) usleep(sleep_us);
        double start = now();
        fcntl(fd, F_GET_SEALS);
        double middle = now();
        void *bytes = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
        map[round] = (now() - middle) * 1e3;
        seals[round] = (middle - start) * 1e3;
        munmap(bytes, length);
    }
    qsort(seals, ROUNDS, sizeof(double), ascending);
    qsort(map, ROUNDS, sizeof(double), ascending);
    printf("slept=%dus fcntl=%.2f mmap=%.2f us\n", sleep_us, seals[ROUNDS / 2], map[ROUNDS / 2]);
}

int main(int argc, char **argv) {
    long length = argc > 1 ? atol(argv[1]) : 4 << 20;
    if (length < 1) {
        fprintf(stderr, "hand_over: no such size: bytes=%s\n", argv[1]);
        return 2;
    }
    int fd = memfd_create("floor", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    check(fd >= 0 && ftruncate(fd, length) == 0, "memfd");
    char *bytes = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    check(bytes != MAP_FAILED, "mmap");
    memset(bytes, 7, length);
    munmap(bytes, length);
    check(fcntl(fd, F_ADD_SEALS, SEALS) == 0, "seals");
    bytes = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
    check(bytes != MAP_FAILED, "mmap");
    cold(fd, length, 0);
    cold(fd, length, 10000);
    int sockets[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        int pair[2];
        check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0, "socketpair");
        sockets[i] = pair[0];
        pid_t child = fork();
        check(child >= 0, "fork");
        if (child == 0) {
            for (int j = 0; j <= i; j++) close(sockets[j]);
            receiver(pair[1], length);
        }
        close(pair[1]);
    }
    double descriptor[ROUNDS], copy[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        descriptor[round] = round_of('d', sockets, fd, bytes, length);
        copy[round] = round_of('c', sockets, fd, bytes, length);
    }
    qsort(descriptor, ROUNDS, sizeof(double), ascending);
    qsort(copy, ROUNDS, sizeof(double), ascending);
    printf("descriptor=%.3f copy=%.3f ms, %.0f times\n", descriptor[ROUNDS / 2], copy[ROUNDS / 2],
           copy[ROUNDS / 2] / descriptor[ROUNDS / 2]);
    return 0;
}
