// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.SealedBuffer;
import io.bulla.testkit.FaultScene.Watched;
import io.bulla.testkit.FaultScene.Written;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// A call from a foreign call back into its caller, in place of a failure.
///
/// @param name for the report
/// @param steps called with the runner of each step
record CallBack(String name, Consumer<Runner> steps) {

    private static final int MANY = 5000;

    /// Runs one step of a call back, and looks at how it fails.
    @FunctionalInterface
    interface Runner {
        /// @param call for the report
        void of(String call, Runnable step);
    }

    void run(Runner runner) {
        steps.accept(runner);
    }

    /// Those of every scene and of this one: its builders are the ones that ask, or others of the same source.
    static List<CallBack> of(FaultScene scene) {
        List<CallBack> all = new ArrayList<>(List.of(
                new CallBack("WRITE", runner -> write(scene, runner)),
                new CallBack("SEAL", runner -> seal(scene, runner)),
                new CallBack("CLOSE", runner -> close(scene, runner)),
                new CallBack("CLOSE_SOURCE", runner -> closeSource(scene, runner))));
        for (FaultScene.NamedStep own : scene.ownCallBacks) {
            all.add(new CallBack(own.name(), runner -> runner.of(own.name(), own.step())));
        }
        return all;
    }

    private static void write(FaultScene scene, Runner runner) {
        for (Written one : scene.written) {
            runner.of("put", () -> one.builder().putInt(0x77777777));
            runner.of("put", () -> one.builder().put(FaultScene.bytes(MANY, 13)));
            runner.of("truncate", () -> one.builder().truncate(0));
        }
    }

    /// What is sealed is watched from now on.
    private static void seal(FaultScene scene, Runner runner) {
        for (Watched one : List.copyOf(scene.watched)) {
            runner.of("share", () -> one.handle().share().close());
        }
        for (Written one : scene.written) {
            runner.of("seal", () -> {
                SealedBuffer sealed = one.builder().seal();
                scene.watched.add(new Watched(sealed, null, NinePromises.bytesOf(sealed.iovec())));
            });
        }
    }

    private static void close(FaultScene scene, Runner runner) {
        for (Written one : scene.written) {
            runner.of("builder.close", () -> one.builder().close());
        }
        for (Watched one : scene.watched) {
            runner.of("handle.close", () -> one.handle().close());
        }
    }

    private static void closeSource(FaultScene scene, Runner runner) {
        ArenaSource arena = scene.arena;
        if (arena != null) {
            scene.sourceClosed = true;
            runner.of("source.close", arena::close);
        }
    }
}
