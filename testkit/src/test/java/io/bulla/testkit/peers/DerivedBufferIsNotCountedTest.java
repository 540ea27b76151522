// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.peers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.refcount.LeaseLedger;
import io.bulla.testkit.Bytes;
import io.bulla.testkit.CountingSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// A buffer made from a buffer has a count of its own, or none, so the first one leaks or goes too early.
///
/// netty#14075, netty#14076. netty#13436: the deeper the derivation, the less the leak detector saw of it.
/// Seastar aa46d8464: a chain that holds the same owner twice aborts.
class DerivedBufferIsNotCountedTest {

    private static final byte[] MESSAGE = Bytes.numbered(11, 300);

    @Test
    void derivedObjectWithACountOfItsOwnDoesNotKeepItsParent() {
        class Counted {
            private final Counted parent;
            private int count = 1;

            Counted(Counted parent) {
                this.parent = parent;
            }

            boolean isReadable() {
                return count > 0 && (parent == null || parent.isReadable());
            }
        }
        Counted parent = new Counted(null);
        Counted derived = new Counted(parent);
        parent.count--;
        assertEquals(1, derived.count, "held, it says");
        assertTrue(!derived.isReadable());
    }

    @Test
    void everyDerivationHoldsTheWholeWhateverIsClosedFirst() {
        for (int seed = 0; seed < 50; seed++) {
            CountingSource source = new CountingSource(null);
            SealedBuffer whole = Bytes.seal(source, MESSAGE);
            IoVec escaped = whole.iovec();
            List<SealedBuffer> all = new ArrayList<>(List.of(whole));
            all.add(whole.slice(10, 200));
            SealedBuffer inner = all.get(1).slice(5, 100);
            all.add(inner.move());
            all.add(all.get(2).share());
            all.add(SealedBuffer.concat(whole, whole, all.get(3)));
            all.add(all.get(4).slice(600, 100));
            Collections.shuffle(all, new Random(seed));
            while (!all.isEmpty()) {
                assertEquals(0, source.givenBack());
                SealedBuffer last = all.removeLast();
                assertEquals(MESSAGE[15], Bytes.of(escaped)[15]);
                last.close();
            }
            assertEquals(source.taken(), source.givenBack());
            assertArrayEquals(Bytes.poison(MESSAGE.length), Bytes.of(escaped));
        }
    }

    @Test
    void everyDerivationStandsInTheLedger() {
        LeaseLedger ledger = LeaseLedger.full();
        SealedBuffer at = Bytes.seal(new CountingSource(ledger), MESSAGE);
        List<SealedBuffer> all = new ArrayList<>(List.of(at));
        for (int depth = 1; depth < 10; depth++) {
            at = at.slice(1, at.byteSize() - 1);
            all.add(at);
            assertEquals(depth + 1, ledger.open().size());
        }
        all.forEach(SealedBuffer::close);
        assertEquals(List.of(), ledger.open());
    }
}
