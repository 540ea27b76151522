// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import io.bulla.cli.security.TrialCertificates;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.security.Security;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;

/// Nodes in this process, each with a port of its own.
final class LocalCrew implements Crew {

    private final XcastCommand options;
    private final NodeParts parts;
    private final EventLoopGroup loops;
    private final TrialCertificates certificates;
    private final List<Recipient> recipients = new ArrayList<>();
    private InetSocketAddress root;

    /// @param loops that all share
    LocalCrew(XcastCommand options, NodeParts parts, EventLoopGroup loops) throws IOException {
        this.options = options;
        this.parts = parts;
        this.loops = loops;
        checkLoopback();
        this.certificates = options.protection.tls ? TrialCertificates.temporary(options.nodes()) : null;
    }

    @Override
    public InetSocketAddress rootBind() {
        return bind(0);
    }

    @Override
    public Security rootSecurity() throws IOException {
        return security(0);
    }

    @Override
    public void start(InetSocketAddress root) throws IOException {
        this.root = root;
        for (int rank = 1; rank <= options.nodes(); rank++) {
            recipients.add(Recipient.start(
                    parts.node(rank, options.nodes() + 1, security(rank))
                            .directory(this::addressOf)
                            .bind(bind(rank))
                            .loops(loops),
                    parts.meters(),
                    rank == options.run.failNode ? node -> Thread.startVirtualThread(node::close) : null,
                    (message, trouble) -> {}));
        }
        deleteCertificates();
    }

    @Override
    public InetSocketAddress addressOf(int rank) {
        return rank == 0 ? root : recipients.get(rank - 1).node().address();
    }

    @Override
    public boolean isHere() {
        return true;
    }

    @Override
    public long sends() {
        return recipients.stream()
                .map(Recipient::node)
                .mapToLong(OobNode::broadcastSends)
                .sum();
    }

    @Override
    public String describe() {
        return "in this process";
    }

    @Override
    public void close() throws IOException {
        recipients.forEach(Recipient::close);
        deleteCertificates();
    }

    private void deleteCertificates() throws IOException {
        if (certificates != null) {
            certificates.close();
        }
    }

    private Security security(int rank) throws IOException {
        return certificates == null ? Security.plaintext() : certificates.of(rank);
    }

    private InetSocketAddress bind(int rank) {
        return new InetSocketAddress(
                InetAddress.getLoopbackAddress(), options.where.port == 0 ? 0 : options.where.port + rank);
    }

    static void checkLoopback() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        NetworkInterface carrier = NetworkInterface.getByInetAddress(loopback);
        if (carrier == null || !carrier.isUp()) {
            throw new IOException("loopback address is not up: address=" + loopback.getHostAddress()
                    + "; bring it up, as by: ip link set lo up");
        }
    }
}
