// SPDX-License-Identifier: Apache-2.0
package io.bulla.registration;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

/// Keys of this process: each is given out once, and says nothing of the next one. A counter from a random start goes
/// through a block cipher of 64 bits with a random key: different numbers become different keys, and who has seen
/// some keys cannot tell others from random ones.
///
/// The cipher is Speck64/128 (Beaulieu and others, *The Simon and Speck Families of Lightweight Block Ciphers*,
/// 2013). Each of its rounds waits for the one before, so sixteen numbers go through it side by side. A key takes
/// nothing of the heap. Under its owner's lock; the numbers are the process's.
final class Keys {

    private static final int ROUNDS = 27;
    private static final int AHEAD = 16;
    // volatile: the atomic step alone
    private static final AtomicLong NEXT;
    private static final int[] SCHEDULE;

    static {
        SecureRandom random = new SecureRandom();
        byte[] secret = new byte[16];
        random.nextBytes(secret);
        ByteBuffer words = ByteBuffer.wrap(secret);
        SCHEDULE = schedule(words.getInt(), words.getInt(), words.getInt(), words.getInt());
        NEXT = new AtomicLong(random.nextLong());
    }

    // halves of keys that were not given out yet
    private final int[] high = new int[AHEAD];
    private final int[] low = new int[AHEAD];
    private int left;

    long next() {
        while (true) {
            if (left == 0) {
                fill();
            }
            left--;
            long key = (long) high[left] << 32 | low[left] & 0xffffffffL;
            // libfabric's words for no key
            if (key != 0 && key != -1) {
                return key;
            }
        }
    }

    private void fill() {
        long first = NEXT.getAndAdd(AHEAD);
        for (int i = 0; i < AHEAD; i++) {
            high[i] = (int) (first + i >>> 32);
            low[i] = (int) (first + i);
        }
        encrypt(high, low, SCHEDULE);
        left = AHEAD;
    }

    /// The words of the cipher's key, the last one first, as in the paper.
    static int[] schedule(int l2, int l1, int l0, int k0) {
        int[] rounds = new int[ROUNDS];
        int[] l = {l0, l1, l2};
        int k = k0;
        for (int i = 0; i < ROUNDS; i++) {
            rounds[i] = k;
            int x = Integer.rotateRight(l[i % 3], 8) + k ^ i;
            l[i % 3] = x;
            k = Integer.rotateLeft(k, 3) ^ x;
        }
        return rounds;
    }

    /// Encrypts each number in its place.
    ///
    /// @param high the upper halves of the numbers
    /// @param low as many lower halves
    static void encrypt(int[] high, int[] low, int... schedule) {
        for (int round : schedule) {
            for (int i = 0; i < high.length; i++) {
                int x = Integer.rotateRight(high[i], 8) + low[i] ^ round;
                high[i] = x;
                low[i] = Integer.rotateLeft(low[i], 3) ^ x;
            }
        }
    }
}
