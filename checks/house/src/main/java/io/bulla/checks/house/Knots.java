// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.NameAndTypeEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Knots of classes: sets in which each class needs each other one, directly or through others. A class and those
/// nested in it are one. Read from class files: code, signatures, and the classes that a sealed one permits.
final class Knots {

    private static final Pattern NAME = Pattern.compile("L([\\w/$]+)[;<]");

    private final Map<String, Set<String>> needs = new TreeMap<>();
    private final Map<String, Integer> order = new HashMap<>();
    private final Map<String, Integer> lowest = new HashMap<>();
    private final Deque<String> open = new ArrayDeque<>();
    private final Set<String> onPath = new TreeSet<>();
    private final List<Set<String>> found = new ArrayList<>();

    private Knots() {}

    /// @param classFiles of one module
    /// @return sets of two or more names, the largest first
    static List<Set<String>> of(Iterable<byte[]> classFiles) {
        Knots knots = new Knots();
        classFiles.forEach(bytes -> knots.add(ClassFile.of().parse(bytes)));
        knots.needs.values().forEach(needed -> needed.retainAll(knots.needs.keySet()));
        for (String name : knots.needs.keySet()) {
            if (!knots.order.containsKey(name)) {
                knots.visit(name);
            }
        }
        return knots.found.stream()
                .sorted(Comparator.comparingInt((Set<String> knot) -> knot.size())
                        .reversed())
                .toList();
    }

    private void add(ClassModel model) {
        String name = outermost(model.thisClass().asInternalName());
        Set<String> needed = needs.computeIfAbsent(name, none -> new TreeSet<>());
        for (PoolEntry entry : model.constantPool()) {
            if (entry instanceof ClassEntry one) {
                add(
                        needed,
                        one.asInternalName().startsWith("[") ? one.asInternalName() : "L" + one.asInternalName() + ";");
            } else if (entry instanceof NameAndTypeEntry member) {
                add(needed, member.type().stringValue());
            }
        }
        for (FieldModel field : model.fields()) {
            add(needed, field.fieldType().stringValue());
            field.findAttribute(Attributes.signature())
                    .ifPresent(type -> add(needed, type.signature().stringValue()));
        }
        for (MethodModel method : model.methods()) {
            add(needed, method.methodType().stringValue());
            method.findAttribute(Attributes.signature())
                    .ifPresent(type -> add(needed, type.signature().stringValue()));
        }
        model.findAttribute(Attributes.signature())
                .ifPresent(type -> add(needed, type.signature().stringValue()));
        needed.remove(name);
    }

    private static void add(Set<String> needed, String types) {
        Matcher names = NAME.matcher(types);
        while (names.find()) {
            needed.add(outermost(names.group(1)));
        }
    }

    private static String outermost(String internalName) {
        return internalName.replaceFirst("\\$.*", "").replace('/', '.');
    }

    /// Tarjan's algorithm: a class from which no class before it can be reached closes a knot.
    private void visit(String name) {
        order.put(name, order.size());
        lowest.put(name, order.get(name));
        open.push(name);
        onPath.add(name);
        for (String next : needs.get(name)) {
            if (!order.containsKey(next)) {
                visit(next);
                lowest.merge(name, lowest.get(next), Math::min);
            } else if (onPath.contains(next)) {
                lowest.merge(name, order.get(next), Math::min);
            }
        }
        if (lowest.get(name).equals(order.get(name))) {
            Set<String> knot = new TreeSet<>();
            while (!knot.contains(name)) {
                knot.add(open.pop());
            }
            onPath.removeAll(knot);
            if (knot.size() > 1) {
                found.add(knot);
            }
        }
    }

    static String text(List<Set<String>> knots) {
        return knots.stream().map(knot -> knot.size() + " " + knot).collect(Collectors.joining("\n"));
    }
}
