// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.job;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Limits;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Pdata;
import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixPersistence;
import io.bulla.runtime.pmix.PmixPublished;
import io.bulla.runtime.pmix.PmixRange;
import io.bulla.runtime.pmix.PmixStatus;
import io.bulla.runtime.pmix.PmixValue;
import io.bulla.runtime.pmix.internal.core.Waits;
import io.bulla.runtime.pmix.internal.message.Answer;
import io.bulla.runtime.pmix.internal.wire.Command;
import io.bulla.runtime.pmix.internal.wire.Detached;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/// Values under names that the server keeps for all of its jobs.
public record Names(Server server) {

    public void publish(Map<String, PmixValue> values, PmixRange range, PmixPersistence persistence)
            throws PmixException, InterruptedException {
        int user = server.ids().user();
        server.order(Command.PUBLISH, () -> server.outgoing().publish(user, values, range, persistence));
    }

    public Map<String, PmixPublished> lookup(Set<String> keys, PmixRange range, Duration wait)
            throws PmixException, InterruptedException {
        int user = server.ids().user();
        List<String> all = List.copyOf(keys);
        int seconds = Waits.seconds(wait);
        Supplier<SealedBuffer> request = () -> server.outgoing().lookup(user, all, range, seconds);
        try (Answer answer = server.ask(Command.LOOKUP, request, server.plus(wait))) {
            PmixStatus status = answer.status();
            if (status.equals(PmixStatus.NOT_FOUND) || status.equals(PmixStatus.TIMEOUT)) {
                return Map.of();
            }
            // some of them are there
            if (!status.equals(PmixStatus.PARTIAL_SUCCESS)) {
                server.check(answer, status);
            }
            return answer.read(() -> found(answer, server.settings().options().limits()));
        }
    }

    public static Map<String, PmixPublished> found(Answer answer, Limits limits) {
        Map<String, PmixPublished> found = new LinkedHashMap<>();
        long count = answer.items().unpackLong(DataType.SIZE);
        if (count != 0) {
            for (Pdata one : answer.items().unpackAll(Pdata.class)) {
                PmixValue value = new PmixValue(Detached.value(one.value(), limits));
                found.put(one.key(), new PmixPublished(one.proc(), one.key(), value));
            }
        }
        return found;
    }

    public void unpublish(Set<String> keys, PmixRange range) throws PmixException, InterruptedException {
        server.order(
                Command.UNPUBLISH,
                () -> server.outgoing().unpublish(server.ids().user(), List.copyOf(keys), range));
    }
}
