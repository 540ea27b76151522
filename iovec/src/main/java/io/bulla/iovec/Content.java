// SPDX-License-Identifier: Apache-2.0
package io.bulla.iovec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;

/// Content, however a vector is cut into regions: compares two side by side, hashes one, searches one.
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

    static long indexOf(IoVec vec, long from, byte... wanted) {
        long last = vec.byteSize() - wanted.length;
        if (wanted.length == 0 || from > last) {
            return wanted.length == 0 ? from : -1;
        }
        for (int i = vec.regionAt(from); i < vec.regionCount() && vec.regionStart(i) <= last; i++) {
            MemorySegment region = vec.region(i);
            long start = vec.regionStart(i);
            long end = Math.min(region.byteSize(), last + 1 - start);
            for (long at = Math.max(0, from - start); at < end; at++) {
                if (region.get(ValueLayout.JAVA_BYTE, at) == wanted[0] && liesAt(vec, start + at, wanted)) {
                    return start + at;
                }
            }
        }
        return -1;
    }

    private static boolean liesAt(IoVec vec, long offset, byte... wanted) {
        for (int i = 1; i < wanted.length; i++) {
            if (vec.get(ValueLayout.JAVA_BYTE, offset + i) != wanted[i]) {
                return false;
            }
        }
        return true;
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
