package io.bulla.pack;

import static io.bulla.fuzz.FuzzTarget.claim;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fuzz.ExactMemory;
import io.bulla.fuzz.FuzzInput;
import io.bulla.fuzz.FuzzTarget;
import io.bulla.fuzz.Heap;

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
            if (checked != null) {
                try (SealedBuffer items = checked.items(whole);
                        SealedBuffer again = Envelope.wrap(memory, checked.format(), items)) {
                    claim(items.byteSize() == checked.length(), "length differs", checked, items);
                    claim(again.iovec().equals(whole.iovec()), "envelope differs", checked);
                }
            }
        }
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
