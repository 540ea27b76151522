// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.connection;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.internal.wire.Frame;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// The peer that frames have come from, as what reads them needs it. On the loop.
interface FrameSink {

    /// Its rank.
    int rank();

    /// The tag of handles of its messages, or `null`.
    @Nullable
    Object tag();

    /// Before memory is taken for a frame's body.
    ///
    /// @throws IOException if it cannot be
    void check(Frame frame) throws IOException;

    /// Before memory is taken for a frame's body: whether it is a broadcast for whose confirmation there is no room,
    /// because the peer acknowledges none. It has to come again.
    boolean owesTooMany(Frame frame);

    /// Whether a frame of a lane is of a message that has not arrived yet.
    boolean isNew(Frame frame);

    /// There was no memory for a frame: from now on this node drops all, until the peer begins again.
    void onMemoryShortage(Frame frame, RuntimeException why);

    /// A frame of a lane, and ownership of its body.
    void onFrame(Frame frame, SealedBuffer body) throws IOException;

    /// A frame about a message that goes beside the connection.
    void onRendezvous(Frame frame) throws IOException;

    /// The peer's acknowledgement, with the credit.
    void onCredit(Frame ack) throws IOException;

    /// The peer had no memory: it drops all, until it is told that all begins again.
    void onRetry();

    /// The peer does not take a message that was begun.
    void onReject(Frame reject, String why);

    /// A word of the layer above.
    void onNotice(int topic, byte[] text);

    /// The peer has closed.
    void onBye();
}
