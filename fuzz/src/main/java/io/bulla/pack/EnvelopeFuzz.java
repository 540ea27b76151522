// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static io.bulla.fuzz.FuzzTarget.claim;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fuzz.ExactMemory;
import io.bulla.fuzz.FuzzInput;
import io.bulla.fuzz.FuzzTarget;
import io.bulla.fuzz.Heap;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ReadableByteChannel;

/// An envelope: refused, or within the limit, with items that are there and whole.
public final class EnvelopeFuzz implements FuzzTarget {

    /// Whatever the length: the items are not copied.
    private static final long MOST_HEAP = 32 << 10;

    private final ExactMemory memory;

    /// A target.
    ///
    /// @param memory where the bytes lie
    public EnvelopeFuzz(ExactMemory memory) {
        this.memory = memory;
    }

    @Override
    public String name() {
        return "Envelope";
    }

    @Override
    public void run(FuzzInput input) {
        long limit = 1L << input.choice(1, 17);
        try (SealedBuffer whole = memory.sealed(input.message())) {
            long heap = Heap.allocated();
            Envelope header = header(whole, limit);
            Envelope checked = checked(whole, limit);
            Heap.claim(heap, MOST_HEAP);
            claim(checked == null || checked.equals(header), "header differs", header, checked);
            read(whole, header, checked, limit);
            if (checked != null) {
                try (SealedBuffer items = checked.items(whole);
                        SealedBuffer again = Envelope.wrap(memory, checked.format(), items)) {
                    claim(items.byteSize() == checked.length(), "length differs", checked, items);
                    claim(again.iovec().equals(whole.iovec()), "envelope differs", checked);
                }
            }
        }
    }

    /// From a channel, what follows the items is the next reader's; else it is as from a buffer.
    private void read(SealedBuffer whole, Envelope header, Envelope checked, long limit) {
        memory.taken();
        ReadableByteChannel channel = whole.iovec().asChannel();
        try (Enveloped read = Envelope.read(channel, memory, limit)) {
            claim(header != null && read.items().byteSize() == header.length(), "read without a header", header);
            claim(read.format().equals(header.format()), "format differs", header, read);
            claim(checked != null || whole.byteSize() > Envelope.BYTES + header.length(), "damage not seen", header);
        } catch (UnpackException | EOFException refused) {
            claim(checked == null, "refused from a channel", refused);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        claim(memory.taken() <= Envelope.BYTES + Math.max(1, limit), "memory over the limit", limit);
    }

    private static Envelope header(SealedBuffer whole, long limit) {
        try {
            Envelope header = Envelope.ofHeader(whole.iovec(), limit);
            claim(header.length() >= 0 && header.length() <= limit, "length over the limit", header, limit);
            return header;
        } catch (UnpackException refused) {
            return null;
        }
    }

    private static Envelope checked(SealedBuffer whole, long limit) {
        try {
            return Envelope.of(whole, limit);
        } catch (UnpackException refused) {
            return null;
        }
    }
}
