// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import io.bulla.pack.WireFormat;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/// How a message is sent.
///
/// @param level when the send is complete
/// @param deadline after which it fails if it is not complete, from the send on; nothing: none
/// @param format how the bytes are packed, which the receiver finds in [Message#format()]; nothing: it has to
///     know
public record SendOptions(Delivery.Status level, Optional<Duration> deadline, Optional<WireFormat> format) {

    /// Complete when the peer has acknowledged, without a deadline, no format said. Acknowledged, because a
    /// socket that has taken all bytes of a message says nothing of the peer; it costs a time of waiting, and
    /// nothing else: the handle is kept until then at either level.
    public static final SendOptions DEFAULT =
            new SendOptions(Delivery.Status.ACKNOWLEDGED, Optional.empty(), Optional.empty());

    /// Checks that all is there, and the deadline.
    ///
    /// @throws IllegalArgumentException if the deadline is not positive
    public SendOptions {
        Objects.requireNonNull(level, "level");
        Objects.requireNonNull(deadline, "deadline");
        Objects.requireNonNull(format, "format");
        if (deadline.isPresent() && !deadline.get().isPositive()) {
            throw new IllegalArgumentException("deadline is not positive: deadline=" + deadline.get());
        }
    }

    /// These options, but complete as soon as the socket has taken all bytes.
    ///
    /// @return changed options
    public SendOptions written() {
        return new SendOptions(Delivery.Status.WRITTEN, deadline, format);
    }

    /// These options with a deadline.
    ///
    /// @param deadline from the send on, one of more than a century is none; then the send fails with a
    ///     [java.util.concurrent.TimeoutException]
    /// @return changed options
    /// @throws IllegalArgumentException if it is not positive
    public SendOptions within(Duration deadline) {
        return new SendOptions(level, Optional.of(deadline), format);
    }

    /// These options with a format.
    ///
    /// @param format what the receiver finds in [Message#format()]
    /// @return changed options
    public SendOptions packed(WireFormat format) {
        return new SendOptions(level, deadline, Optional.of(format));
    }
}
