// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// The cells of a contended [RefCount]: holders spread over cache lines. Its shape is that of the Linux kernel's
/// `percpu_ref`, without a special last holder.
///
/// ```
/// cell: open(v), v >= 0 holders --add, take--> open(v + k), open(v - 1)     take needs v >= 1
///       open(v) --fold--> folded = -1, once; v and the bias go to the count's word; folded is final
/// ```
///
/// Holders are alike: a release takes one from the thread's own cell or, when that is empty, from any other. So
/// it does not matter who made a share, who closes it, and whether the first handle is still open.
///
/// An open cell is one (huge) holder of the word, so a retain that finds its cell open has found the resource
/// alive. Cells are never opened again: a reference from yesterday finds folded cells and goes to the word.
///
/// Cost: [#CELLS] cells of [#STRIDE] longs and one stride before them, 680 bytes with four cells. At most
/// [#CAP] cells exist in the process; beyond that a count stays one word. They are dropped with the fold.
final class Stripes {

    // a cell's worth in holders: no heap has room for as many claims
    private static final int BIAS_BITS = 44;
    private static final long BIAS = 1L << BIAS_BITS;
    // with fewer holders left it is over before it pays
    private static final long WORTH_STRIPING = 2;

    /// A count's word with a cell's bias is as large or larger, however many holders its own part lacks; one without
    /// is smaller.
    static final long STRIPED = BIAS;

    private static final int STRIDE = 16;
    static final int CELLS = Math.clamp(nextPowerOfTwo(Runtime.getRuntime().availableProcessors()), 4, 16);
    private static final int CAP = 16 * 1024;
    private static final int ROUNDS = 8;
    private static final long FOLDED = -1;
    private static final AtomicInteger IN_USE = new AtomicInteger();
    private static final Stripes[] SPENT = new Stripes[ROUNDS + 1];
    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

    static {
        for (int round = 0; round <= ROUNDS; round++) {
            SPENT[round] = new Stripes(round, 0);
        }
    }

    private final int round;
    private final int count;
    // through CELL only, once the count has published this object
    private final long[] cells;

    private Stripes(int round, int count) {
        this.round = round;
        this.count = count;
        this.cells = new long[count == 0 ? 0 : (count + 1) * STRIDE];
    }

    /// `count` fresh cells after `old` ones, or null when the cap or the heap forbids it.
    static @Nullable Stripes tryCreate(@Nullable Stripes old, int count) {
        // volatile: the cap needs the atomic step alone, here and in drop
        if (IN_USE.addAndGet(count) <= CAP) {
            try {
                return new Stripes(old == null ? 0 : old.round, count);
            } catch (OutOfMemoryError e) {
                // a close must not fail for want of speed
            }
        }
        IN_USE.addAndGet(-count);
        return null;
    }

    /// Cells of the whole process that are not dropped yet.
    static int inUse() {
        return IN_USE.get();
    }

    /// Whether this has cells (it may be on its way to be folded).
    boolean isLive() {
        return count > 0;
    }

    /// Whether fresh cells may be made after these: not while they live, nor after they were folded too often.
    boolean mayFollow() {
        return count == 0 && round < ROUNDS;
    }

    /// What stands for these cells once they are folded: no cells, and one round more.
    Stripes spent() {
        return SPENT[Math.min(round + 1, ROUNDS)];
    }

    /// Spreads up to `holders` evenly. Before publication only.
    ///
    /// @return how many
    long fill(long holders) {
        long each = holders / count;
        for (int i = 0; i < count; i++) {
            cells[at(i)] = each;
        }
        return each * count;
    }

    /// What the step to these cells changes in the count's word, in holders: a bias for each, less those that moved.
    long biasLess(long moved) {
        return count * BIAS - moved;
    }

    /// Holders that a count's word itself counts: without the cells' biases, below 0 for a moment beside a fold.
    static long own(long state) {
        return state >> 1 << (64 - BIAS_BITS) >> (64 - BIAS_BITS);
    }

    /// Whether a word's own holders are worth being spread.
    static boolean isWorthIt(long state) {
        return own(state) >= WORTH_STRIPING;
    }

    /// Gives the cells back to the cap.
    void drop() {
        IN_USE.addAndGet(-count);
    }

    /// Adds `k` holders; many are spread over all cells, since many threads will close them.
    ///
    /// @return how many found no open cell
    int add(int home, int k) {
        int left = k;
        if (k >= count && count > 0) {
            for (int i = 1; i < count && left > 0; i++) {
                left -= addTo(home ^ i, k / count);
            }
        }
        return count == 0 ? left : left - addTo(home, left);
    }

    /// Takes one holder away, from the thread's own cell if it has one, else from the cells that the fewest
    /// others call their own.
    boolean take(int home) {
        for (int i = 0; i < count; i++) {
            if (takeFrom(home ^ Integer.reverse(i) >>> 1 + Integer.numberOfLeadingZeros(count))) {
                return true;
            }
        }
        return false;
    }

    /// Folds every cell that is not folded yet.
    void fold(RefCount into) {
        for (int i = 0; i < count; i++) {
            // opaque: spares the exchange; folded is final
            if ((long) CELL.getOpaque(cells, at(i)) != FOLDED) {
                // volatile: ordering 1, acquires what the cell's holders released
                long v = (long) CELL.getAndSet(cells, at(i), FOLDED);
                if (v != FOLDED) {
                    into.unstripe(v - BIAS);
                }
            }
        }
    }

    long holders() {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            // opaque: a snapshot
            sum += Math.max(0, (long) CELL.getOpaque(cells, at(i)));
        }
        return sum;
    }

    private int addTo(int cell, int k) {
        int at = at(cell & count - 1);
        while (true) {
            // opaque: only a guess for the compare-and-set below
            long v = (long) CELL.getOpaque(cells, at);
            if (v == FOLDED) {
                return 0;
            }
            // plain: ordering 2; still a read-modify-write, so it does not break the chain of releases
            if (CELL.weakCompareAndSetPlain(cells, at, v, v + k)) {
                return k;
            }
        }
    }

    private boolean takeFrom(int cell) {
        int at = at(cell & count - 1);
        while (true) {
            // opaque: only a guess for the compare-and-set below
            long v = (long) CELL.getOpaque(cells, at);
            if (v < 1) {
                return false;
            }
            // release: ordering 1, this holder's use is above this line
            if (CELL.weakCompareAndSetRelease(cells, at, v, v - 1)) {
                return true;
            }
        }
    }

    private static int at(int cell) {
        return (cell + 1) * STRIDE;
    }

    private static int nextPowerOfTwo(int n) {
        return n <= 1 ? 1 : Integer.highestOneBit(n - 1) << 1;
    }
}
