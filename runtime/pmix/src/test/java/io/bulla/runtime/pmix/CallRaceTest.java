// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemorySource;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Value;
import io.bulla.runtime.pmix.internal.core.Failures;
import io.bulla.runtime.pmix.internal.core.Settings;
import io.bulla.runtime.pmix.internal.events.EventIntake;
import io.bulla.runtime.pmix.internal.events.EventQueue;
import io.bulla.runtime.pmix.internal.job.Exchange;
import io.bulla.runtime.pmix.internal.job.Fences;
import io.bulla.runtime.pmix.internal.job.Server;
import io.bulla.runtime.pmix.internal.message.Outgoing;
import io.bulla.runtime.pmix.internal.session.Session;
import io.bulla.runtime.pmix.internal.wire.Command;
import io.bulla.runtime.pmix.internal.wire.UserIds;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Two threads at one call, each step in the order that hurts.
@Timeout(300)
class CallRaceTest {

    private static final PmixOptions OPTIONS = PmixOptions.DEFAULT.within(Duration.ofSeconds(120));

    /// A session that has joined, as a client makes it, and what a test puts in between.
    private static Server joined(ScriptedServer scripted, MemorySource memory, MemorySource outgoing, Failures failures)
            throws Exception {
        Settings settings = new Settings(scripted.environment(), OPTIONS, failures);
        EventQueue events = new EventQueue(OPTIONS.pending(), CallRaceTest.class.getName());
        Session session = new Session(settings, memory, EventIntake.of(events, settings));
        UserIds ids = new UserIds(1, 1);
        session.open(ids);
        return new Server(
                settings, session, new Outgoing(outgoing, settings.environment().format()), ids);
    }

    private static PmixException left() {
        return new PmixException(PmixStatus.NOT_JOINED, "left, for a test");
    }

    /// The first piece of memory that one thread takes comes when the test says so.
    private static final class Gate implements MemorySource {

        private final MemorySource memory;
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch opened = new CountDownLatch(1);
        // volatile: set by the test, read by the threads that take memory
        private volatile Thread held;

        Gate(MemorySource memory) {
            this.memory = memory;
        }

        @Override
        public Region allocate(long byteSize) {
            if (Thread.currentThread() == held) {
                reached.countDown();
                try {
                    opened.await();
                } catch (InterruptedException hurry) {
                    throw new AssertionError(hurry);
                }
            }
            return memory.allocate(byteSize);
        }
    }

    private static Thread committing(FutureTask<Void> task) {
        return Thread.ofPlatform().daemon().unstarted(task);
    }

    private static FutureTask<Void> commit(Exchange exchange) {
        return new FutureTask<>(() -> {
            exchange.commit();
            return null;
        });
    }

    @Test
    void newestValueIsTheLastThatIsCommitted() throws Exception {
        try (ScriptedServer scripted = new ScriptedServer(ScriptedServer::captured);
                ArenaSource memory = ArenaSource.create()) {
            Gate gate = new Gate(memory);
            Server server = joined(scripted, memory, gate, new ClientFailures());
            try (Exchange exchange = new Exchange(server)) {
                exchange.put(PmixScope.GLOBAL, new Kval("key", Value.of("OLD")));
                FutureTask<Void> first = commit(exchange);
                Thread slow = committing(first);
                gate.held = slow;
                slow.start();
                gate.reached.await();
                exchange.put(PmixScope.GLOBAL, new Kval("key", Value.of("NEW")));
                FutureTask<Void> second = commit(exchange);
                Thread fast = committing(second);
                fast.start();
                // done, or behind the first one's lock: a wait for an answer is TIMED_WAITING
                while (!second.isDone() && fast.getState() != Thread.State.WAITING) {
                    Thread.onSpinWait();
                }
                gate.opened.countDown();
                first.get();
                second.get();
            } finally {
                server.session().leave(left());
            }
            List<String> commits = scripted.requests.stream()
                    .filter(request -> request.command() == Command.COMMIT.code())
                    .map(request -> new String(request.body(), StandardCharsets.ISO_8859_1).replaceAll("[^ -~]", "."))
                    .toList();
            assertEquals(2, commits.size());
            assertTrue(commits.getLast().contains("NEW"), () -> "the last commit holds the old value: " + commits);
        }
    }

    /// The session ends between the end of the wait and the verdict on it.
    @Test
    void callThatFailsAsItsTimeEndsFailsByName() throws Exception {
        Session[] session = new Session[1];
        Failures endsFirst = new Failures() {
            private final Failures real = new ClientFailures();

            @Override
            public PmixException of(PmixStatus status, String message, Throwable cause) {
                return real.of(status, message, cause);
            }

            @Override
            public PmixException again(PmixException failure) {
                return real.again(failure);
            }

            @Override
            public PmixTimeoutException late(String message) {
                session[0].leave(left());
                return real.late(message);
            }

            @Override
            public PmixPartialException partial(String message) {
                return real.partial(message);
            }
        };
        try (ScriptedServer scripted = new ScriptedServer((request, peer) -> {});
                ArenaSource memory = ArenaSource.create()) {
            Server server = joined(scripted, memory, memory, endsFirst);
            session[0] = server.session();
            Fences fences = new Fences(server);
            PmixException ended = assertThrows(
                    PmixException.class,
                    () -> fences.fence(Set.of(server.settings().job()), false, Duration.ZERO));
            assertEquals("left, for a test", ended.getMessage());
            assertEquals(PmixStatus.NOT_JOINED, ended.status());
        }
    }
}
