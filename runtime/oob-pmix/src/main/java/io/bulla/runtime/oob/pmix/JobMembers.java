// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import io.bulla.pack.value.Proc;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.security.PeerIdentity;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.oob.security.SharedSecret;
import io.bulla.runtime.pmix.PmixClient;
import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixScope;
import io.bulla.runtime.pmix.PmixValue;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The nodes of a job, once they have met, and this one's socket, which listens already.
///
/// ```
/// listen --> put the card, commit --> fence, of all processes --> get the cards --> start(builder)
/// ```
///
/// All processes of the job take part in the fence, so C programs too have to call it once: `PMIx_Fence` of the whole
/// name space with `PMIX_COLLECT_DATA`, as `MPI_Init` does. One thread at a time.
public final class JobMembers implements AutoCloseable {

    // for a process that has committed nothing, all of it passes
    private static final Duration SECOND_LOOK = Duration.ofSeconds(10);
    private static final int SECRET_BYTES = 32;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final PmixClient client;
    // null once a node has it, or it is closed
    private @Nullable ServerSocketChannel listener;
    private final List<Member> members;
    private final int rank;
    private final byte @Nullable [] secret;
    private final GoneEvents gone;

    private JobMembers(
            PmixClient client,
            GoneEvents gone,
            ServerSocketChannel listener,
            List<Member> members,
            byte @Nullable [] secret)
            throws IOException {
        this.client = client;
        this.gone = gone;
        this.listener = listener;
        this.members = List.copyOf(members);
        this.secret = secret;
        this.rank = members.stream()
                .filter(member -> member.proc().equals(client.proc()))
                .findFirst()
                .orElseThrow(() -> new IOException("not among the nodes itself: process=" + client.proc()))
                .rank();
    }

    /// Meets the other nodes.
    ///
    /// @param client joined; it stays the caller's
    /// @param options where to listen, and how long to wait
    /// @return to be started or closed
    /// @throws io.bulla.runtime.pmix.PmixException if a process is missing, or the server fails
    /// @throws IOException if the address cannot be bound, or what another node published is not to be read
    /// @throws InterruptedException if the wait is interrupted
    public static JobMembers meet(PmixClient client, MeetOptions options) throws IOException, InterruptedException {
        ServerSocketChannel listener = listen(client, options);
        GoneEvents gone = null;
        boolean met = false;
        try {
            gone = GoneEvents.of(client);
            byte[] own = options.secret() ? random() : new byte[0];
            InetSocketAddress bound = (InetSocketAddress) listener.getLocalAddress();
            Card card = new Card(RANDOM.nextLong(), Candidates.of(bound), options.fingerprint(), own);
            client.put(PmixScope.GLOBAL, Card.KEY, PmixValue.of(card.pack()));
            client.commit();
            // before the fence, so that no death behind it is missed
            gone.await();
            client.fence(true, options.deadline());
            JobMembers members = read(client, gone, listener, options.secret());
            met = true;
            return members;
        } finally {
            if (!met) {
                if (gone != null) {
                    gone.close();
                }
                listener.close();
            }
        }
    }

