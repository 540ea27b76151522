// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix;

import io.bulla.pool.SlabSource;
import io.bulla.pool.SlabSupplier;
import io.bulla.posix.file.FileFigures;
import io.bulla.posix.file.FixedBufferTable;
import io.bulla.posix.lending.SlabLender;
import io.bulla.posix.lending.SlabLenderFigures;
import io.bulla.posix.lending.SlabQuota;
import io.bulla.posix.memfd.HugePages;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.posix.socket.PosixSocket;
import io.bulla.testkit.FaultCall;
import io.bulla.testkit.FaultCatalogue;
import io.bulla.testkit.FaultScene;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/// How the operations of `native/posix` are called; those of its packages in a class of their own each.
final class PosixCalls {

    static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Map<Class<?>, Function<FaultScene, Object>> VALUES = new HashMap<>();
    private static final AtomicInteger NAMES = new AtomicInteger();

    static {
        VALUES.put(boolean.class, scene -> false);
        VALUES.put(int.class, scene -> 4);
        VALUES.put(long.class, scene -> 4L);
        VALUES.put(String.class, scene -> "text");
        VALUES.put(Object.class, scene -> "tag");
        VALUES.put(Duration.class, scene -> PATIENCE);
        VALUES.put(FileFigures.class, scene -> new FileFigures(1, 2, 3, 4));
        VALUES.put(SlabLenderFigures.class, scene -> new SlabLenderFigures(1, 2, 3, 4, 5, 6, 7, 8, 9));
        VALUES.put(SlabQuota.class, scene -> SlabQuota.standard());
    }

    private PosixCalls() {}

    /// @param folder for sockets and files
    static FaultCatalogue all(Path folder) {
        FaultCatalogue all = new FaultCatalogue(
                        "posix-operations",
                        Errno.class,
                        PosixSocket.class,
                        MemfdSource.class,
                        FixedBufferTable.class,
                        SlabLender.class)
                .values(VALUES::get)
                .records(VALUES::get);
        all.receiver(PosixException.class, scene -> new PosixException("open", 2, "path=none"));
        all.arguments("Errno.valueOf(String)", "EIO");
        all.arguments("SendPath.valueOf(String)", "SENDMSG");
        all.arguments("MappingProtection.valueOf(String)", "SHARED");
        all.on(
                "HugePages.take(long)",
                scene -> FaultCall.on(new HugePages(), SlabSource.SLAB)
                        .then(memory -> scene.own((AutoCloseable) ((SlabSupplier.Memory) memory)::end)));
        SocketCalls.in(all, folder);
        MemoryFileCalls.in(all);
        FileCalls.in(all, folder);
        return LendingCalls.in(all, folder);
    }

    /// A rule for the methods of a class, of whose text nothing is compared: it names descriptors.
    static <T> void receiver(FaultCatalogue all, Class<T> type, Function<FaultScene, ? extends T> made) {
        all.receiver(type, made);
        String text = type.getSimpleName() + ".toString()";
        if (all.signatures().contains(text)) {
            all.on(text, scene -> {
                scene.mayVary();
                return FaultCall.on(made.apply(scene));
            });
        }
    }

    /// A name of no file.
    static Path fresh(Path folder) {
        return folder.resolve("f" + NAMES.incrementAndGet());
    }

    static <T> T made(Callable<T> one) {
        try {
            return one.call();
        } catch (Exception failure) {
            throw new IllegalStateException("cannot be made ready", failure);
        }
    }

    /// Waits for what a thread gives back; what it does not is found by the scene.
    static void await(BooleanSupplier given) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!given.getAsBoolean() && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(200));
        }
    }
}
