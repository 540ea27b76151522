// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.hosts;

import java.util.ArrayList;
import java.util.List;

/// When two hosts could not hear each other, as the check has made it: times in nanoseconds of the monotonic clock. A
/// pair counts as cut if one of its directions is.
final class Cuts {

    static final int ALL = -1;

    /// One, of a pair, of a host and all others, or of all.
    ///
    /// @param a a host, or [#ALL]
    /// @param b a host, or [#ALL]
    /// @param until [Long#MAX_VALUE] while it lasts
    private record Cut(int a, int b, long from, long until) {

        boolean isOf(int one, int other) {
            return (a == ALL || a == one) && (b == ALL || b == other)
                    || (a == ALL || a == other) && (b == ALL || b == one);
        }
    }

    private final long attempt;
    private final List<Cut> all = new ArrayList<>();

    /// @param attemptNanos how long a node waits for an answer to an attempt to connect
    Cuts(long attemptNanos) {
        this.attempt = attemptNanos;
    }

    /// @return to be given to [#end]
    synchronized int begin(int a, int b, long now) {
        all.add(new Cut(a, b, now, Long.MAX_VALUE));
        return all.size() - 1;
    }

    synchronized void end(int cut, long now) {
        Cut open = all.get(cut);
        all.set(cut, new Cut(open.a(), open.b(), open.from(), now));
    }

    /// How long the two could not talk. A time between two cuts counts, too, if it is no longer than the cut
    /// before it, and than an attempt: TCP tries again after pauses that double, so what was lost in a cut may be
    /// tried next when as much time again has passed.
    ///
    /// @param from begin of the time that is looked at
    /// @param until its end
    /// @return nanoseconds; times in which several cuts lasted count once
    synchronized long nanos(int one, int other, long from, long until) {
        List<Cut> theirs = all.stream()
                .filter(cut -> cut.isOf(one, other) && cut.until() > from && cut.from() < until)
                .sorted((x, y) -> Long.compare(x.from(), y.from()))
                .toList();
        long sum = 0;
        long covered = from;
        // of the cuts that go on from each other
        long length = 0;
        for (Cut cut : theirs) {
            long gap = cut.from() - covered;
            long begin = gap > 0 && gap > Math.min(length, attempt) ? cut.from() : covered;
            length = begin > covered ? 0 : length;
            long end = Math.min(until, cut.until());
            if (end > begin) {
                sum += end - begin;
                length += end - begin;
                covered = end;
            }
        }
        return sum;
    }
}
