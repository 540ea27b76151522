// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Limits;
import io.bulla.pack.UnpackException;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.DataType;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A message of the server, being read. What cannot be read ends this answer, not the connection: its length was said
/// before it.
final class Answer implements AutoCloseable {

    private final Command command;
    private final SealedBuffer body;
    private final Unpacker items;

    /// @param body taken over
    Answer(Command command, SealedBuffer body, WireFormat format, Limits limits) {
        this.command = command;
        this.body = body;
        this.items = Unpacker.of(body, format, limits);
    }

    Command command() {
        return command;
    }

    SealedBuffer body() {
        return body;
    }

    Unpacker items() {
        return items;
    }

    PmixStatus status() throws PmixException {
        return read(() -> new PmixStatus(items.unpackInt(DataType.STATUS)));
    }

    /// The status that a server says in place of what was asked for.
    ///
    /// @return `null` if it says what was asked for, or something else
    @Nullable
    PmixStatus refusal() {
        try {
            Unpacker alone = items.fork();
            PmixStatus status = new PmixStatus(alone.unpackInt(DataType.STATUS));
            return alone.remaining() == 0 && !status.isSuccess() ? status : null;
        } catch (UnpackException somethingElse) {
            return null;
        }
    }

    /// Reads, and names what was being read if that fails.
    ///
    /// @throws PmixException if the bytes are not what they should be
    <T> T read(Supplier<T> step) throws PmixException {
        try {
            return step.get();
        } catch (UnpackException | IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException wrong) {
            throw unreadable(command, body, wrong);
        }
    }

    static PmixException unreadable(Command command, SealedBuffer body, RuntimeException why) {
        return new PmixException(
                PmixStatus.UNPACK_FAILURE,
                "cannot read what the PMIx server sent: message=" + command.text() + " bytes=" + body.byteSize()
                        + " why=[" + why.getMessage() + "]",
                why);
    }

    @Override
    public void close() {
        body.close();
    }
}
