// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import io.bulla.pack.value.Proc;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.pmix.PmixClient;
import io.bulla.runtime.pmix.PmixEvent;
import io.bulla.runtime.pmix.PmixException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

/// A node of a job that its launcher knows.
///
/// ```java
/// try (PmixClient client = PmixClient.connect();
///         JobMembers members = JobMembers.meet(client, MeetOptions.DEFAULT.withSecret())) {
///     PmixNodes nodes = members.start(OobNode.builder(members.rank(), members.size())
///             .memory(memory)
///             .security(members.security())
///             .peerTimeout(Duration.ofSeconds(30)));
///     nodes.node().send(...);
///     nodes.leave(Duration.ofSeconds(5));
/// }
/// ```
public final class PmixNodes {

    private static final Duration LAST_FENCE = Duration.ofSeconds(5);
    private static final Duration LAST_WORD = Duration.ofSeconds(5);

    private final PmixClient client;
    private final OobNode node;
    private final List<Member> members;
    private final MemberDirectory directory;
    private final GoneEvents gone;

    PmixNodes(PmixClient client, OobNode node, List<Member> members, MemberDirectory directory, GoneEvents gone) {
        this.client = client;
        this.node = node;
        this.members = members;
        this.directory = directory;
        this.gone = gone;
        gone.tell(this::suspect);
    }

    private void suspect(Proc proc, PmixEvent event) {
        rankOf(proc)
                .ifPresent(rank -> node.suspect(
                        rank,
                        "the launcher says that it is gone: process=" + proc.rank() + " status=" + event.status()));
    }

    /// The running node.
    ///
    /// @return this process's own
    public OobNode node() {
        return node;
    }

    /// All nodes, as they were when they met.
    ///
    /// @return by rank
    public List<Member> members() {
        return members;
    }

    /// The node of a process.
    ///
    /// @param proc of any job
    /// @return its rank among the nodes, or nothing if it is no node
    public OptionalInt rankOf(Proc proc) {
        return members.stream()
                .filter(member -> member.proc().equals(proc))
                .mapToInt(Member::rank)
                .findFirst();
    }

    /// The process of a node.
    ///
    /// @param rank among the nodes
    /// @return name space and rank, as the launcher counts
    /// @throws IllegalArgumentException if there is no such node
    public Proc procOf(int rank) {
        return member(rank).proc();
    }

    private Member member(int rank) {
        if (rank < 0 || rank >= members.size()) {
            throw new IllegalArgumentException("rank is not a node: rank=" + rank + " nodes=" + members.size());
        }
        return members.get(rank);
    }

    /// Tells a program when the launcher says that a node's process is gone. It is a hint, and comes only from
    /// launchers that tell (`docs/launchers.md`). The node gets it in any case, by [OobNode#suspect(int, String)]:
    /// its verdict comes sooner, once it cannot reach that node either.
    ///
    /// @param listener gets the node's rank, and what was said
    /// @return to be closed when it is no longer wanted
    /// @throws PmixException if the server does not take it, or does not answer in time
    /// @throws InterruptedException if the wait is interrupted
    public PmixClient.Registration onGone(BiConsumer<Integer, PmixEvent> listener)
            throws PmixException, InterruptedException {
        return GoneEvents.listen(client, (proc, event) -> rankOf(proc).ifPresent(rank -> listener.accept(rank, event)));
    }

    /// Asks the server whether a node's process was started again. If so, its new addresses are used from now on.
    ///
    /// @param rank among the nodes
    /// @return true if what it has published is not what it had when the nodes met
    /// @throws IOException if the server cannot say, or what was published is not to be read
    /// @throws InterruptedException if the wait is interrupted
    /// @throws IllegalArgumentException if there is no such node
    public boolean lookAgain(int rank) throws IOException, InterruptedException {
        Member former = member(rank);
        client.forget(former.proc());
        Optional<Member> now = JobMembers.memberOf(client, former.proc(), rank);
        boolean another = now.isPresent() && now.get().life() != former.life();
        if (another) {
            directory.set(now.get());
        }
        return another;
    }

    /// Leaves the job: ends the node, waits a moment for the other nodes to end theirs, and closes the client. What
    /// the server says to it does not matter any more.
    ///
    /// @param drain time for what is on its way
    public void leave(Duration drain) {
        gone.close();
        node.close(drain);
        Set<Proc> whole = members.size() == client.size()
                ? Set.of(client.job())
                : members.stream().map(Member::proc).collect(Collectors.toSet());
        boolean interrupted = false;
        try {
            client.fence(whole, false, LAST_FENCE);
        } catch (PmixException someHaveLeftBefore) {
            // so they need not be waited for
        } catch (InterruptedException hurry) {
            interrupted = true;
        } finally {
            client.close(LAST_WORD);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
