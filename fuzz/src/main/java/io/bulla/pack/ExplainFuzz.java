// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static io.bulla.fuzz.FuzzTarget.claim;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fuzz.ExactMemory;
import io.bulla.fuzz.FuzzInput;
import io.bulla.fuzz.FuzzTarget;
import io.bulla.fuzz.Heap;
import io.bulla.pack.value.DataType;
import java.util.ArrayList;
import java.util.List;

/// Explaining is safe on any input: it ends, its text is bounded, and it says where and why when bytes are odd.
public final class ExplainFuzz implements FuzzTarget {

    private static final WireFormat[] FORMATS = WireFormat.values();
    private static final DataType[] TYPES = DataType.values();
    private static final int MOST_TYPES = 5;

    /// A line is some hundred characters at most; a byte is at most a few of them, and in as many lines as buffers
    /// that it stands in.
    private static final long HEAP_PER_BYTE = 8 << 10;

    private static final long MOST_HEAP = 64 << 10;

    private final ExactMemory memory;

    /// A target.
    ///
    /// @param memory where the bytes lie
    public ExplainFuzz(ExactMemory memory) {
        this.memory = memory;
    }

    @Override
    public String name() {
        return "Explain";
    }

    @Override
    public void run(FuzzInput input) {
        WireFormat format = FORMATS[input.choice(1, FORMATS.length)];
        StringBuilder text = new StringBuilder();
        boolean understood;
        try (SealedBuffer buffer = memory.sealed(input.message())) {
            memory.taken();
            long heap = Heap.allocated();
            understood = format.described()
                    ? Explain.described(buffer, format, text)
                    : Explain.typed(buffer, format, types(input, format), text);
            Heap.claim(heap, MOST_HEAP + HEAP_PER_BYTE * input.length());
        }
        claim(memory.taken() == 0, "explaining takes memory");
        claim(text.length() <= 1024 + 1024L * input.length(), "text is long", text.length(), input.length());
        claim(text.indexOf("malformed") >= 0 || understood, "not understood, and no word on why", text);
        String controls =
                text.chars().filter(c -> c != '\n' && Character.isISOControl(c)).count() + "";
        claim(controls.equals("0"), "control characters", controls);
    }

    private static List<DataType> types(FuzzInput input, WireFormat format) {
        List<DataType> types = new ArrayList<>();
        for (int i = 0; i < MOST_TYPES; i++) {
            DataType type = TYPES[input.choice(2 + i, TYPES.length)];
            if (format.knows(type)) {
                types.add(type);
            }
        }
        return types;
    }
}
