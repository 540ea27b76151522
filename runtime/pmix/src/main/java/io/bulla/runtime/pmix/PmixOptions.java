// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.pack.Limits;
import java.time.Duration;
import java.util.Objects;

/// Bounds of a client: how long it waits, and what it takes from the server.
///
/// @param deadline for the answer to a call that has no deadline of its own; also for the connection
/// @param answerBytes of one message of the server
/// @param pending calls that wait for an answer, and events that wait for their listener
/// @param limits what an item in a message may announce
public record PmixOptions(Duration deadline, long answerBytes, int pending, Limits limits) {

    /// A minute, 64 MiB, 1024 calls, 1 Mi values in an item and strings of 16 MiB.
    public static final PmixOptions DEFAULT =
            new PmixOptions(Duration.ofMinutes(1), 64L << 20, 1024, new Limits(1 << 20, 1 << 24));

    private static final long MOST_ANSWER_BYTES = 1L << 31;

    /// Checks the bounds.
    ///
    /// @throws IllegalArgumentException if the deadline is not positive, or a number is outside of 1 to 2 GiB, or
    ///     of 1 to 1 Mi
    public PmixOptions {
        Objects.requireNonNull(limits, "limits");
        if (!deadline.isPositive()) {
            throw new IllegalArgumentException("deadline is not positive: given=" + deadline);
        }
        if (answerBytes < 1 || answerBytes > MOST_ANSWER_BYTES) {
            throw new IllegalArgumentException(
                    "bytes of an answer are outside: given=" + answerBytes + " least=1 most=" + MOST_ANSWER_BYTES);
        }
        if (pending < 1 || pending > 1 << 20) {
            throw new IllegalArgumentException(
                    "pending calls are outside: given=" + pending + " least=1 most=" + (1 << 20));
        }
    }

    /// The same with another deadline.
    ///
    /// @param other positive
    /// @return new options
    public PmixOptions within(Duration other) {
        return new PmixOptions(other, answerBytes, pending, limits);
    }
}
