// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.MemorySource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.NoOpenHandles;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import io.grpc.ServerServiceDefinition;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// gRPC of another language at the other end. Needs `python3` with `grpcio` (Debian: `python3-grpcio`), else it is
/// skipped.
@ExtendWith(NoOpenHandles.class)
@Needs(value = Piece.PYTHON_GRPC, by = PythonProbe.class)
class OtherLanguageTest {

    private static final int MESSAGES = 40;

    @AfterEach
    void everyHandleIsClosed(MemorySource memory) throws InterruptedException {
        BroadcastTest.awaitClosed(memory);
    }

    @Test
    void aClientInPythonReadsEveryByte(MemorySource memory, @TempDir Path folder) throws Exception {
        Path client = folder.resolve("client.py");
        try (InputStream in = OtherLanguageTest.class.getResourceAsStream("client.py")) {
            Files.copy(in, client, StandardCopyOption.REPLACE_EXISTING);
        }
        SealedMarshaller sealed = SealedMarshaller.of(memory);
        try (Broadcast feed = Broadcast.builder().build();
                Wire.Ends ends = Wire.NETTY.open(service(sealed, feed))) {
            Process python = PythonProbe.run(client.toString(), "" + ends.server.getPort(), "" + MESSAGES);
            BroadcastTest.await(() -> feed.figures().subscribers() == 1 || !python.isAlive());
            for (int i = 0; i < MESSAGES; i++) {
                try (SealedBuffer message =
                        sealed.pack(Feed.SUBSCRIBE.getResponseMarshaller(), Feed.message(i, 8 + i * 500))) {
                    feed.publish(message);
                }
            }
            feed.complete();
            String said = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, python.waitFor(), said);
            assertEquals(
                    List.of("messages=" + MESSAGES, "wrong=0"),
                    List.of(said.strip().split(" ")).subList(2, 4),
                    said);
            // what is shorter without compression, gRPC does not compress
            assertEquals(6, sealed.figures().kept() + sealed.figures().copied());
            assertTrue(sealed.figures().copied() >= 2, () -> sealed.figures().toString());
        }
    }

    private static ServerServiceDefinition service(SealedMarshaller sealed, Broadcast feed) {
        ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(Feed.SERVICE)
                .addMethod(sealed.responses(Feed.SUBSCRIBE), feed.asHandler());
        Echo.service(sealed).getMethods().forEach(service::addMethod);
        return service.build();
    }
}
