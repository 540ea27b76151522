// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.micrometer;

import io.bulla.buffer.ArenaSource;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.security.Security;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Every public operation of this module, while each foreign call that it makes fails or calls back.
class EveryOperationFaultTest {

    private static ArenaSource memory;
    private static OobNode node;

    @BeforeAll
    static void start() throws IOException {
        memory = ArenaSource.create();
        node = OobNode.builder(0, 2)
                .memory(memory)
                .security(Security.plaintext())
                .directory(peer -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 1))
                .start();
    }

    @AfterAll
    static void end() {
        node.close();
        memory.close();
    }

    @Test
    void noPublicOperationIsWithoutAFaultRun() throws IOException {
        MetricsCalls.all(node).checkWhole(Path.of("api.txt"));
    }

    @Test
    void onlyWhatSaysMoveTakesAHandle() {
        MetricsCalls.all(node).checkHandles();
    }

    @Test
    @Tag("faults")
    void everyOperationKeepsItsPromisesWhileAnyCallFails() {
        MetricsCalls.all(node).checkPromises();
    }
}
