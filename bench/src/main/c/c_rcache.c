// SPDX-License-Identifier: Apache-2.0
/* UCX's registration cache, hit: get and put of a region, in random order. Usage: c_rcache REGIONS[-2t] MILLIS WINDOWS */
#include "c_window.h"
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucs/memory/rcache.h>

#define SLAB (2UL << 20)
#define MAX_REGIONS 10000
#define ORDER (1 << 16)

static ucs_rcache_t *cache;
static char *memory;
static int order[ORDER];
static __thread unsigned at;

/* registering costs nothing here: what is left is the cache */
static ucs_status_t mem_reg(void *context, ucs_rcache_t *of, void *arg, ucs_rcache_region_t *region, uint16_t flags) {
    (void)context, (void)of, (void)arg, (void)region, (void)flags;
    return UCS_OK;
}

static void mem_dereg(void *context, ucs_rcache_t *of, ucs_rcache_region_t *region) {
    (void)context, (void)of, (void)region;
}

static void dump_region(void *context, ucs_rcache_t *of, ucs_rcache_region_t *region, char *text, size_t most) {
    (void)context, (void)of, (void)region;
    if (most) *text = 0;
}

static void get_then_put(void) {
    ucs_rcache_region_t *region;
    char *address = memory + SLAB * order[at++ & (ORDER - 1)];
    if (ucs_rcache_get(cache, address, SLAB, PROT_READ | PROT_WRITE, NULL, &region) != UCS_OK) {
        fprintf(stderr, "c_rcache: no region\n");
        exit(2);
    }
    ucs_rcache_region_put(cache, region);
}

static void *other(void *run) {
    while (__atomic_load_n((int *)run, __ATOMIC_RELAXED)) get_then_put();
    return NULL;
}

int main(int argc, char **argv) {
    int windows = argc == 4 ? atoi(argv[3]) : 0, regions = argc == 4 ? atoi(argv[1]) : 0;
    if (windows < 1 || windows > MAX_WINDOWS || regions < 1 || regions > MAX_REGIONS) {
        fprintf(stderr, "c_rcache: usage: c_rcache REGIONS[-2t] MILLIS WINDOWS\n");
        return 2;
    }
    static ucs_rcache_ops_t ops = {mem_reg, mem_dereg, dump_region};
    ucs_rcache_params_t params = {
        .region_struct_size = sizeof(ucs_rcache_region_t),
        .alignment = 16,
        .max_alignment = 4096,
        .ops = &ops,
        .max_regions = UINT64_MAX,
        .max_size = SIZE_MAX,
        .max_unreleased = SIZE_MAX,
    };
    if (ucs_rcache_create(&params, "bench", NULL, &cache) != UCS_OK) {
        fprintf(stderr, "c_rcache: no cache\n");
        return 2;
    }
    memory = mmap(NULL, SLAB * (regions + 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    memory += SLAB - (uintptr_t)memory % SLAB;
    srand(1);
    for (int i = 0; i < ORDER; i++) order[i] = rand() % regions;
    int run = strstr(argv[1], "-2t") != NULL;
    pthread_t beside;
    if (run && pthread_create(&beside, NULL, other, &run)) return 2;
    double nanos = lower_quartile(get_then_put, atof(argv[2]) * 1e6, windows);
    if (run) {
        __atomic_store_n(&run, 0, __ATOMIC_RELAXED);
        pthread_join(beside, NULL);
    }
    printf("%.1f\n", nanos);
    fflush(stdout);
    /* the library's own threads and handlers are not waited for */
    _Exit(0);
}
