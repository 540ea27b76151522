// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.WireFormat;
import io.bulla.runtime.checkpoint.RecordHeader.Kind;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.cut.NodeCut;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Map;
import java.util.Optional;

/// Writes a rank's file: records, of which the last says how many there are. The image stays the caller's, and open,
/// meanwhile.
final class RankWriter {

    static final int MOST_NAME = 255;
    static final int LANE_NUMBERS = 3 * Long.BYTES;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final ByteBuffer ZEROS = ByteBuffer.allocate(8).asReadOnlyBuffer();

    private final GatherWriter out;
    private final MessageDigest headers = Digests.sha256();
    private long records;
    private int messages;

    private RankWriter(GatheringByteChannel file) {
        this.out = new GatherWriter(file);
    }

    /// @throws IllegalArgumentException if a state's name is too long; nothing is written then
    static RankEntry write(GatheringByteChannel file, long epoch, long attempt, RankImage image) throws IOException {
        image.states().keySet().forEach(RankWriter::name);
        return new RankWriter(file).write(epoch, attempt, image);
    }

    private RankEntry write(long epoch, long attempt, RankImage image) throws IOException {
        NodeCut cut = image.cut();
        record(Kind.HEAD, 0, 0, cut.rank(), cut.size(), epoch, RecordHeader.VERSION, attempt, NOTHING);
        for (Map.Entry<String, SealedBuffer> state : image.states().entrySet()) {
            state(name(state.getKey()), state.getValue());
        }
        for (NodeCut.OfPeer peer : cut.peers()) {
            session(peer);
        }
        for (Message message : cut.arrived()) {
            message(Kind.ARRIVED, message);
        }
        for (Message message : cut.broadcasts()) {
            message(Kind.BROADCAST, message);
        }
        record(Kind.END, 0, 0, cut.rank(), cut.size(), records, messages, 0, NOTHING);
        out.flush();
        return new RankEntry(cut.rank(), out.bytes(), messages, out.sha256(), Digests.text(headers));
    }

    static byte[] name(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > MOST_NAME) {
            throw new IllegalArgumentException(
                    "name of a state is too long: bytes=" + bytes.length + " most=" + MOST_NAME);
        }
        return bytes;
    }

    private void state(byte[] name, SealedBuffer state) throws IOException {
        ByteBuffer[] views = state.iovec().lent().asByteBuffers();
        ByteBuffer[] body = new ByteBuffer[views.length + 1];
        body[0] = ByteBuffer.wrap(name);
        System.arraycopy(views, 0, body, 1, views.length);
        record(Kind.STATE, 0, 0, 0, 0, 0, 0, name.length, body);
    }

    private void session(NodeCut.OfPeer peer) throws IOException {
        ByteBuffer numbers = ByteBuffer.allocate(peer.lanes().size() * LANE_NUMBERS);
        for (NodeCut.OfLane lane : peer.lanes()) {
            numbers.putLong(lane.next()).putLong(lane.acknowledged()).putLong(lane.expected());
        }
        record(Kind.SESSION, 0, 0, peer.peer(), 0, 0, 0, 0, numbers.flip());
        for (int lane = 0; lane < peer.lanes().size(); lane++) {
            for (NodeCut.Outgoing message : peer.lanes().get(lane).outgoing()) {
                outgoing(peer.peer(), lane, message);
            }
        }
    }

    private void outgoing(int peer, int lane, NodeCut.Outgoing message) throws IOException {
        Optional<SealedBuffer> bytes = message.bytes();
        record(
                bytes.isPresent() ? Kind.OUTGOING : Kind.SKIPPED,
                lane,
                mark(message.format()),
                peer,
                message.tag(),
                message.number(),
                message.order(),
                message.length(),
                bytes.map(RankWriter::views).orElse(new ByteBuffer[0]));
        messages += bytes.isPresent() ? 1 : 0;
    }

    private void message(Kind kind, Message message) throws IOException {
        SealedBuffer bytes = message.buffer();
        int mark = mark(message.format());
        record(kind, 0, mark, message.origin(), message.tag(), 0, 0, bytes.byteSize(), views(bytes));
        messages++;
    }

    private static ByteBuffer[] views(SealedBuffer bytes) {
        return bytes.iovec().lent().asByteBuffers();
    }

    private static int mark(Optional<WireFormat> format) {
        return format.map(WireFormat::mark).orElse(0);
    }

    private void record(
            Kind kind, int lane, int mark, int rank, int tag, long number, long order, long length, ByteBuffer... body)
            throws IOException {
        long bytes = 0;
        for (ByteBuffer each : body) {
            bytes += each.remaining();
        }
        RecordHeader header =
                new RecordHeader(kind, lane, mark, bytes, rank, tag, number, order, length, Digests.crc(body));
        ByteBuffer above = header.toBytes();
        headers.update(above.duplicate());
        out.put(above);
        for (ByteBuffer each : body) {
            out.put(each);
        }
        out.put(ZEROS.slice(0, RecordHeader.padding(bytes)));
        records++;
    }
}
