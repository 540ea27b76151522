// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import java.lang.classfile.AttributedElement;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodSignature;
import java.lang.classfile.Signature;
import java.lang.constant.ConstantDesc;
import java.lang.reflect.AccessFlag;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/// A type's members as lines.
final class MemberText {

    private static final Set<AccessFlag> SHOWN =
            Set.of(AccessFlag.PUBLIC, AccessFlag.PROTECTED, AccessFlag.STATIC, AccessFlag.ABSTRACT, AccessFlag.FINAL);

    private MemberText() {}

    /// @param open whether protected members can be used
    static void of(ClassModel type, boolean open, List<String> lines) {
        for (FieldModel field : type.fields()) {
            if (isVisible(field.flags().flags(), open)) {
                lines.add(field(field));
            }
        }
        for (MethodModel method : type.methods()) {
            if (isVisible(method.flags().flags(), open) && !method.methodName().equalsString("<clinit>")) {
                lines.add(method(type, method));
            }
        }
    }

    static String deprecated(AttributedElement element) {
        return element.findAttribute(Attributes.deprecated()).isPresent() ? "@Deprecated " : "";
    }

    private static boolean isVisible(Set<AccessFlag> flags, boolean open) {
        return !flags.contains(AccessFlag.SYNTHETIC)
                && (flags.contains(AccessFlag.PUBLIC) || open && flags.contains(AccessFlag.PROTECTED));
    }

    private static String field(FieldModel field) {
        Signature type = field.findAttribute(Attributes.signature())
                .map(attribute -> attribute.asTypeSignature())
                .orElseGet(() -> Signature.of(field.fieldTypeSymbol()));
        String value = field.findAttribute(Attributes.constantValue())
                .map(attribute -> " = " + literal(attribute.constant().constantValue()))
                .orElse("");
        return deprecated(field) + words(field.flags().flags()) + SignatureText.of(type) + " "
                + field.fieldName().stringValue() + value;
    }

    private static String literal(ConstantDesc value) {
        return value instanceof String text ? "\"" + text.translateEscapes() + "\"" : value.toString();
    }

    private static String method(ClassModel type, MethodModel method) {
        MethodSignature signature = method.findAttribute(Attributes.signature())
                .map(attribute -> attribute.asMethodSignature())
                .orElseGet(() -> MethodSignature.of(method.methodTypeSymbol()));
        Set<AccessFlag> flags = method.flags().flags();
        boolean isDefault = type.flags().has(AccessFlag.INTERFACE)
                && !flags.contains(AccessFlag.STATIC)
                && !flags.contains(AccessFlag.ABSTRACT);
        String types = SignatureText.parameters(signature.typeParameters());
        boolean constructor = method.methodName().equalsString("<init>");
        String name = constructor
                ? SignatureText.name(type.thisClass().asInternalName())
                : SignatureText.of(signature.result()) + " "
                        + method.methodName().stringValue();
        return deprecated(method)
                + words(flags)
                + (isDefault ? "default " : "")
                + types
                + (types.isEmpty() ? "" : " ")
                + name
                + arguments(signature, flags.contains(AccessFlag.VARARGS))
                + thrown(method, signature);
    }

    private static String arguments(MethodSignature signature, boolean varargs) {
        String all = signature.arguments().stream().map(SignatureText::of).collect(Collectors.joining(", ", "(", ")"));
        return varargs ? all.substring(0, all.length() - "[])".length()) + "...)" : all;
    }

    private static String thrown(MethodModel method, MethodSignature signature) {
        List<String> types = signature.throwableSignatures().isEmpty()
                ? method.findAttribute(Attributes.exceptions()).stream()
                        .flatMap(all -> all.exceptions().stream())
                        .map(each -> SignatureText.name(each.asInternalName()))
                        .toList()
                : signature.throwableSignatures().stream()
                        .map(SignatureText::of)
                        .toList();
        return types.isEmpty() ? "" : " throws " + types.stream().sorted().collect(Collectors.joining(", "));
    }

    private static String words(Set<AccessFlag> flags) {
        return flags.stream()
                .filter(SHOWN::contains)
                .sorted()
                .map(flag -> flag.name().toLowerCase(Locale.ROOT) + " ")
                .collect(Collectors.joining());
    }
}
