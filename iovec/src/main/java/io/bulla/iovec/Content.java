// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;

/// Content, however a vector is cut into regions: compares two side by side, hashes one.
final class Content {

    private static final int STEP = 8192;

    private Content() {}

    static long mismatch(IoVec one, IoVec other) {
        long common = Math.min(one.byteSize(), other.byteSize());
        long done = 0;
        int left = 0;
        int right = 0;
        long leftStart = 0;
        long rightStart = 0;
        while (done < common) {
            MemorySegment a = one.region(left);
            MemorySegment b = other.region(right);
            long step = Math.min(leftStart + a.byteSize(), rightStart + b.byteSize()) - done;
            long at = MemorySegment.mismatch(
                    a, done - leftStart, done - leftStart + step, b, done - rightStart, done - rightStart + step);
            if (at >= 0) {
                return done + at;
            }
            done += step;
            if (done == leftStart + a.byteSize()) {
                leftStart = done;
                left++;
            }
            if (done == rightStart + b.byteSize()) {
                rightStart = done;
                right++;
            }
        }
        return one.byteSize() == other.byteSize() ? -1 : common;
    }

    static int hash(IoVec vec) {
        byte[] step = new byte[(int) Math.min(STEP, vec.byteSize())];
        int hash = 1;
        for (int i = 0; i < vec.regionCount(); i++) {
            MemorySegment region = vec.region(i);
            for (long from = 0; from < region.byteSize(); from += step.length) {
                int length = (int) Math.min(step.length, region.byteSize() - from);
                MemorySegment.copy(region, ValueLayout.JAVA_BYTE, from, step, 0, length);
                for (int k = 0; k < length; k++) {
                    hash = 31 * hash + step[k];
                }
            }
        }
        Reference.reachabilityFence(vec);
        return hash;
    }
}
