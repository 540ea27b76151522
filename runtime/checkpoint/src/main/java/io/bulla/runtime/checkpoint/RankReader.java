// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.WireFormat;
import io.bulla.refcount.internal.Failures;
import io.bulla.runtime.checkpoint.RecordHeader.Kind;
import io.bulla.runtime.oob.Message;
import io.bulla.runtime.oob.cut.NodeCut;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/// Reads a rank's file, and gives it out when all of it was checked.
final class RankReader {

    /// Where the bodies of records are, once they are read.
    interface Bodies {

        /// The next bytes of the file.
        ///
        /// @return the caller's
        SealedBuffer next(RankChannel in, long bytes) throws IOException;

        /// CRC32C of what was read last.
        ///
        /// @param first what stands before the body, and counts
        int crc(ByteBuffer first, SealedBuffer body) throws IOException;
    }

    /// In memory of a source.
    ///
    /// The source's budget is asked before anything is read. No memory is taken for what the file does not have:
    /// its size is known to be the manifest's, or as much is read at a time as has come.
    record InMemory(MemorySource source) implements Bodies {

        private static final long FIRST = 1 << 16;

        @Override
        public SealedBuffer next(RankChannel in, long bytes) throws IOException {
            long first = in.size() >= 0 ? bytes : Math.min(bytes, FIRST);
            try (BufferBuilder builder = BufferBuilder.ofCapacity(source, Math.max(1, first))) {
                in.readInto(builder, first);
                while (builder.byteSize() < bytes) {
                    in.readInto(builder, Math.min(bytes - builder.byteSize(), builder.byteSize()));
                }
                return builder.seal();
            }
        }

        @Override
        public int crc(ByteBuffer first, SealedBuffer body) {
            ByteBuffer[] views = body.iovec().lent().asByteBuffers();
            ByteBuffer[] all = new ByteBuffer[views.length + 1];
            all[0] = first;
            System.arraycopy(views, 0, all, 1, views.length);
            return Digests.crc(all);
        }
    }

    /// A rank's file in memory that shows it: bodies are parts of that memory, and nothing is copied for long.
    ///
    /// Each byte is read by a copy into a small array, which the JVM guards. If the file is cut short meanwhile,
    /// that is an [InternalError] here, thrown late, and a damaged file for the caller. A checksum over the
    /// mapping itself would end the process.
    static final class Mapped implements ReadableByteChannel, Bodies {

        private static final int CHUNK = 1 << 14;

        private final MemorySegment memory;
        private final SealedBuffer whole;
        private final byte[] chunk = new byte[CHUNK];
        private long position;

        /// @param memory of the whole file, accessible by any thread; it is let go by the garbage collector, once no
        ///     body is left
        /// @throws IllegalArgumentException if only some threads may access the memory
        Mapped(MemorySegment memory) {
            this.memory = memory.asReadOnly();
            this.whole = SealedBuffer.adopt(this.memory, () -> {});
        }

        long size() {
            return memory.byteSize();
        }

        @Override
        public int read(ByteBuffer into) throws IOException {
            int bytes = (int) Math.min(Math.min(into.remaining(), CHUNK), size() - position);
            if (bytes == 0 && into.hasRemaining()) {
                return -1;
            }
            copy(position, bytes);
            into.put(chunk, 0, bytes);
            position += bytes;
            return bytes;
        }

        @Override
        public SealedBuffer next(RankChannel in, long bytes) throws IOException {
            if (bytes > size() - position) {
                throw new EOFException("file ends early");
            }
            SealedBuffer body = whole.slice(position, bytes);
            position += bytes;
            in.passed(bytes);
            return body;
        }

        /// Of the bytes before the position, and of what stands before those.
        @Override
        public int crc(ByteBuffer first, SealedBuffer body) throws IOException {
            CRC32C crc = new CRC32C();
            crc.update(first.duplicate());
            for (long left = body.byteSize(); left > 0; ) {
                int bytes = (int) Math.min(left, CHUNK);
                copy(position - left, bytes);
                crc.update(chunk, 0, bytes);
                left -= bytes;
            }
            return (int) crc.getValue();
        }

