// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.handlers;

import io.bulla.runtime.oob.NoticeReceiver;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Trouble;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// The notices that have come and were not heard yet, and the peers that were not reached with one: the newest of
/// each peer and topic.
///
/// The lock is held to look, never while user code runs.
public final class Notices {

    private record From(int peer, int topic) {}

    private record Ear(Executor executor, NoticeReceiver receiver) {}

    private final int rank;
    // all under the lock
    private final Map<From, byte[]> waiting = new HashMap<>();
    private final Map<Integer, String> unreached = new HashMap<>();
    private @Nullable Ear ear;

    public Notices(int rank) {
        this.rank = rank;
    }

    /// Any thread.
    public synchronized void receive(Executor executor, NoticeReceiver receiver) {
        Objects.requireNonNull(executor, "executor");
        ear = new Ear(executor, Objects.requireNonNull(receiver, "receiver"));
        waiting.clear();
        unreached.clear();
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

    /// On the loop.
    ///
    /// @param verdict on the peer, before
    /// @param last failure of an attempt since
    public void notReached(int peer, String verdict, String last) {
        try {
            Ear of = putUnreached(peer, verdict + "; not reached since: " + last);
            if (of != null) {
                of.executor.execute(() -> hearUnreached(of, peer));
            }
        } catch (Throwable noThread) {
            takeUnreached(peer);
            NodeLog.failed(Trouble.NOTICE_OF_PEER, rank, peer, noThread);
        }
    }

    private synchronized @Nullable Ear putUnreached(int peer, String why) {
        return ear == null || unreached.put(peer, why) != null ? null : ear;
    }

    private synchronized @Nullable String takeUnreached(int peer) {
        return unreached.remove(peer);
    }

    private void hearUnreached(Ear by, int peer) {
        String why = takeUnreached(peer);
        if (why == null) {
            return;
        }
        try {
            by.receiver.notReached(peer, why);
        } catch (Throwable failure) {
            NodeLog.failed(Trouble.NOTICE_OF_PEER, rank, peer, failure);
        }
    }

    private void log(From from, Throwable failure) {
        NodeLog.noticeFailed(rank, from.peer, from.topic, failure);
    }
}
