// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.agrona.BuilderDirectBuffer;
import io.bulla.interop.agrona.DirectReads;
import io.bulla.interop.agrona.SealedDirectBuffer;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;

/// How the operations of `interop/agrona` are called.
final class AgronaCalls {

    /// Zeros, then a text with its length before it, then digits.
    private static final byte[] TEXT = {0, 0, 0, 0, 4, 0, 0, 0, '1', '2', '3', '4', 0, 0, 0, 0};

    private AgronaCalls() {}

    static FaultCatalogue in(FaultCatalogue all) {
        return written(sealed(all));
    }

    private static FaultCatalogue sealed(FaultCatalogue all) {
        all.receiver(SealedDirectBuffer.class, AgronaCalls::direct).receiver(DirectReads.class, AgronaCalls::direct);
        all.on(
                "SealedDirectBuffer.of(IoVec)",
                scene -> FaultCall.on(null, scene.buffer(300).iovec()));
        all.on("SealedDirectBuffer.addressOffset()", scene -> {
            scene.mayVary();
            return FaultCall.on(direct(scene));
        });
        for (String parsed : new String[] {"parseInt", "parseLong", "parseNaturalInt", "parseNaturalLong"}) {
            all.arguments("DirectReads." + parsed + "Ascii(int, int)", 8, 4);
        }
        return all;
    }

    private static SealedDirectBuffer direct(FaultScene scene) {
        return SealedDirectBuffer.of(text(scene).iovec());
    }

    /// Sixteen bytes of text and 300 others, in one region.
    private static SealedBuffer text(FaultScene scene) {
        BufferBuilder builder = scene.own(BufferBuilder.ofCapacity(scene.source(), TEXT.length + 300));
        return scene.own(builder.put(TEXT).put(FaultScene.bytes(300, 1)).seal());
    }

    private static FaultCatalogue written(FaultCatalogue all) {
        all.receiver(BuilderDirectBuffer.class, AgronaCalls::written);
        // behind a gap, and over the end of a region
        all.on(
                "BuilderDirectBuffer.putBytes(int, byte[])",
                scene -> FaultCall.on(BuilderDirectBuffer.of(scene.builder(16)), 4, FaultScene.bytes(9000, 1)));
        all.signatures().stream()
                .filter(signature -> signature.matches("BuilderDirectBuffer\\.(put|set|checkLimit).*"))
                .forEach(signature -> {
                    all.on(signature, scene -> FaultCall.with(written(scene), same -> all.fixtures(signature, scene)));
                    all.on(
                            signature,
                            scene -> FaultCall.with(
                                    BuilderDirectBuffer.of(scene.builder(16)), same -> all.fixtures(signature, scene)));
                    all.on(
                            signature,
                            scene -> FaultCall.with(
                                    BuilderDirectBuffer.of(scene.builderOfManyRegions()),
                                    same -> all.fixtures(signature, scene)));
                });
        return all;
    }

    /// Text and 300 bytes behind a full region.
    private static BuilderDirectBuffer written(FaultScene scene) {
        BufferBuilder builder = BufferBuilder.ofCapacity(scene.source(), 16);
        builder.put(FaultScene.bytes(16, 5));
        BuilderDirectBuffer direct = BuilderDirectBuffer.of(builder);
        builder.put(TEXT).put(FaultScene.bytes(300, 5));
        byte[] all = new byte[16 + TEXT.length + 300];
        System.arraycopy(FaultScene.bytes(16, 5), 0, all, 0, 16);
        System.arraycopy(TEXT, 0, all, 16, TEXT.length);
        System.arraycopy(FaultScene.bytes(300, 5), 0, all, 16 + TEXT.length, 300);
        scene.watch(builder, all);
        return direct;
    }
}
