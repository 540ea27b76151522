// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

/// A lease that can be shared and moved, and nothing else.
final class Claim extends Lease {

    Claim(RefCount count) {
        super(count);
    }

    Claim share() {
        return share(null);
    }

    Claim share(Object tag) {
        Claim other = new Claim(count());
        retain(tag, other);
        return other;
    }

    Claim move() {
        return moveTo(null);
    }

    Claim moveTo(Object tag) {
        Claim successor = new Claim(count());
        moveTo(tag, successor);
        return successor;
    }

    Claim shareOrNull() {
        try {
            return share();
        } catch (IllegalStateException lost) {
            return null;
        }
    }
}
