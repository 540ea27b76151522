// SPDX-License-Identifier: Apache-2.0
/* Objects of a cache line each, every one found by the one before; of the last, a word is counted up and down. Chains are
 * taken in random order. Usage: c_lines CHAINS-LINES MILLIS WINDOWS */
#include "c_window.h"
#include <stdint.h>
#include <string.h>

#define LINE 64
#define MOST 8
#define MAX_CHAINS 100000
#define ORDER (1 << 16)

struct line {
    struct line *next;
    int64_t count;
    char rest[LINE - 16];
};

static struct line *first[MAX_CHAINS];
static int order[ORDER];
static unsigned at;

static void add(struct line *of, int64_t what) {
    int64_t now = __atomic_load_n(&of->count, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&of->count, &now, now + what, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
}

static void use_then_end(void) {
    struct line *line = first[order[at++ & (ORDER - 1)]];
    while (line->next) line = line->next;
    add(line, 1);
    add(line, -1);
}

int main(int argc, char **argv) {
    int windows = argc == 4 ? atoi(argv[3]) : 0, chains = argc == 4 ? atoi(argv[1]) : 0;
    char *dash = argc == 4 ? strchr(argv[1], '-') : NULL;
    int lines = dash ? atoi(dash + 1) : 0;
    if (windows < 1 || windows > MAX_WINDOWS || chains < 1 || chains > MAX_CHAINS || lines < 1 || lines > MOST) {
        fprintf(stderr, "c_lines: usage: c_lines CHAINS-LINES MILLIS WINDOWS\n");
        return 2;
    }
    srand(1);
    /* a kind of objects lies together, as a heap of equal objects does */
    for (int level = 0; level < lines; level++) {
        struct line *kind = aligned_alloc(LINE, (size_t)LINE * chains);
        if (!kind) return 2;
        memset(kind, 0, (size_t)LINE * chains);
        for (int i = 0; i < chains; i++) {
            kind[i].next = first[i];
            first[i] = &kind[i];
        }
    }
    for (int i = 0; i < ORDER; i++) order[i] = rand() % chains;
    printf("%.1f\n", lower_quartile(use_then_end, atof(argv[2]) * 1e6, windows));
    return 0;
}
