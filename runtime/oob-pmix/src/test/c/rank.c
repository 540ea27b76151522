// SPDX-License-Identifier: Apache-2.0
// A C rank of a job whose other ranks are nodes: it puts a key, fences once, looks whom of the others it can see.
// rank [SECONDS]: lives that much longer, to be killed meanwhile
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
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