        private void copy(long from, int bytes) throws IOException {
            try {
                MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, from, chunk, 0, bytes);
                // the JVM throws it at the thread's next safepoint poll, which compiled code may have far behind; the
                // return from a native method is one
                Thread.holdsLock(chunk);
            } catch (InternalError gone) {
                // what the JVM throws where the medium has no byte
                throw new EOFException("file was cut short: offset=" + from);
            }
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        /// The bodies that were given out stay.
        @Override
        public void close() {
            whole.close();
        }
    }

    private static final int LANES = 3;

    private final CheckpointManifest manifest;
    private final RankEntry entry;
    private final RankChannel in;
    private final Bodies bodies;
    private final RestoreLimits limits;
    // closed if the file is refused
    private final List<SealedBuffer> handles = new ArrayList<>();
    private final SortedMap<String, SealedBuffer> states = new TreeMap<>();
    private final List<NodeCut.OfPeer> peers = new ArrayList<>();
    private final List<Message> arrived = new ArrayList<>();
    private final List<Message> broadcasts = new ArrayList<>();
    private final MessageDigest headers = Digests.sha256();
    private long recordAt;
    private long records;
    private long messages;

    RankReader(CheckpointManifest manifest, RankEntry entry, RankChannel in, Bodies bodies, RestoreLimits limits) {
        this.manifest = manifest;
        this.entry = entry;
        this.in = in;
        this.bodies = bodies;
        this.limits = limits;
    }

    RankImage read() throws IOException {
        try {
            return whole();
        } catch (IOException | RuntimeException | Error failure) {
            // each of them, also where there is no heap
            Failures.closeAll(handles, failure);
            throw failure;
        }
    }

    private RankImage whole() throws IOException {
        try {
            all();
            return image();
        } catch (EOFException early) {
            throw damaged("file ends early");
        }
    }

    private void all() throws IOException {
        check(
                in.size() < 0 || in.size() == entry.bytes(),
                "size of the file: bytes=" + in.size() + " expected=" + entry.bytes());
        head(next());
        RecordHeader record = next();
        while (record.kind() == Kind.STATE) {
            state(record);
            record = next();
        }
        while (record.kind() == Kind.SESSION) {
            record = session(record);
        }
        while (record.kind() == Kind.ARRIVED) {
            arrived.add(received(record));
            record = next();
        }
        while (record.kind() == Kind.BROADCAST) {
            broadcasts.add(received(record));
            record = next();
        }
        end(record);
    }

    private Message received(RecordHeader record) throws IOException {
        return new Message(record.rank(), record.tag(), format(record), message(record));
    }

    private void head(RecordHeader head) throws IOException {
        check(head.kind() == Kind.HEAD && head.body() == 0, "no head");
        check(head.order() == RecordHeader.VERSION, "unknown version=" + head.order());
        check(
                head.rank() == entry.rank() && head.tag() == manifest.nodes() && head.number() == manifest.epoch(),
                "another file: rank=" + head.rank() + " nodes=" + head.tag() + " epoch=" + head.number());
        check(
                head.length() == manifest.attempt(),
                "file of another attempt: attempt=" + Long.toHexString(head.length()) + " expected="
                        + Long.toHexString(manifest.attempt()));
    }

    /// The digest of the headers stands for all records, and the checksums in them for the bodies. The digest of the
    /// whole file is not looked at: it takes three times as long as all else ([CheckpointArchive#verify]).
    private void end(RecordHeader end) throws IOException {
        check(end.kind() == Kind.END && end.body() == 0, "record out of place: kind=" + end.kind());
        check(
                end.number() == records - 1 && end.order() == messages && messages == entry.messages(),
                "records missing");
        check(in.isAtEnd() && in.position() == entry.bytes(), "bytes behind the end");
        check(Digests.text(headers).equals(entry.records()), "digest of the headers differs");
    }

    private RankImage image() throws CheckpointException {
        try {
            return new RankImage(new NodeCut(entry.rank(), manifest.nodes(), peers, arrived, broadcasts), states);
        } catch (IllegalArgumentException | IndexOutOfBoundsException wrong) {
            throw damaged(String.valueOf(wrong.getMessage()));
        }
    }

    private RecordHeader next() throws IOException {
        recordAt = in.position();
        check(++records <= limits.records(), "too many records: most=" + limits.records());
        ByteBuffer bytes = in.readFully(RecordHeader.BYTES);
        headers.update(bytes.duplicate());
        Optional<RecordHeader> found = RecordHeader.of(bytes);
        RecordHeader header = found.orElseThrow(() -> damaged("header of a record"));
        long left = entry.bytes() - in.position();
        check(header.body() >= 0 && header.body() <= left, "length=" + header.body() + " left=" + left);
        return header;
    }

