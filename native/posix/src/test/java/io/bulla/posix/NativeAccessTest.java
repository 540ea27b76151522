// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.bulla.posix.fixtures.Fork;
import io.bulla.posix.fixtures.MemoryFiles;
import io.bulla.posix.memfd.MappingProtection;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.posix.socket.Outbox;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// What a program hears that was not started for native access: each time that it asks, and what to do.
class NativeAccessTest {

    private static final String UNNAMED =
            "native access is not enabled: start the JVM with --enable-native-access=ALL-UNNAMED";
    private static final String MODULE =
            "native access is not enabled: start the JVM with --enable-native-access=io.bulla.posix";

    private interface Door {
        void open() throws IOException;
    }

    /// Comes in by the door that is named, twice, and says what came of it.
    static final class Twice {

        private static final Map<String, Door> DOORS = Map.of(
                "socket", PosixSocket::unixPair,
                "guard", MappingProtection::ofKernel,
                "memory", MemfdSource::create,
                "outbox", () -> Outbox.open().close());

        private Twice() {}

        public static void main(String[] args) throws IOException {
            for (int i = 0; i < 2; i++) {
                try {
                    DOORS.get(args[0]).open();
                    System.out.println("opened");
                } catch (UnsupportedOperationException refused) {
                    System.out.println(refused.getMessage());
                }
            }
        }
    }

    private static void says(String line, List<String> options, List<String> program) throws Exception {
        for (String door : Twice.DOORS.keySet()) {
            Fork fork = Fork.run(
                    "true",
                    options,
                    Stream.concat(program.stream(), Stream.of(door)).toList());
            assertEquals((line + "\n").repeat(2), fork.output(), door);
            assertEquals(0, fork.status());
        }
    }

    @Test
    void withoutTheOption() throws Exception {
        says(UNNAMED, List.of(), Fork.classPath(Twice.class));
        says(MODULE, List.of(), Fork.module(Twice.class));
    }

    @Test
    void denied() throws Exception {
        says(MODULE, List.of("--illegal-native-access=deny"), Fork.module(Twice.class));
    }

    @Test
    @Needs(value = Piece.MEMORY_FILES, by = MemoryFiles.class)
    void granted() throws Exception {
        says(
                "opened",
                List.of("--illegal-native-access=deny", "--enable-native-access=io.bulla.posix"),
                Fork.module(Twice.class));
    }
}
