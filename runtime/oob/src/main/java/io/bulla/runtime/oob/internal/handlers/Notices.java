// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import io.bulla.runtime.oob.NoticeReceiver;
import io.bulla.runtime.oob.internal.core.NodeLog;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// The notices that have come and were not heard yet: the newest of each peer and topic.
///
/// The lock is held to look, never while user code runs.
public final class Notices {

    private record From(int peer, int topic) {}

    private record Ear(Executor executor, NoticeReceiver receiver) {}

    private final int rank;
    // both under the lock
    private final Map<From, byte[]> waiting = new HashMap<>();
    private @Nullable Ear ear;

    public Notices(int rank) {
        this.rank = rank;
    }

    /// Any thread.
    public synchronized void receive(Executor executor, NoticeReceiver receiver) {
        Objects.requireNonNull(executor, "executor");
        ear = new Ear(executor, Objects.requireNonNull(receiver, "receiver"));
        waiting.clear();
    }

    /// On the loop.
    public void arrived(int peer, int topic, byte[] text) {
        From from = new From(peer, topic);
        Ear of = put(from, text);
        if (of == null) {
            return;
        }
        try {
            of.executor.execute(() -> hear(of, from));
        } catch (Throwable noThread) {
            take(from);
            log(from, noThread);
        }
    }

    /// @return who has to be told, or `null`: it knows, or there is none
    private synchronized @Nullable Ear put(From from, byte[] text) {
        return ear == null || waiting.put(from, text) != null ? null : ear;
    }

    private synchronized byte @Nullable [] take(From from) {
        return waiting.remove(from);
    }

    private void hear(Ear by, From from) {
        byte[] text = take(from);
        if (text == null) {
            return;
        }
        try {
            by.receiver.received(from.peer, from.topic, text);
        } catch (Throwable failure) {
            log(from, failure);
        }
    }

    private void log(From from, Throwable failure) {
        try {
            NodeLog.failed("notice failed: rank=" + rank + " peer=" + from.peer + " topic=" + from.topic, failure);
        } catch (Throwable noMemory) {
            NodeLog.failed("notice failed", failure);
        }
    }
}