    private void state(RecordHeader record) throws IOException {
        long name = record.length();
        check(name >= 0 && name <= Math.min(RankWriter.MOST_NAME, record.body()), "name=" + name);
        ByteBuffer bytes = in.readFully((int) name);
        String text = StandardCharsets.UTF_8.decode(bytes.duplicate()).toString();
        SealedBuffer state = body(record.body() - name, limits.state());
        checkBody(record, bytes, state);
        check(states.put(text, state) == null, "state twice: name=" + text);
    }

    /// @return the record behind the session's messages
    private RecordHeader session(RecordHeader session) throws IOException {
        check(session.body() == LANES * RankWriter.LANE_NUMBERS, "length=" + session.body());
        ByteBuffer numbers = in.readFully((int) session.body());
        check(Digests.crc(numbers) == session.checksum(), "checksum of numbers");
        List<List<NodeCut.Outgoing>> outgoing = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        RecordHeader record = next();
        while (record.kind() == Kind.OUTGOING || record.kind() == Kind.SKIPPED) {
            check(record.rank() == session.rank() && record.lane() >= 0 && record.lane() < LANES, "message of none");
            outgoing.get(record.lane()).add(outgoing(record));
            record = next();
        }
        peers.add(peer(session.rank(), numbers, outgoing));
        return record;
    }

    private NodeCut.OfPeer peer(int rank, ByteBuffer numbers, List<List<NodeCut.Outgoing>> outgoing)
            throws CheckpointException {
        try {
            List<NodeCut.OfLane> lanes = new ArrayList<>();
            for (List<NodeCut.Outgoing> lane : outgoing) {
                lanes.add(new NodeCut.OfLane(numbers.getLong(), numbers.getLong(), numbers.getLong(), lane));
            }
            return new NodeCut.OfPeer(rank, lanes);
        } catch (IllegalArgumentException wrong) {
            throw damaged(String.valueOf(wrong.getMessage()));
        }
    }

    private NodeCut.Outgoing outgoing(RecordHeader record) throws IOException {
        Optional<SealedBuffer> bytes = Optional.empty();
        if (record.kind() == Kind.OUTGOING) {
            bytes = Optional.of(message(record));
        } else {
            check(record.body() == 0 && record.length() >= 0, "bytes of none");
        }
        return new NodeCut.Outgoing(
                record.order(), record.number(), record.tag(), format(record), record.length(), bytes);
    }

    private Optional<WireFormat> format(RecordHeader record) throws CheckpointException {
        Optional<WireFormat> format = WireFormat.ofMark(record.mark());
        check(format.isPresent() || record.mark() == 0, "unknown format: mark=" + record.mark());
        return format;
    }

    private SealedBuffer message(RecordHeader record) throws IOException {
        check(record.length() == record.body(), "length=" + record.length() + " bytes=" + record.body());
        SealedBuffer message = body(record.body(), limits.message());
        checkBody(record, ByteBuffer.allocate(0), message);
        messages++;
        return message;
    }

    private SealedBuffer body(long bytes, long most) throws IOException {
        check(bytes <= most, "too long: length=" + bytes + " most=" + most);
        return keep(bodies.next(in, bytes));
    }

    private SealedBuffer keep(SealedBuffer handle) {
        boolean kept = false;
        try {
            handles.add(handle);
            kept = true;
            return handle;
        } finally {
            if (!kept) {
                handle.close();
            }
        }
    }

    private void checkBody(RecordHeader record, ByteBuffer first, SealedBuffer rest) throws IOException {
        check(bodies.crc(first, rest) == record.checksum(), "checksum of a body");
        ByteBuffer padding = in.readFully(RecordHeader.padding(record.body()));
        while (padding.hasRemaining()) {
            check(padding.get() == 0, "bytes behind a body");
        }
    }

    private void check(boolean right, String why) throws CheckpointException {
        if (!right) {
            throw damaged(why);
        }
    }

    private CheckpointException damaged(String why) {
        return CheckpointException.damaged(manifest.epoch(), entry.file(), why + " record=" + recordAt);
    }
}
