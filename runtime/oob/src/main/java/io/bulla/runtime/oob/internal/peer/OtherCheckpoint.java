// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.peer;

import io.bulla.runtime.oob.cut.CutName;
import io.bulla.runtime.oob.internal.wire.Hello;
import io.bulla.runtime.oob.internal.wire.RestoredFrom;
import org.jspecify.annotations.Nullable;

/// Whether two nodes go on from the same moment of a job. If not, messages would be missing on one side and come
/// twice on the other: the connection is refused, and nothing of the session changes.
///
/// ```
///                          peer: from A, waits     peer: from A, goes on     peer: not restored
/// this: from A, waits      fits                    fits if it knows no other process of this rank
///                                                                            refused
/// this: from A, goes on    fits if it is the process that was heard
///                                                  fits                      restarted
/// this: from B             refused                 refused                   as above
/// this: not restored       refused                 restarted                 is no matter of checkpoints
/// ```
///
/// *Waits*: the peer was not heard since the restore. A peer of an earlier version, which says nothing of
/// checkpoints, is taken as it was then.
final class OtherCheckpoint {

    private final int self;
    private final @Nullable CutName mine;

    OtherCheckpoint(int self, @Nullable CutName mine) {
        this.self = self;
        this.mine = mine;
    }

    /// @param waits whether this node has not heard the peer since its own restore
    /// @param heard life of the peer's process that was heard last, or 0
    /// @param incarnation of this node
    /// @return why they do not fit, or `null`
    @Nullable
    String of(Hello hello, @Nullable RestoredFrom theirs, boolean waits, long heard, long incarnation) {
        if (theirs == null) {
            boolean silent = (hello.features() & Hello.CHECKPOINTS) == 0;
            return mine == null || !waits || silent ? null : "peer is not restored" + both(hello, null);
        }
        if (mine == null) {
            return theirs.waits() ? "peer is restored alone" + both(hello, theirs) : null;
        }
        if (mine.epoch() != theirs.epoch() || mine.attempt() != theirs.attempt()) {
            return "peer is restored from another checkpoint" + both(hello, theirs);
        }
        if (theirs.waits() && !waits && heard != 0 && heard != hello.life()) {
            return "peer is restored again, and this node has gone on" + both(hello, theirs);
        }
        if (waits && theirs.heard() != 0 && theirs.heard() != incarnation) {
            return "peer has gone on, and this node is restored again" + both(hello, theirs);
        }
        return null;
    }

    private String both(Hello hello, @Nullable RestoredFrom theirs) {
        return ": rank=" + hello.rank() + " "
                + name(theirs == null ? null : new CutName(theirs.epoch(), theirs.attempt())) + ", rank=" + self + " "
                + name(mine) + "; restore all ranks of a job, from one checkpoint";
    }

    private static String name(@Nullable CutName name) {
        return name == null ? "epoch=none" : name.toString();
    }
}
