// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.cli.security.SecurityOptions;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.OobNodeBuilder;
import io.bulla.runtime.oob.pmix.JobMembers;
import io.bulla.runtime.oob.pmix.MeetOptions;
import io.bulla.runtime.oob.pmix.PmixNodes;
import io.bulla.runtime.oob.security.Security;
import io.bulla.runtime.pmix.PmixClient;
import io.bulla.runtime.pmix.PmixEnvironment;
import io.bulla.runtime.pmix.PmixOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/// This process's place in the job of a launcher that speaks PMIx, from `--pmix`.
final class PmixJob implements AutoCloseable {

    /// Nodes of a job start at once, often more of them than there are processors.
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Duration MEETING = Duration.ofMinutes(5);
    private static final Duration SILENCE = Duration.ofSeconds(15);
    private static final Duration DRAIN = Duration.ofSeconds(5);
    private static final Duration HURRY = Duration.ofSeconds(1);

    /// A line for the person who looks at a command that says nothing, if the others do not come soon.
    private record Waiting(Thread line) implements AutoCloseable {

        static Waiting said(PrintWriter err) {
            return new Waiting(Thread.ofVirtual().start(() -> {
                try {
                    Thread.sleep(SILENCE);
                    err.println("bulla: waits until all ranks of the job have called PMIx: most=" + MEETING.toSeconds()
                            + " s; a rank that ended before, or does not call it, is waited for in vain");
                    err.flush();
                } catch (InterruptedException inTime) {
                    // as it should be
                }
            }));
        }

        @Override
        public void close() {
            line.interrupt();
        }
    }

    private final PmixClient client;
    private final JobMembers members;
    private final Security security;
    // null until the node is started; volatile: read by the thread that ends the process
    private volatile PmixNodes nodes;

    private PmixJob(PmixClient client, JobMembers members, Security security) {
        this.client = client;
        this.members = members;
        this.security = security;
    }

    /// Joins the job, and waits for its other processes.
    ///
    /// @param options what protects the nodes; if nothing is given, a secret that the first of them makes
    /// @throws IOException that says why, if this process has no launcher, or the others do not come
    static PmixJob join(CommandSpec command, SecurityOptions options) throws IOException, InterruptedException {
        PmixClient client =
                PmixClient.connect(PmixEnvironment.ofProcess(), PmixOptions.DEFAULT.within(PATIENCE.multipliedBy(2)));
        JobMembers members = null;
        boolean joined = false;
        try {
            boolean ownSecurity = options.isGiven();
            MeetOptions meet = MeetOptions.DEFAULT.within(MEETING);
            try (Waiting _ = Waiting.said(command.commandLine().getErr())) {
                members = JobMembers.meet(client, ownSecurity ? meet : meet.withSecret());
            }
            Security security = ownSecurity ? options.of(command, members.rank()) : members.security();
            PmixJob job = new PmixJob(client, members, security);
            joined = true;
            return job;
        } finally {
            if (!joined) {
                if (members != null) {
                    members.close();
                }
                client.close(HURRY);
            }
        }
    }

    /// This node's rank, and its process's: the same unless some processes are no nodes.
    int rank() {
        return members.rank();
    }

    /// Nodes, this one too.
    int size() {
        return members.size();
    }

    Security security() {
        return security;
    }

    /// The likeliest address of a node.
    InetSocketAddress addressOf(int rank) {
        List<InetSocketAddress> addresses = members.members().get(rank).addresses();
        return addresses.isEmpty() ? new InetSocketAddress(0) : addresses.getFirst();
    }

    /// Refuses to be alone.
    void checkNotAlone() throws IOException {
        if (size() < 2) {
            throw new IOException("no other node in the job: processes=" + client.size()
                    + " nodes=1; if there should be, start every rank with --pmix, and where C ranks are among them"
                    + " set PMIX_MCA_gds=hash for all");
        }
    }

    String describe() {
        return "nodes=" + size() + " processes=" + client.size() + " launcher=PMIx-"
                + client.environment().version() + " job=" + client.proc().namespace();
    }

    OobNode start(OobNodeBuilder builder, Duration peerTimeout) throws IOException {
        Duration patience = peerTimeout.compareTo(PATIENCE) > 0 ? peerTimeout : PATIENCE;
        nodes = members.start(builder.peerTimeout(patience).helloDeadline(PATIENCE));
        return nodes.node();
    }

    /// When the launcher has gone.
    void onLost(Runnable step) {
        client.lost().thenRun(step);
    }

    /// Ends the node in order: with a last wait for the others.
    void leave() {
        if (nodes != null) {
            nodes.leave(DRAIN);
        }
    }

    @Override
    public void close() throws IOException {
        leave();
        members.close();
        client.close(HURRY);
    }

    /// At once, when the process has been told to end.
    void hurry() {
        if (nodes != null) {
            nodes.node().close(HURRY);
        }
        client.close(HURRY);
    }
}
