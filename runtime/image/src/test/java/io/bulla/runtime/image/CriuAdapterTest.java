// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.testkit.needs.Needs;
import io.bulla.testkit.needs.Piece;
import io.netty.channel.uring.IoUring;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What goes wrong with an image: the process goes on.
@Needs(Piece.PROC)
class CriuAdapterTest {

    private static final String REFUSES = """
            #!/bin/sh
            if [ "$1" = --version ]; then echo 'Version: 4.2'; exit; fi
            while [ "$1" != --images-dir ]; do shift; done
            echo '(00.0) Error (criu/util.c:1534): rlimit: not permitted' >"$2/dump.log"
            echo '(00.1) Error (criu/sk-inet.c:192): inet: Connected TCP socket' >>"$2/dump.log"
            echo '(00.2) Error (criu/cr-dump.c:2111): Dumping FAILED.' >>"$2/dump.log"
            exit 3
            """;

    @TempDir
    Path folder;

    private ImageProcess process;

    @AfterEach
    void noProcessIsLeft() throws InterruptedException {
        if (process != null) {
            process.end();
        }
    }

    private Path program(String text) throws IOException {
        Path program = Files.writeString(folder.resolve("criu"), text);
        return Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private String refused(String... options) throws Exception {
        process = ImageProcess.start(folder, "01", options);
        Files.createFile(folder.resolve("take-0"));
        String failed = process.await("failed 0");
        Files.createFile(folder.resolve("stop"));
        process.await("ends");
        process.said().stream()
                .filter(line -> line.startsWith("total"))
                .forEach(line -> assertTrue(line.endsWith("failed=0 verdicts=0 lost=0 doubled=0"), line));
        return failed;
    }

    @Test
    void criusReasonIsTheReasonAndTheNodesGoOn() throws Exception {
        assertEquals(
                "failed 0: criu dump failed: status=3 log=" + folder.toRealPath() + "/image-01-0/dump.log"
                        + " reason=(00.1) Error (criu/sk-inet.c:192): inet: Connected TCP socket",
                refused(program(REFUSES).toString(), "10"));
    }

    @Test
    void programThatDoesNotStartIsNamed() throws Exception {
        String broken = REFUSES.replace("while [", "kill -9 $$; while [");
        String failed = refused(program(broken).toString(), "10");
        assertTrue(failed.contains("criu dump failed: status=137"), failed);
    }

    @Test
    void ringIsRefused() throws Exception {
        Piece.IO_URING.orSkip(IoUring.unavailabilityCause());
        String failed = refused(program(REFUSES).toString(), "10", "ring");
        assertTrue(failed.startsWith("failed 0: criu cannot dump an io_uring: descriptors=["), failed);
    }

    @Test
    void folderWithFilesIsRefused() throws Exception {
        CriuAdapter adapter = adapter();
        assertThrows(FileAlreadyExistsException.class, () -> adapter.dump(folder));
    }

    @Test
    void performanceDataIsRefused() throws Exception {
        boolean mapped = Files.readString(Path.of("/proc/self/maps")).contains("/hsperfdata_");
        Piece.PERFORMANCE_DATA.orSkip(mapped ? null : "no file is mapped");
        CriuAdapter adapter = adapter();
        IOException refused = assertThrows(IOException.class, () -> adapter.dump(folder.resolve("image")));
        assertTrue(refused.getMessage().contains("-XX:-UsePerfData"), refused.getMessage());
    }

    private CriuAdapter adapter() throws IOException {
        return new CriuAdapter(Criu.at(program(REFUSES)), Standstill.of(StandstillOptions.DEFAULT));
    }

    @Test
    void versionIsAskedFor() throws Exception {
        assertEquals("4.2", Criu.at(program(REFUSES)).version());
        Path silent = program("#!/bin/sh\necho no; exit 1\n");
        assertEquals(
                "criu does not say its version: program=" + silent + " status=1 said=no",
                assertThrows(IOException.class, () -> Criu.at(silent)).getMessage());
        assertThrows(NoSuchFileException.class, () -> Criu.at(folder.resolve("none")));
    }

    @Test
    void imageThatCannotBeRestoredIsNamed() throws Exception {
        String refuses = REFUSES.replace("dump.log", "restore.log");
        IOException failed =
                assertThrows(IOException.class, () -> Criu.at(program(refuses)).restore(folder));
        assertTrue(failed.getMessage().startsWith("criu restore failed: status=3 log="), failed.getMessage());
        assertTrue(failed.getMessage().endsWith("Connected TCP socket"), failed.getMessage());
    }
}
