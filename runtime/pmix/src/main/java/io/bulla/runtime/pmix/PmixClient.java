// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.buffer.ArenaSource;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Proc;
import io.bulla.runtime.pmix.internal.core.Settings;
import io.bulla.runtime.pmix.internal.events.EventIntake;
import io.bulla.runtime.pmix.internal.events.EventQueue;
import io.bulla.runtime.pmix.internal.job.EventRequest;
import io.bulla.runtime.pmix.internal.job.Exchange;
import io.bulla.runtime.pmix.internal.job.Fences;
import io.bulla.runtime.pmix.internal.job.Names;
import io.bulla.runtime.pmix.internal.job.Server;
import io.bulla.runtime.pmix.internal.message.Outgoing;
import io.bulla.runtime.pmix.internal.session.Session;
import io.bulla.runtime.pmix.internal.wire.Command;
import io.bulla.runtime.pmix.internal.wire.UserIds;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/// A process of a job, as its launcher's PMIx server knows it: it tells the others where it is, learns where they
/// are, and waits for them.
///
/// ```java
/// try (PmixClient client = PmixClient.connect()) {
///     client.put(PmixScope.GLOBAL, "my.address", PmixValue.of(address));
///     client.commit();
///     client.fence(true, Duration.ofMinutes(1));
///     Optional<PmixValue> other = client.get(client.procOf(1), "my.address");
/// }
/// ```
///
/// - *Every call ends*: with the server's answer, or by a deadline of the client's own. A late answer is dropped.
/// - *An interrupt ends a wait*, and leaves the connection as it is.
/// - *What the server sends is bounded* by [PmixOptions], and what cannot be read fails the call that it answers.
/// - *A lost connection fails all calls once*, completes [#lost()], and does nothing else: a launcher that has gone
///   need not be the end of the program. There is no way back, for a server takes each rank once.
///
/// Any number of threads may call at once. Two threads belong to the client, both virtual: one reads as long as it
/// lives, one writes while there is something to write; listeners run on a third one while there are events.
public final class PmixClient implements AutoCloseable {

    private final PmixEnvironment environment;
    private final PmixOptions options;
    private final Proc job;
    private final ArenaSource memory = ArenaSource.create();
    private final EventQueue events;
    private final Session session;
    private final Server server;
    private final Exchange exchange;
    private final Fences fences;
    private final Names names;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private int size;

    private PmixClient(PmixEnvironment environment, PmixOptions options) throws PmixException {
        this.environment = environment;
        this.options = options;
        this.job = new Proc(environment.proc().namespace(), Proc.WILDCARD);
        this.events = new EventQueue(options.pending(), PmixClient.class.getName());
        UserIds ids = ids();
        Settings settings = new Settings(environment, options, new ClientFailures());
        this.session = new Session(settings, memory, EventIntake.of(events, settings));
        this.server = new Server(settings, session, new Outgoing(memory, environment.format()), ids);
        this.exchange = new Exchange(server);
        this.fences = new Fences(server);
        this.names = new Names(server);
    }

    private static UserIds ids() throws PmixException {
        try {
            return UserIds.ofProcess();
        } catch (IOException none) {
            throw new PmixException(PmixStatus.NOT_SUPPORTED, none.getMessage(), none.getCause());
        }
    }

    /// Joins the job of this process, with default options.
    ///
    /// @return a client that has joined
    /// @throws PmixException as [#connect(PmixEnvironment, PmixOptions)] and [PmixEnvironment#ofProcess()]
    /// @throws InterruptedException if the wait is interrupted
    public static PmixClient connect() throws PmixException, InterruptedException {
        return connect(PmixEnvironment.ofProcess(), PmixOptions.DEFAULT);
    }

