// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.embedding;

import com.google.protobuf.ListValue;
import io.bulla.bench.embedding.Embedding.Way;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jgroups.Address;
import org.jgroups.blocks.cs.TcpServer;
import org.jgroups.stack.IpAddress;

/// What JGroups' TCP does with a message to the group: serialized once, then written to each member's connection.
final class JGroupsNodes implements Embedding.Layer {

    private static final int NODES = 50;

    private final Readers readers = new Readers(2 * NODES);
    private final TcpServer server = new TcpServer(InetAddress.getLoopbackAddress(), 0);
    private final List<SocketChannel> channels = new ArrayList<>();
    private final Map<String, Way> ways = new LinkedHashMap<>();

    JGroupsNodes(ArenaSource memory, ListValue message) throws Exception {
        server.start();
        List<Address> members = new ArrayList<>();
        for (InetSocketAddress each : readers.addresses.subList(0, NODES)) {
            members.add(new IpAddress(each.getAddress(), each.getPort()));
        }
        for (InetSocketAddress each : readers.addresses.subList(NODES, 2 * NODES)) {
            channels.add(SocketChannel.open(each));
        }
        ways.put("as-it-is", () -> {
            ByteBuffer once = ByteBuffer.wrap(message.toByteArray());
            for (Address member : members) {
                server.send(member, once.rewind());
            }
        });
        // what an adapter could reach: a gathering write of shared direct memory to each member
        ways.put("sealed", () -> {
            try (BufferBuilder builder = BufferBuilder.create(memory)) {
                message.writeTo(builder.asOutputStream());
                try (SealedBuffer sealed = builder.seal()) {
                    ByteBuffer size = ByteBuffer.allocateDirect(Integer.BYTES).putInt((int) sealed.byteSize());
                    for (SocketChannel channel : channels) {
                        write(channel, size.rewind(), sealed);
                    }
                }
            }
        });
    }

    private static void write(SocketChannel channel, ByteBuffer size, SealedBuffer sealed) throws Exception {
        ByteBuffer[] regions = sealed.iovec().asByteBuffers();
        ByteBuffer[] frame = new ByteBuffer[1 + regions.length];
        frame[0] = size;
        System.arraycopy(regions, 0, frame, 1, regions.length);
        while (frame[frame.length - 1].hasRemaining()) {
            channel.write(frame);
        }
    }

    @Override
    public Map<String, Way> ways() {
        return ways;
    }

    @Override
    public int receivers() {
        return NODES;
    }

    @Override
    public void close() throws Exception {
        server.close();
        for (SocketChannel channel : channels) {
            channel.close();
        }
        readers.close();
    }
}
