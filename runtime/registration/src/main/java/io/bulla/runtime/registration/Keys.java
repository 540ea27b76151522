// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.registration;

import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

/// Keys of this process: each is given out once. A counter of 64 bits from a random start, so that a key of a
/// process that was here before is most likely none of this one's.
final class Keys {

    // volatile: the atomic step alone
    private static final AtomicLong NEXT = new AtomicLong(new SecureRandom().nextLong());

    private Keys() {}

    static long next() {
        return NEXT.getAndIncrement();
    }
}
