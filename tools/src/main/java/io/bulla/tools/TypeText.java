// SPDX-License-Identifier: Apache-2.0
package io.bulla.tools;

import java.lang.classfile.Attributes;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassSignature;
import java.lang.classfile.Signature;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.constant.ConstantDescs;
import java.lang.reflect.AccessFlag;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/// A type's declaration as a line.
final class TypeText {

    private TypeText() {}

    static String of(ClassModel type, Set<AccessFlag> flags) {
        ClassSignature signature = type.findAttribute(Attributes.signature())
                .map(attribute -> attribute.asClassSignature())
                .orElseGet(() -> plain(type));
        String kind = kindOf(type, flags);
        StringBuilder text = new StringBuilder(modifiers(type, flags, kind))
                .append(kind)
                .append(' ')
                .append(SignatureText.name(type.thisClass().asInternalName()))
                .append(SignatureText.parameters(signature.typeParameters()));
        String above = SignatureText.of(signature.superclassSignature());
        if (kind.equals("class") && !above.equals("Object")) {
            text.append(" extends ").append(above);
        }
        List<String> interfaces = signature.superinterfaceSignatures().stream()
                .map(SignatureText::of)
                .sorted()
                .toList();
        if (!interfaces.isEmpty() && !kind.equals("@interface")) {
            text.append(kind.equals("interface") ? " extends " : " implements ").append(String.join(", ", interfaces));
        }
        return text.toString();
    }

    private static ClassSignature plain(ClassModel type) {
        Signature.ClassTypeSig above = Signature.ClassTypeSig.of(
                type.superclass().map(ClassEntry::asSymbol).orElse(ConstantDescs.CD_Object));
        return ClassSignature.of(
                above,
                type.interfaces().stream()
                        .map(each -> Signature.ClassTypeSig.of(each.asSymbol()))
                        .toArray(Signature.ClassTypeSig[]::new));
    }

    private static String kindOf(ClassModel type, Set<AccessFlag> flags) {
        if (flags.contains(AccessFlag.ANNOTATION)) {
            return "@interface";
        } else if (flags.contains(AccessFlag.INTERFACE)) {
            return "interface";
        } else if (flags.contains(AccessFlag.ENUM)) {
            return "enum";
        }
        return type.findAttribute(Attributes.record()).isPresent() ? "record" : "class";
    }

    private static String modifiers(ClassModel type, Set<AccessFlag> flags, String kind) {
        boolean isClass = kind.equals("class");
        String words = flags.stream()
                .filter(flag -> switch (flag) {
                    case PUBLIC, PROTECTED -> true;
                    case STATIC, ABSTRACT, FINAL -> isClass;
                    default -> false;
                })
                .sorted()
                .map(flag -> flag.name().toLowerCase(Locale.ROOT) + " ")
                .collect(Collectors.joining());
        boolean sealed = type.findAttribute(Attributes.permittedSubclasses()).isPresent() && !kind.equals("enum");
        return MemberText.deprecated(type) + words + (sealed ? "sealed " : "");
    }
}
