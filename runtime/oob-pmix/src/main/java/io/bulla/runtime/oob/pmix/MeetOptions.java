// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/// Settings for the meeting of the nodes of a job.
///
/// @param deadline for all of them to come
/// @param bind where to listen; if not said, a free port: of the loopback address if the launcher says that all
///     processes are on this host, else of all addresses
/// @param fingerprint published with the address; empty for none
/// @param secret whether the first node makes a secret for all of them. It is as private as the launcher's server:
///     over TCP that knows its clients by the user that they say they are, and a process of the same user can ask
public record MeetOptions(Duration deadline, Optional<InetSocketAddress> bind, String fingerprint, boolean secret) {

    /// Two minutes, no fingerprint, no secret.
    public static final MeetOptions DEFAULT = new MeetOptions(Duration.ofMinutes(2), Optional.empty(), "", false);

    private static final int MOST_FINGERPRINT = 256;

    /// Checks the bounds.
    ///
    /// @throws IllegalArgumentException if the deadline is not positive, or the fingerprint longer than 256
    ///     characters, or than 511 bytes in UTF-8
    public MeetOptions {
        Objects.requireNonNull(bind, "bind");
        if (!deadline.isPositive()) {
            throw new IllegalArgumentException("deadline is not positive: given=" + deadline);
        }
        if (fingerprint.length() > MOST_FINGERPRINT) {
            throw new IllegalArgumentException(
                    "fingerprint is too long: length=" + fingerprint.length() + " most=" + MOST_FINGERPRINT);
        }
        // more the other nodes do not read
        int bytes = fingerprint.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > Card.MOST_STRING) {
            throw new IllegalArgumentException("fingerprint is too long: bytes=" + bytes + " most=" + Card.MOST_STRING);
        }
    }

    /// The same with another deadline.
    ///
    /// @param other positive
    /// @return new options
    public MeetOptions within(Duration other) {
        return new MeetOptions(other, bind, fingerprint, secret);
    }

    /// The same at an address.
    ///
    /// @param address with a port, or 0 for a free one
    /// @return new options
    public MeetOptions at(InetSocketAddress address) {
        return new MeetOptions(deadline, Optional.of(address), fingerprint, secret);
    }

    /// The same with a fingerprint.
    ///
    /// @param other such as the digest of a certificate in hexadecimal digits
    /// @return new options
    public MeetOptions showing(String other) {
        return new MeetOptions(deadline, bind, other, secret);
    }

    /// The same with a secret for all.
    ///
    /// @return new options
    public MeetOptions withSecret() {
        return new MeetOptions(deadline, bind, fingerprint, true);
    }
}
