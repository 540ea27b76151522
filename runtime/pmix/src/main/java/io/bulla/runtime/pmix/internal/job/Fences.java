// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.job;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.value.Proc;
import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixStatus;
import io.bulla.runtime.pmix.internal.message.Answer;
import io.bulla.runtime.pmix.internal.session.Call;
import io.bulla.runtime.pmix.internal.wire.Command;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/// The fences that this process has begun and the server has not answered. A second one of the same members beside
/// them would be counted for the first one.
public final class Fences {

    private static final Comparator<Proc> MEMBERS =
            Comparator.comparing(Proc::namespace).thenComparing(Proc::rank, Integer::compareUnsigned);

    private final Server server;
    private final Proc self;
    private final Proc job;

    private final ReentrantLock lock = new ReentrantLock();
    // under the lock
    private final Set<Set<Proc>> open = new HashSet<>();

    public Fences(Server server) {
        this.server = server;
        this.self = server.settings().self();
        this.job = server.settings().job();
    }

    public void fence(Set<Proc> members, boolean collect, Duration deadline)
            throws PmixException, InterruptedException {
        Set<Proc> whole = Set.copyOf(members);
        if (!whole.contains(self) && !whole.contains(job)) {
            throw new IllegalArgumentException("not a member of its own fence: process=" + self + " members=" + whole);
        }
        // the server tells fences apart by their members in their order
        List<Proc> inOrder = whole.stream().sorted(MEMBERS).toList();
        Call call = new Call(Command.FENCE, () -> close(whole));
        begin(call, whole, () -> server.outgoing().fence(inOrder, collect));
        try (Answer answer = server.answer(call, deadline)) {
            PmixStatus status = answer.status();
            if (status.equals(PmixStatus.PARTIAL_SUCCESS)) {
                throw server.settings()
                        .failures()
                        .partial("a fence ended without all of its members: status=" + status + " process=" + self
                                + " members=" + (whole.contains(job) ? "all" : whole.size()));
            }
            server.check(answer, status);
        }
    }

    private void begin(Call call, Set<Proc> whole, Supplier<SealedBuffer> request) throws PmixException {
        boolean first;
        lock.lock();
        try {
            first = open.add(whole);
        } finally {
            lock.unlock();
        }
        if (!first) {
            throw server.settings()
                    .failures()
                    .of(
                            PmixStatus.BAD_PARAMETER,
                            "a fence of the same members is not answered yet: process=" + self + " members="
                                    + (whole.contains(job) ? "all" : whole.size()));
        }
        boolean begun = false;
        try {
            server.begin(call, request);
            begun = true;
        } finally {
            if (!begun) {
                close(whole);
            }
        }
    }

    private void close(Set<Proc> whole) {
        lock.lock();
        try {
            open.remove(whole);
        } finally {
            lock.unlock();
        }
    }
}
