// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.bulk;

import io.bulla.buffer.SealedBuffer;
import java.io.IOException;
import java.util.concurrent.CompletionStage;

/// One end of a line to one peer. No other peer writes through it.
///
/// ```
/// sender                                   receiver
///   asks, by the connection  ---------->     land(): memory, a key
///                            <----------   key and target, by the connection
///   write()                  =========>     the landing
///   says that it is all      ---------->     seal(): the grant is over, the message handled
/// ```
public interface BulkLine extends AutoCloseable {

    /// The longest address, in bytes.
    int MOST_ADDRESS = 128;

    /// What the peer's end is told, in the hello.
    ///
    /// @return at most [#MOST_ADDRESS] bytes
    byte[] address();

    /// Names the peer's end.
    ///
    /// @param peersAddress as the peer's [#address()] says; from a peer that may lie
    /// @throws IOException if it is no address of this device: the line is not used then
    void connect(byte[] peersAddress) throws IOException;

    /// Whether a buffer can be written from where it is.
    ///
    /// @param buffer open
    /// @return false if its memory is none that the device reads
    boolean takes(SealedBuffer buffer);

    /// Takes memory, and lets the peer write to it.
    ///
    /// @param byteSize at least 0
    /// @return ended by its own calls, or with the line
    /// @throws IOException if there is no memory, or the device refuses: the message comes by the
    ///     connection
    BulkLanding land(long byteSize) throws IOException;

    /// Writes a buffer into the peer's memory.
    ///
    /// @param buffer may be closed afterwards: it is held until the device has let go of it
    /// @param key of the peer's landing
    /// @param target of the peer's landing
    /// @return completes, by any thread, when all bytes are in the peer's memory; fails if they are not,
    ///     or not in time
    /// @throws IOException if the device refuses
    CompletionStage<Void> write(SealedBuffer buffer, long key, long target) throws IOException;

    /// Ends the line: the peer's keys are void, and what was being written ends. A landing whose memory
    /// the peer may still write to then keeps it, until the device has stopped. Again does nothing.
    @Override
    void close();
}
