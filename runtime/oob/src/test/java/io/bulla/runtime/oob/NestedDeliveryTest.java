// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.security.Security;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Open MPI 5e6928d710 (2008): a message that arrives while another is handled frees its bytes.
class NestedDeliveryTest {

    private static final int TAG = 5;

    @Test
    void messageThatArrivesMeanwhileWaitsAndDisturbsNothing() throws Exception {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        try (ArenaSource source = ArenaSource.create()) {
            try (OobNode node = OobNode.builder(0, 1)
                    .memory(source)
                    .security(Security.plaintext())
                    .directory(peer -> null)
                    .start()) {
                node.receive(TAG, message -> {
                    SealedBuffer outer = message.buffer();
                    byte number = first(outer);
                    heard.add("begin " + number);
                    if (number < 3) {
                        try (SealedBuffer inner = message(source, number + 1)) {
                            node.send(0, TAG, inner);
                        }
                    }
                    heard.add("end " + first(outer));
                });
                try (SealedBuffer outer = message(source, 1)) {
                    node.send(0, TAG, outer);
                }
                for (int number = 1; number <= 3; number++) {
                    assertEquals("begin " + number, heard.poll(10, TimeUnit.SECONDS));
                    assertEquals("end " + number, heard.poll(10, TimeUnit.SECONDS));
                }
            }
            source.close(Duration.ofSeconds(10));
        }
    }

    private static byte first(SealedBuffer buffer) {
        return buffer.iovec().get(ValueLayout.JAVA_BYTE, 0);
    }

    private static SealedBuffer message(ArenaSource source, int number) {
        try (BufferBuilder builder = BufferBuilder.create(source)) {
            return builder.putByte((byte) number).seal();
        }
    }
}
