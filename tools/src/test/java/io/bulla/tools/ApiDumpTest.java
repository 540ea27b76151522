// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApiDumpTest {

    private static final String SOURCE = """
            package shown;

            import java.io.IOException;
            import java.util.List;
            import java.util.Map;

            public abstract class Open<T extends Comparable<T> & Runnable> extends Hidden implements AutoCloseable {
                public static final int LIMIT = 5;
                public static final String NAME = "a";
                protected final Map<String, ? super List<T[]>> map = null;
                int packagePrivate;
                private int secret;
                protected Open(int... sizes) {}
                public <X extends Exception> void run(Class<? extends X> type, Map.Entry<?, T> entry) throws X, IOException {}
                @Deprecated public abstract byte[][] old(Object... all);
                protected void hook() {}
                void inside() {}
                @Override public void close() {}
                protected static final class Nested { protected void unreachable() {} public void reachable() {} }
                static class Unseen { public void x() {} }
                public interface Call { void now(); default int later() { return 1; } static Call of() { return null; } }
                public enum State { ON, OFF }
                public record Pair(int left, T2 right) {}
                public sealed interface T2 permits A {}
                public static non-sealed class A implements T2 {}
            }
            class Hidden { public void inherited() {} void not() {} }
            """;

    @TempDir
    private Path folder;

    private void compile(String source) throws IOException {
        Path file = Files.createDirectories(folder.resolve("src")).resolve("Open.java");
        Files.writeString(file, source);
        Path module = Files.writeString(folder.resolve("src/module-info.java"), "module m { exports shown; }");
        Path hidden = Files.writeString(
                Files.createDirectories(folder.resolve("src/kept")).resolve("Kept.java"),
                "package kept; public class Kept {}");
        String out = folder.resolve("target/classes").toString();
        assertEquals(
                0,
                ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, "-d", out, file.toString(), module.toString(), hidden.toString()));
    }

    @Test
    void lineForEveryTypeAndMemberThatSomebodyElseCanUse() throws IOException {
        compile(SOURCE);
        assertEquals("""
                public abstract class shown.Open<T extends Comparable<T> & Runnable> extends shown.Hidden implements AutoCloseable
                    @Deprecated public abstract byte[][] old(Object...)
                    protected final java.util.Map<String, ? super java.util.List<T[]>> map
                    protected shown.Open(int...)
                    protected void hook()
                    public <X extends Exception> void run(Class<? extends X>, java.util.Map.Entry<?, T>) throws X, java.io.IOException
                    public static final String NAME = "a"
                    public static final int LIMIT = 5
                    public void close()
                    public void inherited()
                public static class shown.Open.A implements shown.Open.T2
                    public shown.Open.A()
                public interface shown.Open.Call
                    public abstract void now()
                    public default int later()
                    public static shown.Open.Call of()
                protected static final class shown.Open.Nested
                    public void reachable()
                public record shown.Open.Pair
                    public final String toString()
                    public final boolean equals(Object)
                    public final int hashCode()
                    public int left()
                    public shown.Open.Pair(int, shown.Open.T2)
                    public shown.Open.T2 right()
                public enum shown.Open.State
                    public static final shown.Open.State OFF
                    public static final shown.Open.State ON
                    public static shown.Open.State valueOf(String)
                    public static shown.Open.State[] values()
                public sealed interface shown.Open.T2
                """, String.join("\n", ModuleApi.of(folder.resolve("target/classes"))) + "\n");
    }

    @Test
    void withoutADescriptorWhatIsNotNamedInternalIsLookedAt() throws IOException {
        Path sources = Files.createDirectories(folder.resolve("src"));
        Path shown = Files.writeString(sources.resolve("Shown.java"), "package a.internals; public interface Shown {}");
        Path kept = Files.writeString(sources.resolve("Kept.java"), "package a.internal; public interface Kept {}");
        Path below =
                Files.writeString(sources.resolve("Below.java"), "package a.internal.b; public interface Below {}");
        String out = folder.resolve("target/classes").toString();
        assertEquals(
                0,
                ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, "-d", out, shown.toString(), kept.toString(), below.toString()));
        assertEquals(List.of("public interface a.internals.Shown"), ModuleApi.of(folder.resolve("target/classes")));
    }

    @Test
    void whatChangedIsShownWithItsType() throws IOException {
        compile(SOURCE);
        List<String> before = ModuleApi.of(folder.resolve("target/classes"));
        Files.write(folder.resolve("api.txt"), before);
        assertTrue(ApiDump.check(folder));
        // another type has a member of the same text as one that goes
        compile(SOURCE.replace("protected void hook()", "protected void hook(int changed)")
                .replace("public void reachable()", "public void close()"));
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream console = System.out;
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            assertFalse(ApiDump.check(folder));
        } finally {
            System.setOut(console);
        }
        List<String> lines = printed.toString(StandardCharsets.UTF_8).lines().toList();
        assertEquals(5, lines.size(), lines::toString);
        assertTrue(lines.get(1).startsWith("-     protected void hook()    // public abstract class shown.Open<"));
        assertEquals(
                "-     public void reachable()    // protected static final class shown.Open.Nested", lines.get(2));
        assertTrue(lines.get(3).startsWith("+     protected void hook(int)    // public abstract class shown.Open<"));
        assertEquals("+     public void close()    // protected static final class shown.Open.Nested", lines.get(4));
    }
}
