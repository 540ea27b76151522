// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.posix.Errno;
import io.bulla.posix.PosixException;
import io.bulla.posix.internal.calls.Call;
import io.bulla.posix.internal.calls.Libc;
import io.bulla.posix.internal.calls.SyscallInterceptor;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectFileTest {

    // O_DIRECT of either processor; what the other one means by its bit is never asked for
    private static final int DIRECT = 0x4000 | 0x10000;

    @TempDir
    private Path directory;

    @AfterEach
    void callsAreMade() {
        SyscallInterceptor.watch(null);
    }

    @Test
    void fileIsWrittenPastTheCache() throws Exception {
        Path path = directory.resolve("direct");
        DirectFile file = DirectFile.create(path);
        int flags = Call.current().fcntl(file.descriptor().fd(), Libc.F_GETFL, 0);
        file.remove(path);
        assertTrue((flags & DIRECT) != 0, () -> "flags=0x" + Integer.toHexString(flags));
    }

    /// Linux makes the file before it refuses the flag.
    @Test
    void fileSystemThatRefusesTheFlagKeepsNoFile() {
        Path path = directory.resolve("refused");
        SyscallInterceptor.watch(DirectFileTest::refuseTheFlag);
        PosixException refused = assertThrows(PosixException.class, () -> DirectFile.create(path));
        assertEquals(Errno.EINVAL, refused.errno(), refused::toString);
        assertTrue(refused.getMessage().contains("file system refuses O_DIRECT: path=" + path), refused::toString);
        assertTrue(Files.notExists(path));
    }

    @Test
    void fileOfAnotherStays() throws Exception {
        Path there = Files.createFile(directory.resolve("there"));
        SyscallInterceptor.watch(DirectFileTest::refuseTheFlag);
        PosixException refused = assertThrows(PosixException.class, () -> DirectFile.create(there));
        assertEquals(Errno.EEXIST, refused.errno(), refused::toString);
        assertTrue(Files.exists(there));
    }

    private static int refuseTheFlag(String call, Object... arguments) {
        if (call.equals("open") && ((int) arguments[2] & DIRECT) != 0) {
            boolean exists = Files.exists(Path.of(((MemorySegment) arguments[1]).getString(0)));
            return exists ? 0 : -Errno.EINVAL.number();
        }
        boolean sets = call.equals("fcntl") && (int) arguments[2] == Libc.F_SETFL;
        return sets && ((int) arguments[3] & DIRECT) != 0 ? Errno.EINVAL.number() : 0;
    }
}
