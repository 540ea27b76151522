// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.xcast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Unpacker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LaunchMessageTest {

    private static final int BYTES = 200_000;

    @TempDir
    private Path folder;

    @Test
    void fileThatIsDamagedOnItsWayIsNamed() throws IOException {
        byte[] content = new byte[BYTES];
        new Random(1).nextBytes(content);
        Path file = Files.write(folder.resolve("data"), content);
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), null);
                SealedBuffer sent =
                        LaunchMessage.pack(source, 1 << 20, "job", List.of("a:1"), Map.of("A", "1"), List.of(file))) {
            assertEquals(1, LaunchMessage.verify(Unpacker.of(sent, LaunchMessage.FORMAT)));
            byte[] bytes = sent.toByteArray();
            bytes[bytes.length / 2] ^= 1;
            try (BufferBuilder builder = BufferBuilder.create(source).put(bytes);
                    SealedBuffer arrived = builder.seal()) {
                String why = assertThrows(
                                IOException.class,
                                () -> LaunchMessage.verify(Unpacker.of(arrived, LaunchMessage.FORMAT)))
                        .getMessage();
                assertTrue(
                        why.matches("file arrived damaged: name=data bytes=200000 crc32c=[0-9a-f]+ expected=[0-9a-f]+"),
                        why);
            }
        }
    }
}
