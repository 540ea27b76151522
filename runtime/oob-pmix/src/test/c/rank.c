// SPDX-License-Identifier: Apache-2.0
// A C rank of a job whose other ranks are nodes: it puts a key, fences once, looks whom of the others it can see.
// rank [SECONDS]: lives that much longer, to be killed meanwhile
// rank bench N: meets the others and joins N times, and prints how long it took, as JobRank bench N
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long micros(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

static int ascending(const void *a, const void *b) {
    return (*(const long *)a > *(const long *)b) - (*(const long *)a < *(const long *)b);
}

static int connect(pmix_proc_t *self, long *took) {
    long start = micros();
    int status = PMIx_Init(self, NULL, 0);
    *took = micros() - start;
    return status != PMIX_SUCCESS;
}

// what a rank does to meet the others, who have all come
static int exchange(pmix_proc_t *all, int size, int round, long *took) {
    pmix_proc_t other;
    pmix_value_t value, *found;
    pmix_info_t info;
    bool yes = true;
    char card[200], key[32];
    snprintf(key, sizeof key, "bench.card%d", round);
    memset(card, 'c', sizeof card);
    PMIx_Fence(all, 1, NULL, 0);
    long start = micros();
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = card;
    value.data.bo.size = sizeof card;
    PMIx_Put(PMIX_GLOBAL, key, &value);
    PMIx_Commit();
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    PMIx_Fence(all, 1, &info, 1);
    PMIX_INFO_LOAD(&info, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    for (int rank = 0; rank < size; rank++) {
        PMIX_LOAD_PROCID(&other, all->nspace, rank);
        if (PMIx_Get(&other, key, &info, 1, &found) != PMIX_SUCCESS) {
            return 1;
        }
        PMIX_VALUE_RELEASE(found);
    }
    *took = micros() - start;
    return 0;
}

static long median(long *took, int count) {
    qsort(took, count, sizeof(long), ascending);
    return took[count / 2];
}

// fences come before any rank leaves, for a server that loses a member ends the others' fences
static int bench(int count) {
    enum { FENCES = 500 };
    long *joins = calloc(count + 1, sizeof(long)), *meets = calloc(count, sizeof(long)), *fences = calloc(FENCES, sizeof(long));
    pmix_proc_t self, all;
    pmix_value_t *found;
    if (connect(&self, &joins[0])) {
        return 1;
    }
    PMIX_LOAD_PROCID(&all, self.nspace, PMIX_RANK_WILDCARD);
    PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &found);
    for (int i = 0; i < count; i++) {
        if (exchange(&all, found->data.uint32, i, &meets[i])) {
            return 1;
        }
    }
    for (int i = 0; i < FENCES; i++) {
        long start = micros();
        PMIx_Fence(&all, 1, NULL, 0);
        fences[i] = micros() - start;
    }
    long first = joins[0] + meets[0];
    for (int i = 1; i <= count; i++) {
        PMIx_Finalize(NULL, 0);
        if (connect(&self, &joins[i])) {
            return 1;
        }
    }
    long connects = median(joins, count + 1);
    long met = median(meets, count);
    printf("bench: c rank=%d first_micros=%ld connect_micros=%ld meet_micros=%ld join_micros=%ld fence_micros=%ld\n",
           (int)self.rank, first, connects, met, connects + met, median(fences, FENCES));
    PMIx_Finalize(NULL, 0);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "bench") == 0) {
        return bench(atoi(argv[2]));
    }
    pmix_proc_t self, all, other;
    pmix_value_t value, *found;
    pmix_info_t info;
    bool yes = true;
    int nodes = 0, known = 0, status = PMIx_Init(&self, NULL, 0);
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "c: init: %s\n", PMIx_Error_string(status));
        return 1;
    }
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_STRING;
    value.data.string = "a C rank";
    PMIx_Put(PMIX_GLOBAL, "c.word", &value);
    PMIx_Commit();
    PMIX_LOAD_PROCID(&all, self.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    status = PMIx_Fence(&all, 1, &info, 1);
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "c: fence: %s\n", PMIx_Error_string(status));
        return 1;
    }
    if (PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &found) != PMIX_SUCCESS) {
        return 1;
    }
    int size = found->data.uint32;
    PMIX_INFO_LOAD(&info, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    for (int rank = 0; rank < size; rank++) {
        PMIX_LOAD_PROCID(&other, self.nspace, rank);
        nodes += PMIx_Get(&other, "bulla.oob", &info, 1, &found) == PMIX_SUCCESS;
        known += PMIx_Get(&other, "c.word", &info, 1, &found) == PMIX_SUCCESS;
    }
    printf("c: rank=%d pid=%d size=%d nodes=%d c=%d\n", (int)self.rank, (int)getpid(), size, nodes, known);
    fflush(stdout);
    if (argc > 1) {
        sleep(atoi(argv[1]));
    }
    PMIx_Finalize(NULL, 0);
    return 0;
}
