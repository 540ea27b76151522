// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.ScatteringByteChannel;
import org.jspecify.annotations.Nullable;

/// Reads a channel into a builder: into its memory if the channel is the JDK's, else aside, since foreign code could
/// keep the view that it is given and write to it after the seal.
final class ChannelReads {

    private static final int MAX_READ = 1 << 20;
    private static final int MAX_ASIDE = 64 << 10;

    private ChannelReads() {}

    /// Reads once.
    ///
    /// @return bytes read, -1 at the channel's end
    static int once(WritableRegions into, ReadableByteChannel channel, long length) throws IOException {
        return once(into, channel, length, aside(channel, length));
    }

    /// Reads until `length` bytes are there; if they do not come, none of them stays.
    static void all(WritableRegions into, ReadableByteChannel channel, long length) throws IOException {
        into.checkWriting();
        // good for all reads of the call: what such code writes to it late is what it could have said
        ByteBuffer aside = aside(channel, length);
        long start = into.written();
        try {
            for (long done = 0; done < length; ) {
                int read = once(into, channel, length - done, aside);
                if (read < 0) {
                    throw new EOFException("channel ended early: wanted=" + length + " read=" + done);
                }
                done += read;
            }
        } catch (Throwable failure) {
            into.dropAfter(start, failure);
            throw failure;
        }
    }

    /// @return `null` if none is needed
    private static @Nullable ByteBuffer aside(ReadableByteChannel channel, long length) {
        return isOfTheJdk(channel) ? null : ByteBuffer.allocate((int) Math.min(length, MAX_ASIDE));
    }

    private static boolean isOfTheJdk(ReadableByteChannel channel) {
        // those that scatter call no code of a user's; a channel around a stream does
        return channel instanceof ScatteringByteChannel && channel.getClass().getModule() == Object.class.getModule();
    }

    private static int once(WritableRegions into, ReadableByteChannel channel, long length, @Nullable ByteBuffer aside)
            throws IOException {
        into.ensureRoom(1);
        int step = (int) Math.min(Math.min(length, into.capacity - into.used), MAX_READ);
        return aside == null
                ? inPlace(into, channel, step)
                : aside(into, channel, aside.slice(0, Math.min(step, aside.capacity())));
    }

    private static int inPlace(WritableRegions into, ReadableByteChannel channel, int length) throws IOException {
        int read = channel.read(into.memory.asSlice(into.used, length).asByteBuffer());
        into.used += Math.max(0, read);
        return read;
    }

    private static int aside(WritableRegions into, ReadableByteChannel channel, ByteBuffer aside) throws IOException {
        if (channel.read(aside) < 0) {
            return -1;
        }
        // what is there counts, not what the channel says
        int read = aside.position();
        MemorySegment bytes = MemorySegment.ofBuffer(aside.flip());
        into.fill(read, (done, target, at, step) -> MemorySegment.copy(bytes, done, target, at, step));
        return read;
    }
}
