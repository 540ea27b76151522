// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.session;

import io.bulla.buffer.MemoryLimitException;
import io.bulla.buffer.MemorySource;
import io.bulla.runtime.pmix.PmixEnvironment;
import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixStatus;
import io.bulla.runtime.pmix.internal.core.Settings;
import io.bulla.runtime.pmix.internal.wire.Header;
import io.bulla.runtime.pmix.internal.wire.Hello;
import io.bulla.runtime.pmix.internal.wire.UserIds;
import java.io.EOFException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Reads what the server says: whether it takes the hello, then answers and events. One virtual thread's, as long as
/// the session lives.
final class FrameReader {

    // so that a queue of them is bounded in bytes too; a death takes some hundreds
    private static final int MOST_EVENT_BYTES = 64 << 10;

    /// Whose answers these are.
    interface Owner {

        /// The server takes the hello.
        ///
        /// @param index of this client in the server's table
        void onJoined(int index);

        /// Takes out the call that an answer is for.
        ///
        /// @return `null` if no call waits for it
        @Nullable
        Call onAnswer(int tag);

        /// What a failure of the connection is to the caller who waits.
        PmixException broken(Throwable failure);
    }

    private final Settings settings;
    private final MemorySource memory;
    private final EventSink events;
    private final ServerChannel channel;

    /// @param memory where answers and events lie
    FrameReader(Settings settings, MemorySource memory, EventSink events, ServerChannel channel) {
        this.settings = settings;
        this.memory = memory;
        this.events = events;
        this.channel = channel;
    }

    /// Joins, and reads until the connection ends.
    void run(UserIds ids, Owner owner) throws IOException {
        greet(ids, owner);
        while (true) {
            receive(owner);
        }
    }

    private void greet(UserIds ids, Owner owner) throws IOException {
        PmixEnvironment environment = settings.environment();
        channel.connect(environment.server().address());
        channel.write(Hello.of(
                environment.proc(), environment.module(), environment.format().described(), ids));
        PmixStatus status = new PmixStatus(channel.readInt());
        if (!status.isSuccess()) {
            throw settings.failures()
                    .of(
                            status,
                            "the PMIx server refuses the hello: status=" + status + " process=" + environment.proc()
                                    + " server=" + environment.server() + " version=" + environment.version());
        }
        owner.onJoined(channel.readInt());
    }

    private void receive(Owner owner) throws IOException {
        Header head = channel.readHeader();
        if (head.tag() == Header.EVENT) {
            event(head);
            return;
        }
        Call call = owner.onAnswer(head.tag());
        if (call == null) {
            checkLength(head);
            channel.skip(head.length());
            return;
        }
        answer(call, head, owner);
    }

    /// An answer to a call that waits, or waited: it is out of the table, so it is completed here, whatever fails.
    private void answer(Call call, Header head, Owner owner) throws IOException {
        try {
            if (head.length() > settings.options().answerBytes()) {
                call.refused(overLimit(head));
                channel.skip(head.length());
            } else {
                body(call, head.length());
            }
        } catch (Throwable failure) {
            call.completeExceptionally(told(failure, owner));
            throw failure;
        }
    }

    private static Throwable told(Throwable failure, Owner owner) {
        try {
            return owner.broken(failure);
        } catch (Throwable noHeap) {
            // for the words: what failed first says enough
            return failure;
        }
    }

    private void body(Call call, long length) throws IOException {
        Arrival body = new Arrival(channel, memory, length);
        try (body) {
            call.answered(body.read());
        } catch (MemoryLimitException full) {
            call.refused(settings.failures()
                    .of(PmixStatus.OUT_OF_RESOURCE, "no memory for an answer: bytes=" + length, full));
            channel.skip(body.missing());
        }
    }

    private void event(Header head) throws IOException {
        checkLength(head);
        if (head.length() == 0) {
            throw new EOFException("the PMIx server has given this process up");
        }
        if (head.length() > MOST_EVENT_BYTES) {
            channel.skip(head.length());
            events.dropped();
            return;
        }
        Arrival body = new Arrival(channel, memory, head.length());
        try (body) {
            events.heard(body.read());
        } catch (MemoryLimitException full) {
            channel.skip(body.missing());
            events.dropped();
        }
    }

    private void checkLength(Header head) throws PmixException {
        if (head.length() > settings.options().answerBytes()) {
            throw overLimit(head);
        }
    }

    private PmixException overLimit(Header head) {
        return settings.failures()
                .of(
                        PmixStatus.OUT_OF_RESOURCE,
                        "message of the PMIx server is over the limit: tag=" + Integer.toUnsignedString(head.tag())
                                + " bytes=" + head.length() + " limit="
                                + settings.options().answerBytes());
    }
}
