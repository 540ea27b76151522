package io.bulla.iovec;

import java.lang.foreign.MemorySegment;

/// Walks two vectors side by side, however each is cut into regions.
final class Mismatch {

    private Mismatch() {}

    static long of(IoVec one, IoVec other) {
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
}
