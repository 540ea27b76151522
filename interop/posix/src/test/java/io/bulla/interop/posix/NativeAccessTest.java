package io.bulla.interop.posix;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/// What a program hears that was not started for native access: each time that it asks, and what to do.
class NativeAccessTest {

    private static final String UNNAMED =
            "native access is not enabled: start the JVM with --enable-native-access=ALL-UNNAMED";
    private static final String MODULE =
            "native access is not enabled: start the JVM with --enable-native-access=io.bulla.interop.posix";

    /// Opens a pair of sockets, twice, and says what came of it.
    static final class TwoPairs {

        private TwoPairs() {}

        public static void main(String[] args) throws PosixException {
            for (int i = 0; i < 2; i++) {
                try {
                    for (PosixSocket socket : PosixSocket.unixPair()) {
                        socket.close();
                    }
                    System.out.println("opened");
                } catch (UnsupportedOperationException refused) {
                    System.out.println(refused.getMessage());
                }
            }
        }
    }

    private static void says(String line, List<String> options, List<String> program) throws Exception {
        Fork fork = Fork.run("true", options, program);
        assertEquals((line + "\n").repeat(2), fork.output());
        assertEquals(0, fork.status());
    }

    @Test
    void withoutTheOption() throws Exception {
        says(UNNAMED, List.of(), Fork.classPath(TwoPairs.class));
        says(MODULE, List.of(), Fork.module(TwoPairs.class));
    }

    @Test
    void denied() throws Exception {
        says(MODULE, List.of("--illegal-native-access=deny"), Fork.module(TwoPairs.class));
    }

    @Test
    void granted() throws Exception {
        says(
                "opened",
                List.of("--illegal-native-access=deny", "--enable-native-access=io.bulla.interop.posix"),
                Fork.module(TwoPairs.class));
    }
}
