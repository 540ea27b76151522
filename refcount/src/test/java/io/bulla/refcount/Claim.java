// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

/// The smallest lease there is.
final class Claim extends Lease {

    private Claim(RefCount count) {
        super(count);
    }

    static Claim first(RefCount count, Object tag) {
        Claim first = new Claim(count);
        first.opened(tag);
        return first;
    }

    Claim share() {
        return share(null);
    }

    Claim share(Object tag) {
        Claim other = new Claim(count());
        retain(tag, other);
        return other;
    }

    Claim[] shares(int n, Object tag) {
        Claim[] several = new Claim[n];
        for (int i = 0; i < n; i++) {
            several[i] = new Claim(count());
        }
        retain(tag, several);
        return several;
    }

    Claim move(Object tag) {
        Claim successor = new Claim(count());
        moveTo(tag, successor);
        return successor;
    }
}
