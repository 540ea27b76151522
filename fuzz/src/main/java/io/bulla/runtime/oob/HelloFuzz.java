// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static io.bulla.fuzz.FuzzTarget.claim;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fuzz.ExactMemory;
import io.bulla.fuzz.FuzzInput;
import io.bulla.fuzz.FuzzTarget;
import io.bulla.fuzz.Heap;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// The first message of an unknown peer, in one region or in two: refused, or written back as it was.
public final class HelloFuzz implements FuzzTarget {

    private static final long MOST_HEAP = 16 << 10;

    private final ExactMemory memory;
    private final ByteBuf back = Unpooled.buffer(Hello.BYTES, Hello.BYTES);

    /// A target.
    ///
    /// @param memory where the bytes lie
    public HelloFuzz(ExactMemory memory) {
        this.memory = memory;
    }

    @Override
    public String name() {
        return "Hello";
    }

    @Override
    public void run(FuzzInput input) {
        int length = Math.min(input.length(), Hello.MOST);
        int cut = Math.min(length, input.choice(1, Hello.BYTES + 2));
        MemorySegment bytes = input.message();
        try (SealedBuffer first = memory.sealed(bytes.asSlice(0, cut));
                SealedBuffer rest = memory.sealed(bytes.asSlice(cut, length - cut));
                SealedBuffer body = SealedBuffer.concat(first, rest)) {
            long heap = Heap.allocated();
            Hello hello;
            try {
                hello = Hello.read(body);
            } catch (IOException refused) {
                return;
            } finally {
                Heap.claim(heap, MOST_HEAP);
            }
            claim(hello.session() != 0 && hello.small() >= 0 && hello.bulk() >= 0, "not a hello", hello);
            hello.writeTo(back.clear());
            // one that ends before its features has none
            int told = length < Hello.BYTES ? Hello.BYTES - Long.BYTES : Hello.BYTES;
            claim(
                    MemorySegment.ofBuffer(back.nioBuffer()).asSlice(0, told).mismatch(bytes.asSlice(0, told)) < 0,
                    "hello differs",
                    hello);
            claim(length >= Hello.BYTES || hello.features() == 0, "features from nowhere", hello);
        }
    }
}