    /// Joins a job: connects to the server, and learns what it knows of the job.
    ///
    /// @param environment what the launcher said
    /// @param options bounds
    /// @return a client that has joined
    /// @throws PmixException if the server cannot be reached, refuses this process, says nothing in time, or says
    ///     what cannot be read; nothing is left then
    /// @throws InterruptedException if the wait is interrupted; nothing is left then
    public static PmixClient connect(PmixEnvironment environment, PmixOptions options)
            throws PmixException, InterruptedException {
        PmixClient client = new PmixClient(environment, options);
        boolean joined = false;
        try {
            client.session.open(client.server.ids());
            client.exchange.init();
            client.size = client.exchange.jobSize();
            joined = true;
            return client;
        } finally {
            if (!joined) {
                client.end();
            }
        }
    }

    /// The environment from the launcher.
    ///
    /// @return as given
    public PmixEnvironment environment() {
        return environment;
    }

    /// The bounds of this client.
    ///
    /// @return as given
    public PmixOptions options() {
        return options;
    }

    /// This process.
    ///
    /// @return the job's name space, and this rank
    public Proc proc() {
        return environment.proc();
    }

    /// This process's rank.
    ///
    /// @return 0 to [#size()] - 1
    public int rank() {
        return proc().rank();
    }

    /// Processes of the job.
    ///
    /// @return at least 1
    public int size() {
        return size;
    }

    /// A process of the job.
    ///
    /// @param rank 0 to [#size()] - 1
    /// @return the job's name space, and the rank
    /// @throws IllegalArgumentException if there is no such rank
    public Proc procOf(int rank) {
        if (rank < 0 || rank >= size) {
            throw new IllegalArgumentException("rank is not one of the job's: rank=" + rank + " size=" + size);
        }
        return new Proc(proc().namespace(), rank);
    }

    /// The job itself: what to ask for keys that are of no single process, and who fences when all do.
    ///
    /// @return the job's name space, and the rank [Proc#WILDCARD]
    public Proc job() {
        return job;
    }

    /// The data of the job, from the server, when this process joined.
    ///
    /// @return keys, as `pmix_common.h` has them, and values; none once this client is closed
    public Map<String, PmixValue> jobInfo() {
        return exchange.all(job);
    }

    /// The host of a process.
    ///
    /// @param rank 0 to [#size()] - 1
    /// @return its name, if the server said it when this process joined
    /// @throws IllegalArgumentException if there is no such rank
    public Optional<String> hostOf(int rank) {
        return exchange.hostOf(procOf(rank));
    }

    /// The ranks on this process's host.
    ///
    /// @return in order, this one among them; this one alone if the server did not say
    public List<Integer> localRanks() {
        return exchange.localRanks(size);
    }

    /// Keeps a value for others. They see it after [#commit()].
    ///
    /// @param scope who can get it
    /// @param key at most 511 bytes; those that start with `pmix` are the server's
    /// @param value replaces a former one of the key
    /// @throws IllegalArgumentException if key or value cannot be packed, or a C peer could not read them
    public void put(PmixScope scope, String key, PmixValue value) {
        if (key.startsWith("pmix")) {
            throw new IllegalArgumentException("key is the server's: key=" + key);
        }
        exchange.put(scope, new Kval(key, value.value()));
    }

    /// Hands to the server what was put since the last commit.
    ///
    /// @throws PmixException if the server does not take it, or does not answer in time
    /// @throws InterruptedException if the wait is interrupted; a commit can be tried again
    public void commit() throws PmixException, InterruptedException {
        exchange.commit();
    }

    /// Waits for all processes of the job.
    ///
    /// @param collect whether the server is to gather what they have committed
    /// @param deadline of this client; the server has none, and waits for ever for a process that has left before
    /// @throws PmixPartialException if it ended without some of them
    /// @throws PmixException as [#fence(Set, boolean, Duration)]
    /// @throws InterruptedException if the wait is interrupted; the server goes on waiting
    public void fence(boolean collect, Duration deadline) throws PmixException, InterruptedException {
        fence(Set.of(job), collect, deadline);
    }

