// SPDX-License-Identifier: Apache-2.0
/* libfabric bare: fi_mr_reg and fi_close of a mebibyte, alone or beside a thread that sleeps, for which the C library
 * takes its locks. Usage: c_fabric PROVIDER[+1] MILLIS WINDOWS */
#include "c_window.h"
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <string.h>
#include <unistd.h>

#define BYTES (1UL << 20)

static struct fid_domain *domain;
static char *memory;
static uint64_t key = 1;

static void reg_then_close(void) {
    struct fid_mr *mr;
    if (fi_mr_reg(domain, memory, BYTES, FI_REMOTE_WRITE, 0, key++, 0, &mr, NULL) || fi_close(&mr->fid)) {
        fprintf(stderr, "c_fabric: refused\n");
        exit(2);
    }
}

static void *sleeper(void *none) {
    pause();
    return none;
}

int main(int argc, char **argv) {
    int windows = argc == 4 ? atoi(argv[3]) : 0;
    if (windows < 1 || windows > MAX_WINDOWS) {
        fprintf(stderr, "c_fabric: usage: c_fabric PROVIDER[+1] MILLIS WINDOWS\n");
        return 2;
    }
    char *provider = strdup(argv[1]), *beside = strstr(provider, "+1");
    pthread_t other;
    if (beside) {
        *beside = 0;
        if (pthread_create(&other, NULL, sleeper, NULL)) return 2;
    }
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric *fabric;
    hints->caps = FI_MSG | FI_RMA;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->fabric_attr->prov_name = provider;
    if (fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, &info)) {
        printf("provider not here: %s\n", provider);
        return 3;
    }
    if (fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL)
        || posix_memalign((void **)&memory, 4096, BYTES)) {
        fprintf(stderr, "c_fabric: no domain\n");
        return 2;
    }
    printf("%.1f\n", lower_quartile(reg_then_close, atof(argv[2]) * 1e6, windows));
    fflush(stdout);
    _Exit(0);
}
