// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.lang.classfile.constantpool.MethodHandleEntry;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.reflect.AccessFlag;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/// What the class files of a module do with a memory mode: calls on `VarHandle` and on the types of
/// `java.util.concurrent.atomic`, fences, and reads and writes of volatile fields.
final class AccessSites {

    private static final String VAR_HANDLE = "java/lang/invoke/VarHandle";
    private static final String ATOMIC = "java/util/concurrent/atomic/";
    /// Where a receiver comes from no field: a local variable, an argument.
    static final String LOCAL = "local";

    // "target operation" -> sites, as Class.method
    private final Map<String, Set<String>> found = new TreeMap<>();
    private final Set<String> volatiles = new HashSet<>();

    private AccessSites() {}

    /// Those in a folder or jar of class files.
    static Map<String, Set<String>> in(Path home) {
        var sites = new AccessSites();
        try {
            if (Files.isDirectory(home)) {
                sites.readAll(home);
            } else {
                try (FileSystem jar = FileSystems.newFileSystem(home)) {
                    sites.readAll(jar.getPath("/"));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return sites.found;
    }

    private void readAll(Path home) throws IOException {
        Path packages = home.resolve("io").resolve("bulla");
        var models = new TreeMap<String, ClassModel>();
        try (Stream<Path> files = Files.walk(packages)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
                models.put(file.toString(), ClassFile.of().parse(Files.readAllBytes(file)));
            }
        }
        models.values().forEach(this::noteVolatiles);
        models.values().forEach(this::read);
    }

    private void noteVolatiles(ClassModel model) {
        model.fields().stream()
                .filter(f -> f.flags().has(AccessFlag.VOLATILE))
                .forEach(f -> volatiles.add(
                        model.thisClass().asInternalName() + "." + f.fieldName().stringValue()));
    }

    private void read(ClassModel model) {
        String type = name(model.thisClass().asInternalName());
        for (MethodModel method : model.methods()) {
            String site = type + "." + name(method);
            method.code().ifPresent(code -> read(code, site));
        }
    }

    private void read(CodeModel code, String site) {
        // fields on the operand stack whose next call is not met yet, the last one first
        Deque<String> receivers = new ArrayDeque<>();
        code.forEach(element -> {
            switch (element) {
                case FieldInstruction field -> onField(field, site, receivers);
                case InvokeInstruction call -> onCall(call, site, receivers);
                case InvokeDynamicInstruction made -> onReference(made, site, receivers);
                default -> {}
            }
        });
    }

    private void onField(FieldInstruction field, String site, Deque<String> receivers) {
        String name = field.owner().asInternalName() + "." + field.name().stringValue();
        boolean read = field.opcode() == Opcode.GETFIELD || field.opcode() == Opcode.GETSTATIC;
        if (volatiles.contains(name)) {
            add(name(name), read ? "volatile read" : "volatile write", site);
        }
        if (read && isWatched(internalName(field.typeSymbol()))) {
            receivers.push(name(name));
        }
    }

    private void onCall(InvokeInstruction call, String site, Deque<String> receivers) {
        String owner = call.owner().asInternalName();
        String method = call.name().stringValue();
        if (owner.equals("java/lang/ref/Reference") && method.equals("reachabilityFence")
                || owner.equals(VAR_HANDLE) && method.endsWith("Fence")) {
            add("-", method, site);
        } else if (isWatched(owner) && !method.equals("<init>") && call.opcode() != Opcode.INVOKESTATIC) {
            // a handle's coordinates and kind are no access
            if (!method.startsWith("with") && !method.equals("toString")) {
                add(receivers.isEmpty() ? LOCAL : receivers.pop(), method, site);
            }
        }
    }

    private void onReference(InvokeDynamicInstruction made, String site, Deque<String> receivers) {
        made.invokedynamic().bootstrap().arguments().stream()
                .filter(MethodHandleEntry.class::isInstance)
                .map(a -> ((MethodHandleEntry) a).reference())
                .filter(r -> isWatched(r.owner().asInternalName()))
                .filter(r -> !r.name().stringValue().equals("<init>"))
                .map(MemberRefEntry::name)
                .forEach(n -> add(receivers.isEmpty() ? LOCAL : receivers.pop(), n.stringValue(), site));
    }

    private void add(String target, String operation, String site) {
        found.computeIfAbsent(target + " " + operation, k -> new TreeSet<>()).add(site);
    }

    private static boolean isWatched(String type) {
        return type.equals(VAR_HANDLE) || type.startsWith(ATOMIC);
    }

    private static String internalName(ClassDesc type) {
        return type.isClassOrInterface()
                ? type.descriptorString().substring(1, type.descriptorString().length() - 1)
                : "";
    }

    // without packages, and an unnamed class by the name of the one around it
    private static String name(String internal) {
        return internal.substring(internal.lastIndexOf('/') + 1)
                .replaceAll("\\$\\d+", "")
                .replace('$', '.');
    }

    // a lambda by the name of its method
    private static String name(MethodModel method) {
        String name = method.methodName().stringValue();
        String outer = name.startsWith("lambda$") ? name.substring(7, name.lastIndexOf('$')) : name;
        return switch (outer) {
            case "<init>" -> "new";
            case "<clinit>" -> "static";
            default -> outer;
        };
    }
}
