// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Every method and constructor that a user of a module can call, read from its class files: public ones, and
/// protected ones of classes that a user can extend.
final class PublicOperations {

    private PublicOperations() {}

    /// @param anchor any class of the module's package
    /// @return by signature, as `SealedBuffer.share(Object)`
    static Map<String, Executable> of(Class<?> anchor) {
        Map<String, Executable> operations = new LinkedHashMap<>();
        for (Class<?> type : exported(anchor)) {
            for (Executable one : callable(type)) {
                operations.put(signature(type, one), one);
            }
        }
        return operations;
    }

    /// @return the class by which a user knows an operation, then its name, then its parameters
    private static String signature(Class<?> type, Executable operation) {
        String name = operation instanceof Constructor ? "new" : operation.getName();
        return simple(type) + "." + name
                + Arrays.stream(operation.getParameterTypes())
                        .map(PublicOperations::simple)
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    static String simple(Class<?> type) {
        Class<?> outer = type.getEnclosingClass();
        return outer == null ? type.getSimpleName() : simple(outer) + "." + type.getSimpleName();
    }

    private static List<Executable> callable(Class<?> type) {
        List<Executable> found = new ArrayList<>();
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            if (!Modifier.isAbstract(type.getModifiers()) && isOpen(type, constructor)) {
                found.add(constructor);
            }
        }
        for (@Nullable Class<?> declaring = type; declaring != null; declaring = declaring.getSuperclass()) {
            // what a public supertype declares is listed there
            if (declaring == type || !Modifier.isPublic(declaring.getModifiers())) {
                addMethods(type, declaring, found);
            }
            for (Class<?> hidden : declaring.getInterfaces()) {
                if (!Modifier.isPublic(hidden.getModifiers())) {
                    addMethods(type, hidden, found);
                }
            }
        }
        return found;
    }

    private static void addMethods(Class<?> type, Class<?> declaring, List<Executable> found) {
        for (Method method : declaring.getDeclaredMethods()) {
            if (!method.isSynthetic() && !method.isBridge() && isOpen(type, method)) {
                found.add(method);
            }
        }
    }

    private static boolean isOpen(Class<?> type, Executable one) {
        int modifiers = one.getModifiers();
        return Modifier.isPublic(modifiers)
                || Modifier.isProtected(modifiers) && !Modifier.isFinal(type.getModifiers());
    }

    private static List<Class<?>> exported(Class<?> anchor) {
        try {
            Path place = Path.of(
                    anchor.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isDirectory(place)) {
                return classes(place, anchor);
            }
            try (FileSystem jar = FileSystems.newFileSystem(place)) {
                return classes(jar.getPath("/"), anchor);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<Class<?>> classes(Path root, Class<?> anchor) throws IOException {
        try (Stream<Path> files =
                Files.list(root.resolve(anchor.getPackageName().replace('.', '/')))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class"))
                    .sorted()
                    .<Class<?>>map(name -> load(anchor, name.replace(".class", "")))
                    .filter(PublicOperations::isPublic)
                    .toList();
        }
    }

    private static Class<?> load(Class<?> anchor, String name) {
        try {
            return Class.forName(anchor.getPackageName() + "." + name, false, anchor.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isPublic(Class<?> type) {
        return Modifier.isPublic(type.getModifiers())
                && !type.isAnonymousClass()
                && (type.getEnclosingClass() == null || isPublic(type.getEnclosingClass()));
    }
}
