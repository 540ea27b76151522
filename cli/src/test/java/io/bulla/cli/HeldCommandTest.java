// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.cli.held.HeldProgram;
import io.bulla.cli.held.IdleProgram;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// `bulla held` against JVMs of their own.
class HeldCommandTest {

    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void endAll() throws InterruptedException {
        for (Process each : started) {
            each.destroyForcibly().waitFor();
        }
    }

    private Process jvm(Class<?> program, String classPath, String... options) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classPath, program.getName()));
        Process jvm = new ProcessBuilder(command).redirectErrorStream(true).start();
        started.add(jvm);
        BufferedReader said = jvm.inputReader();
        String line = said.readLine();
        assertTrue(line != null && line.startsWith("ready"), line);
        return jvm;
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }

    /// The folder of the tests alone: Bulla is not in it.
    private static String withoutBulla() throws Exception {
        return Path.of(IdleProgram.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .toString();
    }

    private static void failed(String message, Ran ran) {
        assertEquals(1, ran.status(), ran::out);
        assertEquals("bulla: " + message, ran.err().strip());
        assertEquals("", ran.out());
    }

    @Test
    void showsWhoHoldsWhatInAnotherJvm() throws IOException {
        Process jvm = jvm(HeldProgram.class, classPath());
        Ran ran = Ran.bulla("held", Long.toString(jvm.pid()));
        assertEquals(0, ran.status(), ran::err);
        assertEquals("", ran.err());
        String out = ran.out();
        assertTrue(out.matches("(?s)held: pid=" + jvm.pid() + " handles=4 bytes=32 oldest=\\d+ms healed=0\n.*"), out);
        assertTrue(out.contains("\nbudgets\n"), out);
        assertTrue(out.matches("(?s).*\n  used=\\d+ limit=67108864 peak=\\d+ total=\\d+\n.*"), out);
        assertTrue(
                out.matches("(?s).*\nsources\n  safety=FAST closed=false openChunks=1 .*limit=67108864 held by .*"),
                out);
        assertTrue(
                out.matches("(?s).*\npools\n  closed=false slabs=1 booked=2097152 .*held by \\[not traced]\n.*"), out);
        assertTrue(out.contains("\npeers\n  rank=0 peer=1 state=CONNECTED queued=0 queuedBytes=0 "), out);
        assertTrue(out.contains("\n  rank=1 peer=0 state=CONNECTED "), out);
        assertTrue(
                out.matches("(?s).*\nhandles by tag\n.*  send to rank 17: handles=1 bytes=8 oldest=\\d+ms\n.*"), out);
        assertTrue(out.contains("\n  two?lines ?[2J: handles=1 bytes=8 "), out);
        assertTrue(
                out.matches("(?s).*\noldest handles\n(?:.*\n)?  send to rank 17: bytes=8 age=\\d+ms\n"
                        + "    at io.bulla.cli.held.HeldProgram.sendTo17\\(HeldProgram.java:\\d+\\)\n.*"),
                out);
        assertEquals(0, Ran.bulla("held", Long.toString(jvm.pid())).status(), "a second look");
    }

    @Test
    void looksAgainAndAgainUntilTheJvmEnds() throws Exception {
        Process jvm = jvm(HeldProgram.class, classPath());
        CountDownLatch seen = new CountDownLatch(3);
        Writer out = new StringWriter() {
            @Override
            public void write(String text) {
                super.write(text);
                if (text.startsWith("held: ")) {
                    seen.countDown();
                }
            }

            @Override
            public void write(String text, int from, int length) {
                write(text.substring(from, from + length));
            }
        };
        StringWriter err = new StringWriter();
        int[] status = {-1};
        Thread watch = Thread.ofPlatform()
                .start(() -> status[0] = Bulla.run(
                        new String[] {"held", "--watch=50ms", Long.toString(jvm.pid())},
                        new PrintWriter(out, true),
                        new PrintWriter(err, true)));
        assertTrue(seen.await(60, TimeUnit.SECONDS), err::toString);
        jvm.destroyForcibly().waitFor();
        watch.join();
        assertEquals("bulla: JVM has ended: pid=" + jvm.pid(), err.toString().strip());
        assertEquals(1, status[0]);
    }

    @Test
    void processThatIsNoneIsNamed() throws Exception {
        Process over = new ProcessBuilder("true").start();
        over.waitFor();
        failed("no such process: pid=" + over.pid(), Ran.bulla("held", Long.toString(over.pid())));
    }

    @Test
    void processThatIsNoJvmIsNamedAndLeftAlone() throws IOException {
        Process sleep = new ProcessBuilder("sleep", "600").start();
        started.add(sleep);
        Ran ran = Ran.bulla("held", Long.toString(sleep.pid()));
        assertEquals(1, ran.status());
        assertTrue(ran.err().startsWith("bulla: not a JVM: pid=" + sleep.pid()), ran.err());
        assertEquals(1, ran.err().lines().count(), ran.err());
        assertTrue(sleep.isAlive());
    }

    @Test
    void jvmWithoutBullaIsNamed() throws Exception {
        Process jvm = jvm(IdleProgram.class, withoutBulla());
        failed(
                "no Bulla on the class path of the JVM: pid=" + jvm.pid() + " class=io.bulla.refcount.held.Held",
                Ran.bulla("held", Long.toString(jvm.pid())));
    }

    @Test
    void jvmThatCannotBeAttachedToIsNamed() throws Exception {
        Process jvm = jvm(IdleProgram.class, withoutBulla(), "-XX:+DisableAttachMechanism");
        Ran ran = Ran.bulla("held", Long.toString(jvm.pid()));
        assertEquals(1, ran.status());
        assertTrue(ran.err().startsWith("bulla: JVM cannot be attached to: pid=" + jvm.pid() + " "), ran.err());
        assertEquals(1, ran.err().lines().count(), ran.err());
    }

    @Test
    void commandItselfAndWhatIsNoNumberAreRefused() {
        long own = ProcessHandle.current().pid();
        failed("that is this command itself: pid=" + own, Ran.bulla("held", Long.toString(own)));
        Ran.refused("PID must be at least 1: given=0", "held", "0");
        Ran.refused("Invalid value for positional parameter at index 0 (PID): 'x' is not a long", "held", "x");
        Ran.refused("Missing required parameter: 'PID'", "held");
    }
}
