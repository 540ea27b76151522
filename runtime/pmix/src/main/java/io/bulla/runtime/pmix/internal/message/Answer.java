// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.message;

import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.UnpackException;
import io.bulla.pack.Unpacker;
import io.bulla.pack.value.DataType;
import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixStatus;
import io.bulla.runtime.pmix.internal.core.Failures;
import io.bulla.runtime.pmix.internal.wire.Command;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A message of the server, being read. What cannot be read ends this answer, not the connection: its length was said
/// before it.
public final class Answer implements AutoCloseable {

    private final Command command;
    private final SealedBuffer body;
    private final Unpacker items;
    private final Failures failures;

    /// @param body taken over
    public Answer(Command command, SealedBuffer body, Reading reading, Failures failures) {
        this.command = command;
        this.body = body;
        this.items = reading.of(body);
        this.failures = failures;
    }

    public Command command() {
        return command;
    }

    public SealedBuffer body() {
        return body;
    }

    public Unpacker items() {
        return items;
    }

    public PmixStatus status() throws PmixException {
        return read(() -> new PmixStatus(items.unpackInt(DataType.STATUS)));
    }

    /// The status that a server says in place of what was asked for.
    ///
    /// @return `null` if it says what was asked for, or something else
    public @Nullable PmixStatus refusal() {
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
    public <T> T read(Supplier<T> step) throws PmixException {
        try {
            return step.get();
        } catch (UnpackException | IllegalArgumentException | ArithmeticException | IndexOutOfBoundsException wrong) {
            throw unreadable(wrong);
        }
    }

    private PmixException unreadable(RuntimeException why) {
        return failures.of(
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
