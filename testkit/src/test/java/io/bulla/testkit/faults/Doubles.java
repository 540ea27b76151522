// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.pack.Codec;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.testkit.FaultPoints;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SegmentAllocator;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ReadableByteChannel;

/// What a user hands in, each of whose calls is a fault point.
final class Doubles {

    private static final int STEP = 100;

    private Doubles() {}

    /// A value with a codec of its own.
    record Job(int ranks, String name) {}

    /// A record for [Codec#ofRecord], whose constructor and accessors are foreign calls.
    public record Rank(int number, String host) {}

    /// At most 100 bytes a read, and then the end.
    static ReadableByteChannel readable(FaultPoints points, byte[] content) {
        ByteBuffer left = ByteBuffer.wrap(content);
        return new ReadableByteChannel() {
            @Override
            public int read(ByteBuffer target) throws IOException {
                points.reachIo("ReadableByteChannel.read");
                if (!left.hasRemaining()) {
                    return -1;
                }
                int now = Math.min(STEP, Math.min(left.remaining(), target.remaining()));
                target.put(left.slice(left.position(), now));
                left.position(left.position() + now);
                return now;
            }

            @Override
            public boolean isOpen() {
                return true;
            }

            @Override
            public void close() {}
        };
    }

    /// Takes at most 100 bytes a write.
    static GatheringByteChannel writable(FaultPoints points) {
        return new GatheringByteChannel() {
            @Override
            public int write(ByteBuffer source) throws IOException {
                points.reachIo("WritableByteChannel.write");
                int now = Math.min(STEP, source.remaining());
                source.position(source.position() + now);
                return now;
            }

            @Override
            public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
                long written = 0;
                for (int i = offset; i < offset + length && written == 0; i++) {
                    written = sources[i].hasRemaining() ? write(sources[i]) : 0;
                }
                return written;
            }

            @Override
            public long write(ByteBuffer[] sources) throws IOException {
                return write(sources, 0, sources.length);
            }

            @Override
            public boolean isOpen() {
                return true;
            }

            @Override
            public void close() {}
        };
    }

    static Appendable appendable(FaultPoints points) {
        StringBuilder text = new StringBuilder();
        return new Appendable() {
            @Override
            public Appendable append(CharSequence part) throws IOException {
                points.reachIo("Appendable.append");
                text.append(part);
                return this;
            }

            @Override
            public Appendable append(CharSequence part, int from, int to) throws IOException {
                points.reachIo("Appendable.append");
                text.append(part, from, to);
                return this;
            }

            @Override
            public Appendable append(char one) throws IOException {
                points.reachIo("Appendable.append");
                text.append(one);
                return this;
            }
        };
    }

    static CharSequence characters(FaultPoints points, String text) {
        return new CharSequence() {
            @Override
            public int length() {
                points.reach("CharSequence.length");
                return text.length();
            }

            @Override
            public char charAt(int index) {
                points.reach("CharSequence.charAt");
                return text.charAt(index);
            }

            @Override
            public CharSequence subSequence(int from, int to) {
                points.reach("CharSequence.subSequence");
                return text.subSequence(from, to);
            }

            @Override
            public String toString() {
                points.reach("CharSequence.toString");
                return text;
            }
        };
    }

    static SegmentAllocator allocator(FaultPoints points) {
        return (byteSize, alignment) -> {
            points.reach("SegmentAllocator.allocate");
            return Arena.ofAuto().allocate(byteSize, alignment);
        };
    }

    static Codec<Job> codec(FaultPoints points) {
        return new Codec<>() {
            @Override
            public void pack(Packer packer, Job value) {
                points.reach("Codec.pack");
                packer.packInt32(value.ranks());
                points.reach("Codec.pack, one item done");
                packer.packString(value.name());
                points.reach("Codec.pack, done");
            }

            @Override
            public Job unpack(Unpacker unpacker) {
                points.reach("Codec.unpack");
                int ranks = unpacker.unpackInt32();
                points.reach("Codec.unpack, one item done");
                Job job = new Job(ranks, unpacker.unpackString());
                points.reach("Codec.unpack, done");
                return job;
            }
        };
    }

    /// An interface whose every call fails before it is done by `real`.
    static <T> T each(FaultPoints points, Class<T> type, T real) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            points.reach(type.getSimpleName() + "." + method.getName());
            try {
                return method.invoke(real, args);
            } catch (InvocationTargetException failed) {
                throw failed.getCause();
            }
        }));
    }
}
