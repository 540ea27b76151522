// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.attribute.InnerClassInfo;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The public and protected types of a module's exported packages, read from its class files.
final class ModuleApi {

    private static final String INTERNAL = ".*[.]internal([.].*)?";

    private final Map<String, ClassModel> classes = new TreeMap<>();

    private ModuleApi() {}

    /// @param folder of class files; of a module's descriptor, if there is one, only exported packages are
    ///     looked at, and without one all that are not named `internal`
    /// @return a line for each type, and behind it one, indented, for each of its members
    /// @throws IOException if the folder cannot be read, or has no such type: it was not compiled
    static List<String> of(Path folder) throws IOException {
        ModuleApi api = new ModuleApi();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
                ClassModel model = ClassFile.of().parse(file);
                api.classes.put(model.thisClass().asInternalName(), model);
            }
        }
        Optional<Set<String>> exported = exported(folder.resolve("module-info.class"));
        List<String> lines = new ArrayList<>();
        api.classes.forEach((name, type) -> {
            String room = name.substring(0, Math.max(0, name.lastIndexOf('/'))).replace('/', '.');
            if (exported.map(them -> them.contains(room)).orElse(!room.matches(INTERNAL)) && api.isVisible(type)) {
                api.print(type, lines);
            }
        });
        if (lines.isEmpty()) {
            throw new NoSuchFileException(folder.toString(), null, "no public type was compiled to it");
        }
        return lines;
    }

    private static Optional<Set<String>> exported(Path descriptor) throws IOException {
        if (!Files.exists(descriptor)) {
            return Optional.empty();
        }
        try (InputStream in = Files.newInputStream(descriptor)) {
            return Optional.of(ModuleDescriptor.read(in).exports().stream()
                    .filter(export -> !export.isQualified())
                    .map(ModuleDescriptor.Exports::source)
                    .collect(Collectors.toSet()));
        }
    }

    private void print(ClassModel type, List<String> lines) {
        lines.add(TypeText.of(type, flagsOf(type)));
        List<String> members = new ArrayList<>();
        collect(type, isOpen(type), members);
        members.stream().sorted().distinct().forEach(member -> lines.add("    " + member));
    }

    /// Members of supertypes that no other code can name are the type's own.
    private void collect(ClassModel type, boolean open, List<String> members) {
        MemberText.of(type, open, members);
        Stream.concat(type.superclass().stream(), type.interfaces().stream())
                .map(above -> classes.get(above.asInternalName()))
                .filter(above -> above != null && !isVisible(above))
                .forEach(above -> collect(above, open, members));
    }

    private boolean isVisible(ClassModel type) {
        Set<AccessFlag> flags = flagsOf(type);
        if (flags.contains(AccessFlag.SYNTHETIC)
                || !(flags.contains(AccessFlag.PUBLIC) || flags.contains(AccessFlag.PROTECTED))) {
            return false;
        }
        Optional<InnerClassInfo> nested = nestedInfo(type);
        if (nested.isEmpty()) {
            return !type.thisClass().asInternalName().endsWith("-info");
        }
        return nested.get()
                .outerClass()
                .map(outer -> classes.get(outer.asInternalName()))
                .filter(this::isVisible)
                .isPresent();
    }

    /// Whether other code may extend it, and so use what is protected.
    private static boolean isOpen(ClassModel type) {
        return !flagsOf(type).contains(AccessFlag.FINAL)
                && type.findAttribute(Attributes.permittedSubclasses()).isEmpty();
    }

    /// As the source has them: a nested type's are beside its name, not in its header.
    private static Set<AccessFlag> flagsOf(ClassModel type) {
        return nestedInfo(type).map(InnerClassInfo::flags).orElseGet(type.flags()::flags);
    }

    private static Optional<InnerClassInfo> nestedInfo(ClassModel type) {
        return type.findAttribute(Attributes.innerClasses()).stream()
                .flatMap(all -> all.classes().stream())
                .filter(info -> info.innerClass()
                        .asInternalName()
                        .equals(type.thisClass().asInternalName()))
                .findFirst();
    }
}
