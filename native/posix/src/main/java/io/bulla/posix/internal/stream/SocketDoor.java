// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.stream;

import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The way from a user's socket to the stream that it stands on, for the other rooms of this module: users do not see
/// it. The user's type hands it in when it is loaded, so before there is a socket. Any thread may ask.
public final class SocketDoor {

    // volatile: a thread that was given a socket sees what the socket's class handed in before
    private static volatile @Nullable Function<Object, StreamSocket> door;

    private SocketDoor() {}

    /// @param toStream of a user's socket; throws for anything else
    public static void open(Function<Object, StreamSocket> toStream) {
        door = toStream;
    }

    /// @param socket a user's
    public static StreamSocket stream(Object socket) {
        return Objects.requireNonNull(door, "door").apply(socket);
    }
}
