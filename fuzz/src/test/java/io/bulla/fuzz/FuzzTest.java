// SPDX-License-Identifier: Apache-2.0
package io.bulla.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/// Each kind of misbehaviour, of a target that misbehaves in just that way, is a finding that names its input.
class FuzzTest {

    private static final FuzzInput INPUT = FuzzInput.of(new byte[] {42}, 7);
    private static byte[] kept;

    @Test
    void quietTargetIsNoFinding() {
        Fuzz fuzz = new Fuzz(target(input -> {}));
        fuzz.family(INPUT);
        assertEquals(4, fuzz.inputs());
    }

    @Test
    void anyExceptionIsAFinding() {
        assertEquals(
                "finding: target=bad input=07000000000000002a what=java.lang.ArithmeticException: / by zero",
                found(input -> kept[0] = (byte) (1 / (input.length() - 1))));
    }

    @Test
    void heapOverTheLimitIsAFindingOnlyIfItStays() {
        assertEquals(
                "finding: target=bad input=07000000000000002a what=io.bulla.fuzz.Heap$OverLimit: "
                        + "heap over the limit: bytes=1048592 limit=1000",
                found(input -> allocate(1 << 20)));
        int[] first = {1 << 20};
        new Fuzz(target(input -> {
                    int bytes = first[0];
                    first[0] = 0;
                    allocate(bytes);
                }))
                .one(INPUT);
    }

    @Test
    void timeOverTheLimitIsAFinding() {
        assertEquals(
                "finding: target=bad input=07000000000000002a what=java.lang.AssertionError: slow: [50000000]",
                found(input -> {
                    long end = Heap.processorNanos() + 2 * Fuzz.SLOW_NANOS;
                    while (Heap.processorNanos() < end) {
                        Thread.onSpinWait();
                    }
                }));
    }

    @Test
    void memoryIsExactCountedAndPoisoned() {
        ExactMemory memory = new ExactMemory();
        MemorySegment region;
        try (var sealed = memory.sealed(MemorySegment.ofArray(new byte[] {1, 2, 3}))) {
            region = sealed.iovec().region(0);
            assertEquals(3, region.byteSize());
            assertEquals(1, memory.open());
            assertThrows(AssertionError.class, () -> memory.allocate(1 << 20));
        }
        assertEquals(0, memory.open());
        assertEquals((byte) 0xdb, region.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0));
        assertEquals(3 + (1 << 20), memory.taken());
        assertEquals(0, memory.taken());
    }

    private static void allocate(int bytes) {
        long before = Heap.allocated();
        kept = new byte[bytes];
        Heap.claim(before, 1000);
    }

    private static String found(Consumer<FuzzInput> run) {
        kept = new byte[1];
        Fuzz fuzz = new Fuzz(target(run));
        return assertThrows(AssertionError.class, () -> fuzz.one(INPUT)).getMessage();
    }

    private static FuzzTarget target(Consumer<FuzzInput> run) {
        return new FuzzTarget() {

            @Override
            public String name() {
                return "bad";
            }

            @Override
            public void run(FuzzInput input) {
                run.accept(input);
            }
        };
    }
}