    private static ServerSocketChannel listen(PmixClient client, MeetOptions options) throws IOException {
        boolean oneHost = client.localRanks().size() == client.size();
        InetSocketAddress address = options.bind()
                .orElseGet(() -> oneHost
                        ? new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)
                        : new InetSocketAddress(0));
        ServerSocketChannel listener = ServerSocketChannel.open();
        try {
            return listener.bind(address, 1024);
        } catch (IOException failure) {
            listener.close();
            throw new IOException("cannot listen on " + address + ": " + failure.getMessage(), failure);
        }
    }

    private static JobMembers read(
            PmixClient client, GoneEvents gone, ServerSocketChannel listener, boolean wantsSecret)
            throws IOException, InterruptedException {
        List<Proc> all = new ArrayList<>();
        for (int i = 0; i < client.size(); i++) {
            all.add(client.procOf(i));
        }
        List<Member> members = new ArrayList<>();
        byte[] secret = new byte[0];
        Map<Proc, PmixValue> cards = cards(client, all);
        for (Proc proc : all) {
            PmixValue published = cards.get(proc);
            if (published == null) {
                continue;
            }
            Card card = card(proc, published);
            if (members.isEmpty()) {
                secret = card.secret();
            }
            members.add(member(client, proc, members.size(), card));
        }
        if (wantsSecret && secret.length < SharedSecret.LEAST) {
            throw new IOException("the first node has made no secret: bytes=" + secret.length + " nodes=" + members);
        }
        return new JobMembers(client, gone, listener, members, wantsSecret ? secret : null);
    }

    /// What the processes have published. A server that a fence brings nothing from other hosts asks their servers
    /// when it may wait: PRRTE 3.0 is one.
    private static Map<Proc, PmixValue> cards(PmixClient client, List<Proc> all)
            throws PmixException, InterruptedException {
        Map<Proc, PmixValue> cards = new HashMap<>(client.getAll(all, Card.KEY));
        List<Proc> elsewhere = all.stream()
                .filter(proc -> !cards.containsKey(proc) && !client.localRanks().contains(proc.rank()))
                .toList();
        if (!elsewhere.isEmpty()) {
            cards.putAll(client.getAll(elsewhere, Card.KEY, SECOND_LOOK));
        }
        return cards;
    }

    /// What a process has published, if it is a node.
    static Optional<Member> memberOf(PmixClient client, Proc proc, int rank) throws IOException, InterruptedException {
        Optional<PmixValue> published =
                Optional.ofNullable(cards(client, List.of(proc)).get(proc));
        return published.isEmpty()
                ? Optional.empty()
                : Optional.of(member(client, proc, rank, card(proc, published.get())));
    }

    private static Member member(PmixClient client, Proc proc, int rank, Card card) {
        boolean sameHost = client.hostOf(proc.rank()).equals(client.hostOf(client.rank()));
        List<InetSocketAddress> addresses = Candidates.seenFrom(sameHost, card.addresses());
        return new Member(rank, proc, card.life(), addresses, card.fingerprint());
    }

    private static Card card(Proc proc, PmixValue value) throws IOException {
        try {
            return Card.unpack(value.asBytes());
        } catch (IllegalStateException | IOException wrong) {
            throw new IOException(
                    "what a process published is not a node's: process=" + proc + " why=[" + wrong.getMessage() + "]",
                    wrong);
        }
    }

    private static byte[] random() {
        byte[] secret = new byte[SECRET_BYTES];
        RANDOM.nextBytes(secret);
        return secret;
    }

    /// This node's rank.
    ///
    /// @return 0 to [#size()] - 1
    public int rank() {
        return rank;
    }

    /// Nodes of the job; processes that are none are not counted.
    ///
    /// @return at least 1
    public int size() {
        return members.size();
    }

    /// All nodes.
    ///
    /// @return by rank
    public List<Member> members() {
        return members;
    }

    /// Protection by the secret that the first node made for all.
    ///
    /// @return TLS for this node
    /// @throws IllegalStateException if no secret was asked for
    /// @throws IOException if this machine has no TLS 1.3
    public Security security() throws IOException {
        if (secret == null) {
            throw new IllegalStateException("no secret was asked for: node=" + rank);
        }
        return SharedSecret.of(secret, new PeerIdentity(jobName(), rank));
    }

    /// The name space, as the name of a job may be.
    private String jobName() {
        String namespace = client.proc().namespace().replaceAll("[^A-Za-z0-9.-]", "-");
        return ("pmix-" + namespace).substring(0, Math.min(63, namespace.length() + 5));
    }

    /// Starts this node. The socket is the node's from now on.
    ///
    /// @param builder of a node of [#rank()] and [#size()]; its directory and its listener are set here
    /// @return a running node among the others
    /// @throws IOException as [OobNodeBuilder#start()]; the socket is closed then
    public PmixNodes start(OobNodeBuilder builder) throws IOException {
        if (listener == null) {
            throw new IllegalStateException("started or closed already: rank=" + rank);
        }
        MemberDirectory directory = new MemberDirectory(members);
        builder.directory(directory).listener(listener);
        listener = null;
        boolean started = false;
        try {
            OobNode node = builder.start();
            if (node.rank() != rank) {
                node.close();
                throw new IllegalArgumentException(
                        "builder is another node's: rank=" + node.rank() + " wanted=" + rank);
            }
            PmixNodes nodes = new PmixNodes(client, node, members, directory, gone);
            started = true;
            return nodes;
        } finally {
            if (!started) {
                // there is no node that leaves
                gone.close();
            }
        }
    }

    /// Closes the socket, unless a node has it.
    @Override
    public void close() throws IOException {
        ServerSocketChannel last = listener;
        if (last != null) {
            listener = null;
            try {
                gone.close();
            } finally {
                last.close();
            }
        }
    }
}
