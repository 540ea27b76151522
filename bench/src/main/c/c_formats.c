// SPDX-License-Identifier: Apache-2.0
/* What the C libraries take to pack and unpack: libpmix (flex128, not described) and Open MPI's libopen-pal (OPAL
 * DSS), called as their users call them, each buffer's memory used again for every operation.
 * gcc -O2 -o c_formats c_formats.c -ldl && ./c_formats pmix-pack-small 200 5
 *     case, milliseconds of a window, windows; prints ns per operation, the lower quartile of the windows
 * Exit status 3: the library is not there, and the last line says which.
 * The libraries are opened when it runs, and what is used of their headers stands here, so that neither is needed to
 * build it. Layouts: 64-bit, PMIx 4.2 to 6.1, Open MPI 4.1. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INTS = 1000, PAGE = 4096, LINE = 64, STRINGS = 100, TEXT = 18, MAX_WINDOWS = 101 };
enum { TYPE_STRING = 3, TYPE_INT32 = 9 }; /* in both libraries */

/* both buffers end in these */
struct bytes {
    char *base, *pack, *unpack;
    size_t allocated, used;
};
/* pmix_data_buffer_t is the bytes alone; opal_buffer_t has an object's head and the kind before them */
struct opal_buffer {
    void *class;
    int32_t references;
    int32_t kind __attribute__((aligned(8)));
    struct bytes bytes;
};
struct pmix_proc {
    char name_space[256];
    uint32_t rank;
};
struct pmix_info {
    char key[512];
    uint32_t flags;
    uint16_t type __attribute__((aligned(8)));
    union {
        uint8_t flag;
        void *room[3];
    } data;
};

static int (*pmix_pack)(const struct pmix_proc *, struct bytes *, void *, int32_t, uint16_t);
static int (*pmix_unpack)(const struct pmix_proc *, struct bytes *, void *, int32_t *, uint16_t);
static int (*opal_pack)(struct opal_buffer *, const void *, int32_t, uint8_t);
static int (*opal_unpack)(struct opal_buffer *, void *, int32_t *, uint8_t);

static struct opal_buffer buffer;
static int is_opal, fresh;
static int32_t ints[INTS], back[INTS];
static char *strings[STRINGS], *read_strings[STRINGS];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void check(int status, const char *what) {
    if (status != 0) {
        fprintf(stderr, "c_formats: call failed: call=%s status=%d\n", what, status);
        exit(2);
    }
}

static void *open_or_skip(const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (!handle) {
        printf("library not found: %s\n", library);
        exit(3);
    }
    return handle;
}

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        printf("library lacks a function: %s\n", name);
        exit(3);
    }
    return found;
}

static void start_pmix(void) {
    setenv("PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC", 1);
    void *library = open_or_skip("libpmix.so.2");
    pmix_pack = symbol(library, "PMIx_Data_pack");
    pmix_unpack = symbol(library, "PMIx_Data_unpack");
    int (*init)(struct pmix_proc *, struct pmix_info *, size_t) = symbol(library, "PMIx_tool_init");
    struct pmix_proc self;
    struct pmix_info alone = {.key = "pmix.tool.nocon", .type = 1, .data.flag = 1};
    check(init(&self, &alone, 1), "PMIx_tool_init");
}

static void start_opal(void) {
    void *library = open_or_skip("libopen-pal.so.40");
    opal_pack = symbol(library, "opal_dss_pack");
    opal_unpack = symbol(library, "opal_dss_unpack");
    /* the serializer alone, with the defaults that all of Open MPI would have read from its configuration */
    *(int *)symbol(library, "opal_dss_initial_size") = 2048;
    *(int *)symbol(library, "opal_dss_threshold_size") = 4096;
    int (*open)(void) = symbol(library, "opal_dss_open");
    check(open(), "opal_dss_open");
}

static void pack(void *values, int count, int type) {
    struct bytes *bytes = &buffer.bytes;
    if (fresh) {
        free(bytes->base);
        memset(bytes, 0, sizeof *bytes);
    }
    bytes->pack = bytes->base;
    bytes->used = 0;
    check(is_opal ? opal_pack(&buffer, values, count, type) : pmix_pack(NULL, bytes, values, count, type), "pack");
}

