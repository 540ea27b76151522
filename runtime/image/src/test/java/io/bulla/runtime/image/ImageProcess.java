// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A process of [ImageJob], whichever it is: the first one, or one that came from an image.
final class ImageProcess {

    private static final long SECONDS = 120;

    private final Path folder;
    private final String ranks;
    private ProcessHandle handle;
    private int images;

    private ImageProcess(Path folder, String ranks, ProcessHandle handle) {
        this.folder = folder;
        this.ranks = ranks;
        this.handle = handle;
    }

    /// @param options the arguments after the ranks
    static ImageProcess start(Path folder, String ranks, String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                classPath(),
                ImageJob.class.getName(),
                folder.toString(),
                ranks));
        command.addAll(List.of(options));
        Process process = new ProcessBuilder(command)
                .redirectInput(new File("/dev/null"))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        folder.resolve("out-" + ranks).toFile()))
                .start();
        ImageProcess started = new ImageProcess(folder, ranks, process.toHandle());
        started.await("runs");
        return started;
    }

    /// The test's own classes, and whatever it runs on, be it modules or not.
    private static String classPath() {
        try {
            Path tests = Path.of(ImageJob.class.getResource("ImageJob.class").toURI());
            for (int up = 0; up < 5; up++) {
                tests = tests.getParent();
            }
            return String.join(
                    File.pathSeparator,
                    tests.toString(),
                    System.getProperty("jdk.module.path", ""),
                    System.getProperty("java.class.path", ""));
        } catch (URISyntaxException noPath) {
            throw new AssertionError(noPath);
        }
    }

    /// The line that it says, or said, with that beginning: the last one.
    String await(String beginning) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (true) {
            List<String> said = said();
            for (String line : said.reversed()) {
                if (line.startsWith(beginning)) {
                    return line;
                }
            }
            if (System.nanoTime() > end) {
                throw new AssertionError("never said: " + beginning + " ranks=" + ranks + " said=" + said + " alive="
                        + handle.isAlive() + " out=" + Files.readString(folder.resolve("out-" + ranks)));
            }
            Thread.sleep(5);
        }
    }

    List<String> said() throws IOException {
        Path file = folder.resolve("said-" + ranks);
        return Files.exists(file) ? Files.readAllLines(file) : List.of();
    }

    /// The image that it takes when it is asked the next time.
    private Path image() {
        return folder.resolve("image-" + ranks + "-" + images);
    }

    /// Until its image is written, and the process is gone with it: its parent has seen that, and its number is free.
    void awaitDumped() throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!Files.exists(image().resolve("status")) || handle.isAlive()) {
            if (System.nanoTime() > end || said().stream().anyMatch(line -> line.startsWith("failed"))) {
                throw new AssertionError("no image: ranks=" + ranks + " said=" + said());
            }
            Thread.sleep(5);
        }
    }

    /// @return how many messages were on their way when the image was taken
    int restore(Criu criu) throws IOException, InterruptedException {
        handle = ProcessHandle.of(criu.restore(image())).orElseThrow();
        return Integer.parseInt(await("on their way: ").substring("on their way: ".length()));
    }

    /// Until it runs again.
    void awaitRestored() throws IOException, InterruptedException {
        await("restored " + images);
        Path old = image();
        images++;
        try (var files = Files.list(old)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(old);
    }

    void end() throws InterruptedException {
        handle.destroyForcibly();
        for (int wait = 0; handle.isAlive() && wait < 2_000; wait++) {
            Thread.sleep(5);
        }
    }
}
