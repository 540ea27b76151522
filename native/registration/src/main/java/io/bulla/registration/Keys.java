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
/// 2013): a grant takes no lock and nothing of the heap for it.
final class Keys {

    private static final int ROUNDS = 27;
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

    private Keys() {}

    static long next() {
        while (true) {
            long key = encrypted(NEXT.getAndIncrement(), SCHEDULE);
            // libfabric's words for no key
            if (key != 0 && key != -1) {
                return key;
            }
        }
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

    static long encrypted(long plain, int... schedule) {
        int x = (int) (plain >>> 32);
        int y = (int) plain;
        for (int round : schedule) {
            x = Integer.rotateRight(x, 8) + y ^ round;
            y = Integer.rotateLeft(y, 3) ^ x;
        }
        return (long) x << 32 | y & 0xffffffffL;
    }
}
