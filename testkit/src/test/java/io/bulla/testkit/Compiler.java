// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import com.sun.source.util.JavacTask;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Unpacker;
import io.bulla.refcount.Lease;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/// Asks javac what a user of the libraries would be told.
public final class Compiler {

    private Compiler() {}

    /// The errors of a piece of code that stands in a method of somebody else's package.
    public static List<String> errors(String code) {
        String source = "package user; class User { void use() throws Exception { " + code + " } }";
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        JavacTask task = (JavacTask) ToolProvider.getSystemJavaCompiler()
                .getTask(null, null, found, List.of("-proc:none", "-cp", libraries()), null, List.of(new Text(source)));
        try {
            task.analyze();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found.getDiagnostics().stream()
                .filter(one -> one.getKind() == Diagnostic.Kind.ERROR)
                .map(one -> one.getMessage(Locale.ROOT))
                .toList();
    }

    private static String libraries() {
        return Stream.of(Lease.class, IoVec.class, SealedBuffer.class, Unpacker.class)
                .map(Compiler::home)
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static String home(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    private static final class Text extends SimpleJavaFileObject {

        private final String code;

        Text(String code) {
            super(URI.create("string:///user/User.java"), Kind.SOURCE);
            this.code = code;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return code;
        }
    }
}
