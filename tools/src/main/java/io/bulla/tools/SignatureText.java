// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import java.lang.classfile.Signature;
import java.lang.classfile.Signature.ArrayTypeSig;
import java.lang.classfile.Signature.BaseTypeSig;
import java.lang.classfile.Signature.ClassTypeSig;
import java.lang.classfile.Signature.TypeArg;
import java.lang.classfile.Signature.TypeParam;
import java.lang.classfile.Signature.TypeVarSig;
import java.lang.constant.ClassDesc;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Types as the source has them, with their packages, but for `java.lang`.
final class SignatureText {

    private SignatureText() {}

    static String name(String internalName) {
        String name = internalName.replace('/', '.').replace('$', '.');
        return name.matches("java\\.lang\\.[A-Z]\\w*") ? name.substring("java.lang.".length()) : name;
    }

    static String of(Signature type) {
        return switch (type) {
            case BaseTypeSig base ->
                ClassDesc.ofDescriptor(String.valueOf(base.baseType())).displayName();
            case TypeVarSig variable -> variable.identifier();
            case ArrayTypeSig array -> of(array.componentSignature()) + "[]";
            case ClassTypeSig named -> named(named);
        };
    }

    private static String named(ClassTypeSig type) {
        String arguments = type.typeArgs().isEmpty()
                ? ""
                : type.typeArgs().stream().map(SignatureText::argument).collect(Collectors.joining(", ", "<", ">"));
        return type.outerType()
                        .map(outer -> named(outer) + "." + type.className())
                        .orElseGet(() -> name(type.className()))
                + arguments;
    }

    private static String argument(TypeArg argument) {
        return switch (argument) {
            case TypeArg.Unbounded any -> "?";
            case TypeArg.Bounded bounded ->
                switch (bounded.wildcardIndicator()) {
                    case NONE -> of(bounded.boundType());
                    case EXTENDS -> "? extends " + of(bounded.boundType());
                    case SUPER -> "? super " + of(bounded.boundType());
                };
        };
    }

    static String parameters(List<TypeParam> parameters) {
        return parameters.isEmpty()
                ? ""
                : parameters.stream().map(SignatureText::parameter).collect(Collectors.joining(", ", "<", ">"));
    }

    private static String parameter(TypeParam parameter) {
        String bounds = Stream.concat(parameter.classBound().stream(), parameter.interfaceBounds().stream())
                .map(SignatureText::of)
                .filter(bound -> !bound.equals("Object"))
                .collect(Collectors.joining(" & "));
        return parameter.identifier() + (bounds.isEmpty() ? "" : " extends " + bounds);
    }
}
