// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import io.aeron.Publication;

/// The outcome of an offer.
///
/// @param outcome what Aeron answered
/// @param position of the stream behind the message, in bytes; -1 if it was not accepted
public record OfferResult(Outcome outcome, long position) {

    /// What Aeron answered. Whatever it is, the buffer is the caller's as before, and nothing of a message that
    /// was not accepted is in the stream.
    public enum Outcome {
        /// Copied into the log.
        ACCEPTED(false),
        /// The readers are behind, or there is none yet beyond the initial window: try again.
        BACK_PRESSURED(true),
        /// The log was turning to its next term: try again, at once.
        ADMIN_ACTION(true),
        /// There is no subscriber now: try again if one may come.
        NOT_CONNECTED(true),
        /// The publication is closed.
        CLOSED(false),
        /// The stream has no more positions: a new publication is needed.
        MAX_POSITION(false);

        private final boolean worthRetrying;

        Outcome(boolean worthRetrying) {
            this.worthRetrying = worthRetrying;
        }

        /// Whether the same offer to the same publication can be accepted later.
        ///
        /// @return `false` if it was accepted, or never will be
        public boolean isWorthRetrying() {
            return worthRetrying;
        }
    }

    /// Whether the message is in the stream.
    ///
    /// @return `true` for [Outcome#ACCEPTED] alone
    public boolean isAccepted() {
        return outcome == Outcome.ACCEPTED;
    }

    static OfferResult of(long answer) {
        if (answer >= 0) {
            return new OfferResult(Outcome.ACCEPTED, answer);
        }
        return new OfferResult(outcomeOf(answer), -1);
    }

    private static Outcome outcomeOf(long answer) {
        if (answer == Publication.BACK_PRESSURED) {
            return Outcome.BACK_PRESSURED;
        } else if (answer == Publication.ADMIN_ACTION) {
            return Outcome.ADMIN_ACTION;
        } else if (answer == Publication.NOT_CONNECTED) {
            return Outcome.NOT_CONNECTED;
        } else if (answer == Publication.CLOSED) {
            return Outcome.CLOSED;
        } else if (answer == Publication.MAX_POSITION_EXCEEDED) {
            return Outcome.MAX_POSITION;
        }
        throw new IllegalStateException("unknown answer of a publication: answer=" + answer);
    }
}
