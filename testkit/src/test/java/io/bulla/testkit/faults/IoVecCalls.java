// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.iovec.Generation;
import io.bulla.iovec.IoVec;
import io.bulla.iovec.IoVecCursor;
import io.bulla.iovec.NativeIoVec;
import io.bulla.iovec.NativeIoVecCursor;
import io.bulla.iovec.RecordView;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;
import java.lang.foreign.Arena;

/// How the operations of `iovec` are called.
final class IoVecCalls {

    private static final int ENTRIES = 16;

    private IoVecCalls() {}

    static FaultCatalogue in(FaultCatalogue all) {
        all.receiver(IoVec.class, scene -> scene.buffer(300).iovec())
                .receiver(IoVec.class, scene -> scene.lastHandle().iovec())
                .receiver(IoVec.class, scene -> scene.buffer(300).iovec().stamped(new Generation()))
                .receiver(
                        IoVecCursor.class,
                        scene -> IoVecCursor.of(scene.lastHandle().iovec()))
                .receiver(NativeIoVec.class, scene -> image(scene))
                .receiver(NativeIoVecCursor.class, scene -> NativeIoVecCursor.of(image(scene), Arena.ofAuto(), ENTRIES))
                .receiver(RecordView.class, scene -> scene.buffer(300).iovec().record(0, 64))
                .receiver(
                        RecordView.class,
                        scene -> scene.buffer(300)
                                .iovec()
                                .stamped(new Generation())
                                .record(8, 64))
                .receiver(Generation.class, scene -> new Generation())
                .arguments("Generation.End.valueOf(String)", "FREE");
        all.on("IoVec.asSegment()", scene -> FaultCall.on(scene.buffer(300).iovec()));
        all.on(
                "IoVec.stamp(int)",
                scene -> FaultCall.on(scene.buffer(300).iovec().stamped(new Generation()), 0));
        all.arguments("IoVec.region(int)", 0);
        all.arguments("IoVec.regionStart(int)", 0);
        all.arguments("IoVec.checkRange(String, long, long, long)", "read", 4L, 4L, 8L);
        return all;
    }

    private static NativeIoVec image(FaultScene scene) {
        return NativeIoVec.of(scene.lastHandle().iovec(), Arena.ofAuto());
    }
}
