// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/// A statement of a user's program, compiled against the libraries.
final class Snippet {

    private Snippet() {}

    /// What the compiler says of `statement`, which has a `SealedBuffer buffer`; first lines only.
    static List<String> errors(String statement) throws IOException {
        JavaFileObject program =
                new SimpleJavaFileObject(URI.create("string:///User.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return "class User { void use(io.bulla.buffer.SealedBuffer buffer) throws Exception { "
                                + statement + " } }";
                    }
                };
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        Path out = Files.createTempDirectory("bulla-snippet");
        try {
            compiler.getTask(
                            null,
                            null,
                            found,
                            List.of("-proc:none", "-cp", ForkedJvm.classPath(), "-d", out.toString()),
                            null,
                            List.of(program))
                    .call();
        } finally {
            Files.deleteIfExists(out.resolve("User.class"));
            Files.delete(out);
        }
        return found.getDiagnostics().stream()
                .map(each -> each.getMessage(Locale.ROOT).lines().findFirst().orElse(""))
                .toList();
    }
}