    /// Waits for some processes, each of which names the same ones.
    ///
    /// @param members this process among them, or [#job()] for all of the job
    /// @param collect whether the server is to gather what they have committed
    /// @param deadline of this client
    /// @throws PmixPartialException if it ended without some of them
    /// @throws PmixTimeoutException if it did not end in time; the server still counts this process in
    /// @throws PmixException if the server says no, or a fence of the same members is not answered yet
    /// @throws InterruptedException if the wait is interrupted; the server still counts this process in
    public void fence(Set<Proc> members, boolean collect, Duration deadline)
            throws PmixException, InterruptedException {
        fences.fence(members, collect, deadline);
    }

    /// Gets a value of a process, if the server has it now. What is known here already is not asked for again: one
    /// question brings all keys of a process.
    ///
    /// @param proc a process of any job, or [#job()]
    /// @param key as it was put
    /// @return nothing if the server does not have it
    /// @throws PmixException if the server cannot say, or does not in time
    /// @throws InterruptedException if the wait is interrupted
    public Optional<PmixValue> get(Proc proc, String key) throws PmixException, InterruptedException {
        return get(proc, key, Duration.ZERO);
    }

    /// Gets a value of a process, and waits for it.
    ///
    /// @param proc a process of any job, or [#job()]
    /// @param key as it is put
    /// @param wait for the server, in whole seconds, rounded up; this client waits [PmixOptions#deadline] longer
    /// @return nothing if the server did not have it in this time
    /// @throws PmixException if the server cannot say, or does not in time
    /// @throws InterruptedException if the wait is interrupted
    public Optional<PmixValue> get(Proc proc, String key, Duration wait) throws PmixException, InterruptedException {
        return exchange.get(proc, key, wait);
    }

    /// Gets a value of each of several processes, all at once.
    ///
    /// @param procs any number
    /// @param key as they put it
    /// @return the values of those who have it, in the order of the processes
    /// @throws PmixException if the server cannot say, or does not in time
    /// @throws InterruptedException if the wait is interrupted
    public Map<Proc, PmixValue> getAll(Collection<Proc> procs, String key) throws PmixException, InterruptedException {
        return getAll(procs, key, Duration.ZERO);
    }

    /// As [#getAll(Collection, String)], and lets the server ask those of other hosts.
    ///
    /// @param procs any number
    /// @param key as they put it
    /// @param wait how long the server is to wait, in whole seconds, rounded up; zero: not at all
    /// @return the values of those who have it, in the order of the processes
    /// @throws PmixException if the server cannot say, or does not in time
    /// @throws InterruptedException if the wait is interrupted
    public Map<Proc, PmixValue> getAll(Collection<Proc> procs, String key, Duration wait)
            throws PmixException, InterruptedException {
        return exchange.getAll(procs, key, wait);
    }

    /// Forgets what is known of a process, so that the next [#get] asks the server: of one that was started again.
    ///
    /// @param proc a process of any job
    public void forget(Proc proc) {
        exchange.forget(proc);
    }

    /// Publishes values under names, for processes that do not know who has them.
    ///
    /// @param values by key
    /// @param range who can look them up
    /// @param persistence how long they stay
    /// @throws PmixException if the server does not take them, or does not answer in time
    /// @throws InterruptedException if the wait is interrupted
    /// @throws IllegalArgumentException if key or value cannot be packed, or a C peer could not read them
    public void publish(Map<String, PmixValue> values, PmixRange range, PmixPersistence persistence)
            throws PmixException, InterruptedException {
        names.publish(values, range, persistence);
    }

    /// Looks up what others have published.
    ///
    /// @param keys at least one
    /// @param range where to look
    /// @param wait how long the server is to wait for all of them, in whole seconds, rounded up; zero: not at all
    /// @return those that were found, by key
    /// @throws PmixException if the server cannot say, or does not in time
    /// @throws InterruptedException if the wait is interrupted
    public Map<String, PmixPublished> lookup(Set<String> keys, PmixRange range, Duration wait)
            throws PmixException, InterruptedException {
        return names.lookup(keys, range, wait);
    }

