// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The program `criu` of this machine, which writes images of processes and makes processes of them. It
/// needs the rights for that, which are root's or `CAP_CHECKPOINT_RESTORE`.
public final class Criu {

    private static final int ERRORS = 3;
    private static final String DUMP_LOG = "dump.log";
    private static final String RESTORE_LOG = "restore.log";
    private static final String PID_FILE = "restored.pid";

    private final Path program;
    private final String version;

    private Criu(Path program, String version) {
        this.program = program;
        this.version = version;
    }

    /// The one of the `PATH`.
    ///
    /// @return nothing if there is none
    /// @throws IOException if it does not say its version
    public static Optional<Criu> onPath() throws IOException {
        for (String folder :
                Optional.ofNullable(System.getenv("PATH")).orElse("").split(File.pathSeparator)) {
            Path program = Path.of(folder.isEmpty() ? "." : folder, "criu");
            if (Files.isExecutable(program) && !Files.isDirectory(program)) {
                return Optional.of(at(program));
            }
        }
        return Optional.empty();
    }

    /// One that is somewhere else.
    ///
    /// @param program its file
    /// @return a program that said its version
    /// @throws IOException if it is not there, or does not say one
    public static Criu at(Path program) throws IOException {
        Path file = program.toAbsolutePath();
        if (!Files.isExecutable(file)) {
            throw new NoSuchFileException(file.toString(), null, "not a program");
        }
        Process asked = new ProcessBuilder(file.toString(), "--version")
                .redirectErrorStream(true)
                .start();
        asked.getOutputStream().close();
        String said = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = waitFor(asked);
        String version = said.lines()
                .filter(line -> line.startsWith("Version:"))
                .map(line -> line.substring("Version:".length()).strip())
                .findFirst()
                .orElse("");
        if (status != 0 || version.isEmpty()) {
            throw new IOException(
                    "criu does not say its version: program=" + file + " status=" + status + " said=" + said.strip());
        }
        return new Criu(file, version);
    }

    /// Where it is.
    ///
    /// @return an absolute path
    public Path program() {
        return program;
    }

    /// What `--version` says, such as `4.2`.
    ///
    /// @return not empty
    public String version() {
        return version;
    }

    /// Makes a process of an image, as it was and with the number that it had; waits until it runs. It is no
    /// child of this one.
    ///
    /// @param folder of the image
    /// @return the process's number
    /// @throws IOException if that fails, with the first errors of CRIU's log: the number is in use, a file
    ///     of the process has changed, the rights are missing
    public long restore(Path folder) throws IOException {
        Path pidFile = folder.resolve(PID_FILE);
        Files.deleteIfExists(pidFile);
        Process restoring = new ProcessBuilder(
                        program.toString(),
                        "restore",
                        "--images-dir",
                        folder.toString(),
                        "--shell-job",
                        "--file-locks",
                        "--restore-detached",
                        "--pidfile",
                        pidFile.toAbsolutePath().toString(),
                        "--log-file",
                        RESTORE_LOG)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("restore.out").toFile())
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .start();
        int status = waitFor(restoring);
        if (status != 0) {
            throw failed("restore", status, folder, RESTORE_LOG, "restore.out");
        }
        return Long.parseLong(Files.readString(pidFile).strip());
    }

    /// What writes the image of a process, and ends the process with it.
    List<String> dumping(String pid, Path folder) {
        return List.of(
                program.toString(),
                "dump",
                "--tree",
                pid,
                "--images-dir",
                folder.toString(),
                "--shell-job",
                "--file-locks",
                "--log-file",
                DUMP_LOG);
    }

    /// @param output file of what it said before it had a log
    static IOException dumpFailed(int status, Path folder, String output) {
        return failed("dump", status, folder, DUMP_LOG, output);
    }

    private static IOException failed(String what, int status, Path folder, String log, String output) {
        return new IOException("criu " + what + " failed: status=" + status + " log=" + folder.resolve(log) + " reason="
                + firstErrors(folder, log).or(() -> lastLine(folder, output)).orElse("not said"));
    }

    /// Behind them come those that follow from them. A limit that stays as it was ends nothing.
    private static Optional<String> firstErrors(Path folder, String log) {
        return lines(folder, log)
                .filter(line -> line.contains("Error ") && !line.contains("FAILED.") && !line.contains("rlimit:"))
                .limit(ERRORS)
                .reduce((before, line) -> before + "; " + line);
    }

    private static Optional<String> lastLine(Path folder, String output) {
        return lines(folder, output).filter(line -> !line.isBlank()).reduce((before, line) -> line);
    }

    private static Stream<String> lines(Path folder, String name) {
        try {
            // names of files are bytes of any kind
            return Files.readString(folder.resolve(name), StandardCharsets.ISO_8859_1)
                    .lines();
        } catch (IOException noLog) {
            return Stream.empty();
        }
    }

    private static int waitFor(Process process) throws IOException {
        try {
            return process.waitFor();
        } catch (InterruptedException stop) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while criu ran", stop);
        }
    }
}
