// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

import io.bulla.iovec.IoVec;
import io.bulla.refcount.RefCount;
import java.io.File;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// How to start a `main` of these tests in a JVM of its own, on the class path.
final class ForkedJvm {

    private ForkedJvm() {}

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    static String classPath() {
        return Stream.of(RefCount.class, IoVec.class, SealedBuffer.class, ForkedJvm.class)
                .map(ForkedJvm::rootOf)
                .distinct()
                .collect(Collectors.joining(File.pathSeparator));
    }

    static List<String> command(Class<?> main, String... options) {
        return Stream.concat(
                        Stream.concat(Stream.of(java()), Stream.of(options)),
                        Stream.of("-cp", classPath(), main.getName()))
                .toList();
    }

    private static String rootOf(Class<?> type) {
        String entry = type.getName().replace('.', '/') + ".class";
        String url = type.getResource(type.getSimpleName() + ".class").toString();
        String root = url.substring(0, url.length() - entry.length());
        if (root.startsWith("jar:")) {
            root = root.substring("jar:".length(), root.length() - "!/".length());
        }
        return Path.of(URI.create(root)).toString();
    }
}
