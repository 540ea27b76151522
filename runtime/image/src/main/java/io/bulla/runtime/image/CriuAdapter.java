// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/// Writes an image of this process with CRIU.
///
/// ```
/// this process                              a helper, no child of it               later, anywhere
/// begin the standstill
/// start the helper, let it be adopted ----> waits for a file
/// write the file ------------------------>  criu dump: freezes this process,
/// wait for the status                       writes the image, ends this process
///                                           writes the status, ends
///                                                                                  criu restore
/// finds the status 0: it is the restored one <------------------------------------ goes on here
/// end the standstill
/// ```
///
/// A process cannot dump itself, and CRIU takes all its children with it. So a shell starts the helper, and
/// ends, and the helper is a child of the system's first process. It is not dumped, and writes the status
/// when this process has ended or CRIU has failed: who reads a status of 0 comes from the image.
public final class CriuAdapter {

    private static final Path PROC = Path.of("/proc/self");
    private static final String RING = "anon_inode:[io_uring]";
    private static final String GO = "go";
    private static final String STATUS = "status";
    private static final String HELPER = "helper";
    private static final String OUTPUT = "dump.out";
    // the folder, the process, and the command
    private static final String SCRIPT = """
            umask 077
            folder=$1 process=$2
            shift 2
            (
                while [ ! -e "$folder/go" ]; do
                    kill -0 "$process" || exit
                    sleep 0.02
                done
                "$@"
                echo $? >"$folder/status.part"
                mv "$folder/status.part" "$folder/status"
            ) &
            echo $! >"$folder/helper"
            """;

    private final Criu criu;
    private final Standstill standstill;

    /// Starts nothing.
    ///
    /// @param criu that writes the images
    /// @param standstill of all nodes of this process
    public CriuAdapter(Criu criu, Standstill standstill) {
        this.criu = Objects.requireNonNull(criu, "criu");
        this.standstill = Objects.requireNonNull(standstill, "standstill");
    }

    /// Takes an image of this process, which ends with it. The call returns in the process that is restored
    /// from the image, when its nodes have gone on. Other threads of the program run until CRIU stops them,
    /// and go on where they were.
    ///
    /// @param folder of the image, and of nothing else: it is made if it is missing, and empty otherwise; it
    ///     stays where it is until the process is restored
    /// @throws IOException if there is no image: the process goes on, its nodes too, as of [Standstill#end].
    ///     The reason is CRIU's own, or one of these: the folder is not empty; the JVM has a file of
    ///     performance data, which other JVMs delete; the process has an io_uring, as nodes on such a
    ///     transport do; it is the first one of a container. In the restored process:
    ///     [StandstillException], if a node could not go on
    public void dump(Path folder) throws IOException {
        Path images = prepared(folder);
        checkProcess();
        standstill.begin();
        try {
            checkRings();
            write(images);
        } catch (Throwable failure) {
            try {
                standstill.end();
            } catch (StandstillException too) {
                failure.addSuppressed(too);
            }
            throw failure;
        }
        standstill.end();
    }

    private static Path prepared(Path folder) throws IOException {
        // pages of memory hold keys
        Path images = Files.createDirectories(
                        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")))
                .toRealPath();
        try (Stream<Path> all = Files.list(images)) {
            if (all.findAny().isPresent()) {
                throw new FileAlreadyExistsException(images.toString(), null, "folder of an image is not empty");
            }
        }
        return images;
    }

    private static void checkProcess() throws IOException {
        if (ProcessHandle.current().pid() == 1) {
            throw new IOException(
                    "first process of a container adopts what is to dump it: dump it from outside the container");
        }
        try (Stream<String> maps = Files.lines(PROC.resolve("maps"))) {
            if (maps.anyMatch(line -> line.contains("/hsperfdata_"))) {
                throw new IOException(
                        "JVM has performance data in a file that other JVMs delete: start it with -XX:-UsePerfData");
            }
        }
    }

    private static void checkRings() throws IOException {
        List<String> rings = rings();
        if (!rings.isEmpty()) {
            throw new IOException("criu cannot dump an io_uring: descriptors=" + rings
                    + "; nodes need another transport, such as Transport.NIO");
        }
    }

    private static List<String> rings() throws IOException {
        List<String> rings = new ArrayList<>();
        try (Stream<Path> all = Files.list(PROC.resolve("fd"))) {
            for (Path each : all.toList()) {
                if (isRing(each)) {
                    rings.add(each.getFileName().toString());
                }
            }
        }
        return rings;
    }

    private static boolean isRing(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().equals(RING);
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }

    private void write(Path images) throws IOException {
        long helper = helper(images);
        boolean asked = false;
        try {
            Files.createFile(images.resolve(GO));
            asked = true;
        } finally {
            if (!asked) {
                ProcessHandle.of(helper).ifPresent(ProcessHandle::destroy);
            }
        }
        int status = status(images, helper);
        if (status != 0) {
            throw Criu.dumpFailed(status, images, OUTPUT);
        }
    }

    /// Starts it, and waits until the shell between has ended.
    private long helper(Path images) throws IOException {
        String self = Long.toString(ProcessHandle.current().pid());
        List<String> command = new ArrayList<>(List.of("sh", "-c", SCRIPT, "criu-dump", images.toString(), self));
        command.addAll(criu.dumping(self, images));
        Process shell = new ProcessBuilder(command)
                .redirectInput(new File("/dev/null"))
                .redirectErrorStream(true)
                .redirectOutput(images.resolve(OUTPUT).toFile())
                .start();
        await(() -> !shell.isAlive());
        if (shell.exitValue() != 0) {
            throw new IOException(
                    "shell cannot start what dumps: status=" + shell.exitValue() + " output=" + images.resolve(OUTPUT));
        }
        return number(images.resolve(HELPER));
    }

    /// What became of CRIU. In the restored process the file is there.
    private static int status(Path images, long helper) throws IOException {
        Path status = images.resolve(STATUS);
        await(() -> Files.exists(status) || !isAlive(helper));
        if (!Files.exists(status)) {
            throw new IOException(
                    "what dumps has ended without a status: process=" + helper + " log=" + images.resolve(OUTPUT));
        }
        return (int) number(status);
    }

    private static boolean isAlive(long process) {
        return ProcessHandle.of(process).filter(ProcessHandle::isAlive).isPresent();
    }

    private static long number(Path file) throws IOException {
        return Long.parseLong(Files.readString(file).strip());
    }

    /// Through interrupts, which the caller finds again: the image is under way, whatever this thread does.
    private static void await(BooleanSupplier event) {
        boolean interrupted = false;
        while (!event.getAsBoolean()) {
            try {
                Thread.sleep(5);
            } catch (InterruptedException later) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
