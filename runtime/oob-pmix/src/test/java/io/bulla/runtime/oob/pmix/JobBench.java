// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import io.bulla.pack.value.Proc;
import io.bulla.runtime.pmix.PmixClient;
import io.bulla.runtime.pmix.PmixEnvironment;
import io.bulla.runtime.pmix.PmixOptions;
import io.bulla.runtime.pmix.PmixScope;
import io.bulla.runtime.pmix.PmixValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// How long a rank takes to join, to meet the others, and to fence: the same steps as `rank.c`, in the same order.
/// Fences come before any rank leaves, for a server that loses a member ends the others' fences.
final class JobBench {

    private static final int FENCES = 500;
    private static final int CARD_BYTES = 200;
    private static final Duration PATIENCE = Duration.ofSeconds(120);

    private final PmixEnvironment environment;
    private final PmixOptions options;
    private PmixClient client;

    private JobBench(PmixEnvironment environment, PmixOptions options) {
        this.environment = environment;
        this.options = options;
    }

    static void run(PmixOptions options, int count) throws Exception {
        new JobBench(PmixEnvironment.ofProcess(), options).run(count);
    }

    private void run(int count) throws Exception {
        long[] joins = new long[count + 1];
        long[] meets = new long[count];
        long[] fences = new long[FENCES];
        joins[0] = connect();
        for (int i = 0; i < count; i++) {
            meets[i] = exchange("bench.card" + i);
        }
        for (int i = 0; i < FENCES; i++) {
            long start = System.nanoTime();
            client.fence(false, PATIENCE);
            fences[i] = System.nanoTime() - start;
        }
        long first = joins[0] + meets[0];
        for (int i = 1; i <= count; i++) {
            client.close();
            joins[i] = connect();
        }
        long connect = median(joins);
        long meet = median(meets);
        System.out.println("bench: java rank=" + client.rank() + " first_micros=" + first / 1000 + " connect_micros="
                + connect / 1000 + " meet_micros=" + meet / 1000 + " join_micros=" + (connect + meet) / 1000
                + " fence_micros=" + median(fences) / 1000);
        client.close();
    }

    private long connect() throws Exception {
        long start = System.nanoTime();
        client = PmixClient.connect(environment, options);
        return System.nanoTime() - start;
    }

    private long exchange(String key) throws Exception {
        List<Proc> all = new ArrayList<>();
        for (int rank = 0; rank < client.size(); rank++) {
            all.add(client.procOf(rank));
        }
        client.fence(false, PATIENCE);
        long start = System.nanoTime();
        client.put(PmixScope.GLOBAL, key, PmixValue.of(new byte[CARD_BYTES]));
        client.commit();
        client.fence(true, PATIENCE);
        int found = client.getAll(all, key).size();
        long took = System.nanoTime() - start;
        if (found != client.size()) {
            throw new IllegalStateException("cards=" + found + " processes=" + client.size());
        }
        return took;
    }

    private static long median(long[] took) {
        Arrays.sort(took);
        return took[took.length / 2];
    }
}