static void unpack(void *values, int count, int type) {
    struct bytes *bytes = &buffer.bytes;
    int32_t n = count;
    bytes->unpack = bytes->base;
    check(is_opal ? opal_unpack(&buffer, values, &n, type) : pmix_unpack(NULL, bytes, values, &n, type), "unpack");
}

static void pack_ints(void) { pack(ints, INTS, TYPE_INT32); }
static void unpack_ints(void) { unpack(back, INTS, TYPE_INT32); }
static void pack_strings(void) { pack(strings, STRINGS, TYPE_STRING); }
static void unpack_strings(void) {
    unpack(read_strings, STRINGS, TYPE_STRING);
    for (int i = 0; i < STRINGS; i++) free(read_strings[i]);
}

/* The floor of int32-4096-unpack: the same loop by gcc, as wide as the machine's vectors are, into memory that begins
 * where the elements of a Java array do, 16 bytes behind its head. */
static uint32_t big_endian[PAGE] __attribute__((aligned(LINE)));
static struct {
    char head[16];
    uint32_t elements[PAGE];
} swapped __attribute__((aligned(LINE)));

#define SWAP_ALL for (int i = 0; i < PAGE; i++) to[i] = __builtin_bswap32(big_endian[i])
#ifdef __x86_64__
__attribute__((noinline, optimize("O3"), target("avx512bw,prefer-vector-width=512")))
static void swap_512(uint32_t *restrict to) { SWAP_ALL; }
__attribute__((noinline, optimize("O3"), target("avx2")))
static void swap_256(uint32_t *restrict to) { SWAP_ALL; }
#endif
__attribute__((noinline, optimize("O3")))
static void swap_plain(uint32_t *restrict to) { SWAP_ALL; }

static void swap_page(void) {
#ifdef __x86_64__
    __builtin_cpu_supports("avx512bw") ? swap_512(swapped.elements)
    : __builtin_cpu_supports("avx2")   ? swap_256(swapped.elements)
                                       : swap_plain(swapped.elements);
#else
    swap_plain(swapped.elements);
#endif
    __asm__ volatile("" ::: "memory");
}

/* the same values as FormatValues makes in Java */
static void fill(const char *name) {
    int random = strstr(name, "-random") != NULL, shuffled = strstr(name, "-shuffled") != NULL;
    uint64_t state = 1;
    for (int i = 0; i < INTS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t drawn = state >> 32;
        ints[i] = random ? (int32_t)drawn : shuffled ? (int32_t)((drawn >> 1) % 1000) : i;
    }
    for (int i = 0; i < STRINGS; i++) {
        strings[i] = malloc(TEXT + 1);
        snprintf(strings[i], TEXT + 1, "a string no. %05d", i);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
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

static void (*start_format(const char *name))(void) {
    is_opal = strncmp(name, "opal", 4) == 0;
    fresh = strstr(name, "-fresh") != NULL;
    int packs = strstr(name, "-pack-") != NULL, text = strstr(name, "-strings") != NULL;
    fill(name);
    is_opal ? start_opal() : start_pmix();

    void (*pack_one)(void) = text ? pack_strings : pack_ints;
    void (*unpack_one)(void) = text ? unpack_strings : unpack_ints;
    pack_one();
    unpack_one();
    if (!text && memcmp(ints, back, sizeof ints) != 0) {
        fprintf(stderr, "c_formats: values came back changed: case=%s\n", name);
        exit(2);
    }
    return packs ? pack_one : unpack_one;
}

int main(int argc, char **argv) {
    int windows = argc == 4 ? atoi(argv[3]) : 0;
    if (windows < 1 || windows > MAX_WINDOWS) {
        fprintf(stderr, "c_formats: usage: c_formats CASE MILLIS WINDOWS, at most %d windows\n", MAX_WINDOWS);
        return 2;
    }
    void (*operation)(void) = strcmp(argv[1], "swap-4096") == 0 ? swap_page : start_format(argv[1]);
    double nanos = atof(argv[2]) * 1e6, each[MAX_WINDOWS];
    window(operation, nanos);
    for (int i = 0; i < windows; i++) each[i] = window(operation, nanos);
    qsort(each, windows, sizeof *each, ascending);
    printf("%.1f\n", each[windows / 4]);
    /* PMIx has threads that this program does not join */
    fflush(stdout);
    _Exit(0);
}
