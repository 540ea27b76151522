// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.runtime.oob.internal.wire.Frame;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The frames that a connection owes the peer beside the lanes: one of a kind at most, written when the channel takes
/// it. A newer answer replaces the one before it, so a peer that asks again and again, and reads nothing, makes this
/// node keep no more than what stands here. One event loop's.
public final class ControlQueue {

    /// The writer.
    public interface Out {

        void control(Frame.Kind kind);

        void control(Frame control);

        void reject(Frame message, String why);
    }

    private record Rejection(Frame message, String why) {}

    private final Out out;
    private boolean ack;
    private boolean retry;
    private boolean resume;
    private @Nullable Rejection rejection;
    private @Nullable Frame answer;

    ControlQueue(Out out) {
        this.out = out;
    }

    /// An acknowledgement of all that has arrived, with the credit.
    public void oweAck() {
        ack = true;
    }

    /// There was no room for what came.
    void oweRetry() {
        retry = true;
    }

    /// What follows is all that was not acknowledged.
    public void oweResume() {
        resume = true;
    }

    /// Whether nothing of a lane may be written before the RESUME is.
    boolean owesResume() {
        return resume;
    }

    /// A message is not taken.
    void reject(Frame message, String why) {
        rejection = new Rejection(message, why);
    }

    /// To the latest REQUEST: the peer looks for no earlier one.
    public void answer(Frame clear) {
        answer = clear;
    }

    /// The channel takes more.
    ///
    /// @param acknowledgement as of now, asked if it is owed
    /// @return whether there was something
    boolean write(Supplier<Frame> acknowledgement) {
        boolean some = ack || retry || resume || rejection != null || answer != null;
        Rejection refused = rejection;
        if (refused != null) {
            rejection = null;
            out.reject(refused.message, refused.why);
        }
        if (retry) {
            retry = false;
            out.control(Frame.Kind.RETRY);
        }
        if (resume) {
            resume = false;
            out.control(Frame.Kind.RESUME);
        }
        Frame clear = answer;
        if (clear != null) {
            answer = null;
            out.control(clear);
        }
        if (ack) {
            ack = false;
            out.control(acknowledgement.get());
        }
        return some;
    }
}
