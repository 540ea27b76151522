// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.posix;

import java.util.Set;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/// Fails a test that leaves a descriptor, a mapping of a memory file, or a thread behind.
final class NothingStays implements BeforeEachCallback, AfterEachCallback {

    private static final String MEMORY_FILE = "/memfd:";

    private Set<String> files = Set.of();
    private long mappings;
    private Set<Thread> threads = Set.of();

    @Override
    public void beforeEach(ExtensionContext context) throws Exception {
        // what the first of its kind opens for good
        for (PosixSocket socket : PosixSocket.unixPair()) {
            socket.close();
        }
        files = Descriptors.targets();
        mappings = Descriptors.mappings(MEMORY_FILE);
        threads = Descriptors.threads();
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        Descriptors.assertNoneSince(files);
        Descriptors.assertMapped(mappings, MEMORY_FILE);
        Descriptors.assertThreads(threads);
    }
}