    /// Takes back what this process has published.
    ///
    /// @param keys at least one
    /// @param range as it was published
    /// @throws PmixException if the server does not, or does not answer in time
    /// @throws InterruptedException if the wait is interrupted
    public void unpublish(Set<String> keys, PmixRange range) throws PmixException, InterruptedException {
        names.unpublish(keys, range);
    }

    /// Asks for events. Their codes have to be named: servers hand out none else. Whether any come is the
    /// engine's: Open MPI 4.1 sends none, PRRTE 3 does if it is told to notify of errors.
    ///
    /// @param codes at least one
    /// @param listener told on a thread of the client's, one event at a time
    /// @return to be closed when no more events are wanted
    /// @throws PmixException if the server does not take it, or does not answer in time
    /// @throws InterruptedException if the wait is interrupted
    public Registration onEvent(Set<PmixStatus> codes, Consumer<PmixEvent> listener)
            throws PmixException, InterruptedException {
        PmixPendingRegistration request = requestEvents(codes, listener);
        request.await();
        return request;
    }

    /// Asks for events as [#onEvent(Set, Consumer)] does, and does not wait: what is asked next goes behind it. It is
    /// a call that waits for its answer, of which there are [PmixOptions#pending] at most.
    ///
    /// @param codes at least one
    /// @param listener told on a thread of the client's, one event at a time
    /// @return to be waited for, and to be closed when no more events are wanted
    /// @throws PmixException if the client takes no calls now
    /// @throws IllegalArgumentException if there are no codes
    public PmixPendingRegistration requestEvents(Set<PmixStatus> codes, Consumer<PmixEvent> listener)
            throws PmixException {
        return new PmixPendingRegistration(EventRequest.begin(server, events, codes, listener));
    }

    /// The wish for events.
    @FunctionalInterface
    public interface Registration extends AutoCloseable {

        /// Ends it. An event that is on its way may still come.
        @Override
        void close();
    }

    /// Asks the launcher to end the job. Whether and when it does is the launcher's; this process goes on until it
    /// is killed, or ends itself.
    ///
    /// @param status for the launcher's own exit status
    /// @param text for its log
    /// @throws PmixException if the server does not take it, or does not answer in time
    /// @throws InterruptedException if the wait is interrupted
    public void abort(int status, String text) throws PmixException, InterruptedException {
        server.order(Command.ABORT, () -> server.outgoing().abort(status, text));
    }

    /// When the connection to the server is lost: the launcher has gone, or broke the protocol.
    ///
    /// @return completes with the reason; never, if this client is closed first. What depends on it runs on a
    ///     thread of the client's
    public CompletionStage<PmixException> lost() {
        return session.lost().minimalCompletionStage();
    }

    /// Answers that came when their call had been given up.
    ///
    /// @return a number that only grows
    public long lateAnswers() {
        return session.lateAnswers();
    }

    /// Events that could not be read, or that came while too many waited for their listener.
    ///
    /// @return a number that only grows
    public long droppedEvents() {
        return events.dropped();
    }

    /// Leaves the job, as [#close(Duration)] with the deadline of the options.
    @Override
    public void close() {
        close(options.deadline());
    }

    /// Leaves the job: tells the server, or the launcher would take the end of this process for a failure, and
    /// ends the connection. Calls that wait fail. An interrupt ends the wait for the server. Closing again waits
    /// for the first one.
    ///
    /// @param deadline for the server's answer
    public void close(Duration deadline) {
        if (!session.beginClose()) {
            closed.join();
            return;
        }
        boolean interrupted = false;
        try {
            if (session.finish()) {
                server.ask(Command.FINALIZE, () -> server.outgoing().plain(Command.FINALIZE), deadline)
                        .close();
            }
        } catch (InterruptedException hurry) {
            interrupted = true;
        } catch (PmixException noAnswer) {
            // so there is no server to wait for
        } finally {
            end();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void end() {
        session.leave(new PmixException(PmixStatus.NOT_JOINED, "the client has left the job: process=" + proc()));
        exchange.close();
        memory.close();
        closed.complete(null);
    }
}
