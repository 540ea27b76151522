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

    private final List<Cut> all = new ArrayList<>();

    /// @return to be given to [#end]
    synchronized int begin(int a, int b, long now) {
        all.add(new Cut(a, b, now, Long.MAX_VALUE));
        return all.size() - 1;
    }

    synchronized void end(int cut, long now) {
        Cut open = all.get(cut);
        all.set(cut, new Cut(open.a(), open.b(), open.from(), now));
    }

    /// How long the two could not talk.
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
        for (Cut cut : theirs) {
            long begin = Math.max(covered, cut.from());
            long end = Math.min(until, cut.until());
            if (end > begin) {
                sum += end - begin;
                covered = end;
            }
        }
        return sum;
    }
}
