// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.pack.WireFormat;
import io.bulla.pack.value.Proc;
import io.bulla.runtime.pmix.PmixEnvironment;
import io.bulla.runtime.pmix.PmixException;
import io.bulla.runtime.pmix.PmixOptions;
import io.bulla.runtime.pmix.PmixPartialException;
import io.bulla.runtime.pmix.PmixServer;
import io.bulla.runtime.pmix.PmixStatus;
import io.bulla.runtime.pmix.PmixTimeoutException;
import io.bulla.runtime.pmix.internal.core.Failures;
import io.bulla.runtime.pmix.internal.core.Settings;
import io.bulla.runtime.pmix.internal.wire.Command;
import io.bulla.runtime.pmix.internal.wire.Header;
import io.bulla.runtime.pmix.internal.wire.UserIds;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// A call that is out of the table is completed, whatever fails before its answer is there.
class FrameReaderTest {

    private static final int TAG = Header.FIRST_TAG;
    private static final long HUGE = 0xffff_fff0L;

    private final Call call = new Call(Command.COMMIT, null);

    /// A heap that is full just where a failure is to be put into words.
    private static final class NoHeap implements Failures {

        private final OutOfMemoryError full = new OutOfMemoryError("planted");

        @Override
        public PmixException of(PmixStatus status, @Nullable String message, @Nullable Throwable cause) {
            throw full;
        }

        @Override
        public PmixException again(PmixException failure) {
            throw full;
        }

        @Override
        public PmixTimeoutException late(String message) {
            throw full;
        }

        @Override
        public PmixPartialException partial(String message) {
            throw full;
        }
    }

    private final class OneCall implements FrameReader.Owner {

        @Override
        public void onJoined(int index) {}

        @Override
        public Call onAnswer(int tag) {
            assertEquals(TAG, tag);
            return call;
        }

        @Override
        public PmixException broken(Throwable failure) {
            throw new OutOfMemoryError("no words for " + failure);
        }
    }

    @Test
    void answerThatHasNoPlaceCompletesItsCall() throws IOException {
        // a source that is not there fails as its builder is made, as a full heap does
        Throwable thrown = run(8, new OneCall());
        assertTrue(thrown instanceof NullPointerException, thrown.toString());
        assertSame(thrown, call.exceptionNow());
    }

    @Test
    void answerOverTheLimitCompletesItsCallWithoutWords() throws IOException {
        Throwable thrown = run(HUGE, new OneCall());
        assertEquals("planted", thrown.getMessage());
        assertSame(thrown, call.exceptionNow());
    }

    private Throwable run(long answerBytes, FrameReader.Owner owner) throws IOException {
        try (ServerSocketChannel listener =
                ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            Settings settings = new Settings(environment(listener), PmixOptions.DEFAULT, new NoHeap());
            ServerChannel channel = new ServerChannel();
            Thread server = Thread.ofVirtual().start(() -> answer(listener, answerBytes));
            try {
                FrameReader reader = new FrameReader(settings, null, null, channel);
                return assertThrows(Throwable.class, () -> reader.run(new UserIds(1, 1), owner));
            } finally {
                channel.close();
                server.interrupt();
            }
        }
    }

    private static PmixEnvironment environment(ServerSocketChannel listener) throws IOException {
        return new PmixEnvironment(
                new Proc("job", 0),
                new PmixServer("server.0", (InetSocketAddress) listener.getLocalAddress()),
                "v41",
                WireFormat.PMIX_4,
                "4.2.2");
    }

    /// Takes the hello, and answers the call.
    private static void answer(ServerSocketChannel listener, long bytes) {
        try (SocketChannel peer = listener.accept()) {
            Socket socket = peer.socket();
            ByteBuffer said = ByteBuffer.allocate(2 * Integer.BYTES + Header.BYTES)
                    .putLong(1)
                    .put(new Header(0, TAG, bytes).bytes())
                    .flip();
            peer.write(said);
            // until the reader has gone
            socket.getInputStream().readAllBytes();
        } catch (IOException over) {
            // the reader has gone
        }
    }
}
