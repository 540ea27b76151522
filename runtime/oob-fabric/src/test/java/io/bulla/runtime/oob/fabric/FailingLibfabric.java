// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.fabric;

import io.bulla.fabric.FabricDomain;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultScene;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.ToLongBiFunction;
import org.jspecify.annotations.Nullable;

/// Stands between the fabric and libfabric, on each thread of a scene: a call that fails answers with an error
/// number, which the failure of the operation has to name. Counts what libfabric has open.
final class FailingLibfabric implements ToLongBiFunction<String, LongSupplier> {

    /// What becomes of the calls.
    enum Mode {
        FAIL,
        /// Data is not taken at first.
        TAKE_LATER,
        PASS
    }

    private record Fault(String call, int error, Throwable injected) {}

    private static final int EAGAIN = 11;
    private static final int ENOMEM = 12;
    private static final Map<String, Integer> ERRORS = Map.ofEntries(
            Map.entry("fi_dupinfo", ENOMEM),
            Map.entry("strdup", ENOMEM),
            Map.entry("fi_getinfo", 61),
            Map.entry("fi_fabric", 19),
            Map.entry("fi_domain", 24),
            Map.entry("fi_av_open", 22),
            Map.entry("fi_cq_open", 24),
            Map.entry("fi_endpoint", 22),
            Map.entry("fi_ep_bind", 22),
            Map.entry("fi_enable", 98),
            Map.entry("fi_getname", 257),
            Map.entry("fi_av_insert", 22),
            Map.entry("fi_mr_reg", 126),
            Map.entry("fi_writemsg", 107),
            Map.entry("fi_cq_read", 5),
            Map.entry("fi_close", 16));
    private static final Set<String> POINTERS = Set.of("fi_dupinfo", "strdup");
    private static final Set<String> OPENING =
            Set.of("fi_fabric", "fi_domain", "fi_av_open", "fi_cq_open", "fi_endpoint", "fi_mr_reg");
    // asked as often as it takes: what a later call meets is what the first ones do
    private static final Set<String> ASKED_AGAIN = Set.of("fi_cq_read", "fi_writemsg");
    private static final int MOST_ASKED = 3;

    private final FaultPoints points;
    private final Mode mode;
    private final AtomicLong objects = new AtomicLong();
    private final AtomicLong descriptions = new AtomicLong();
    private final Map<String, Integer> asked = new ConcurrentHashMap<>();
    // endpoints are opened by one thread at a time
    private boolean hasAddresses;
    // volatile: of any thread
    private volatile @Nullable Fault fault;

    FailingLibfabric(FaultScene scene, Mode mode) {
        this.points = scene.points();
        this.mode = mode;
        scene.owed("objects of libfabric", objects::get);
        scene.owed("descriptions of libfabric", descriptions::get);
    }

    /// @param next asked in place of libfabric from now on; `null` for none
    static void watch(@Nullable ToLongBiFunction<String, LongSupplier> next) {
        try {
            Class<?> seam = Class.forName("io.bulla.fabric.Libfabric$Seam", true, FabricDomain.class.getClassLoader());
            Method watch = seam.getDeclaredMethod("watch", ToLongBiFunction.class);
            watch.setAccessible(true);
            watch.invoke(null, new Object[] {next});
        } catch (ReflectiveOperationException closed) {
            throw new IllegalStateException("seam of libfabric cannot be used", closed);
        }
    }

    /// Calls count from the first one again.
    void begin() {
        asked.clear();
    }

    @Override
    public long applyAsLong(String name, LongSupplier made) {
        if (isPoint(name)) {
            try {
                points.reach(name);
            } catch (RuntimeException failure) {
                return refused(name, ERRORS.get(name), failure);
            } catch (Error noMemory) {
                return refused(name, name.equals("fi_close") ? ERRORS.get(name) : ENOMEM, noMemory);
            }
        }
        long result = made.getAsLong();
        count(name, result);
        return result;
    }

    private boolean isPoint(String name) {
        // the addresses: rxm of libfabric 1.17 crashes at the close of an endpoint that has none
        boolean isAddresses = name.equals("fi_ep_bind") && !hasAddresses;
        hasAddresses = name.equals("fi_ep_bind") || hasAddresses && !name.equals("fi_endpoint");
        boolean counts = mode == Mode.FAIL ? ERRORS.containsKey(name) : mode != Mode.PASS && name.equals("fi_writemsg");
        return counts
                && !isAddresses
                && (!ASKED_AGAIN.contains(name) || asked.merge(name, 1, Integer::sum) <= MOST_ASKED);
    }

    private long refused(String name, int error, Throwable injected) {
        int answer = mode == Mode.TAKE_LATER ? EAGAIN : error;
        fault = new Fault(name, answer, injected);
        return POINTERS.contains(name) ? 0 : -answer;
    }

    private void count(String name, long result) {
        switch (name) {
            case "fi_dupinfo" -> descriptions.addAndGet(result == 0 ? 0 : 1);
            case "fi_getinfo" -> descriptions.addAndGet(result == 0 ? 1 : 0);
            case "fi_freeinfo" -> descriptions.decrementAndGet();
            case "fi_close" -> objects.addAndGet(result == 0 ? -1 : 0);
            default -> objects.addAndGet(OPENING.contains(name) && result >= 0 ? 1 : 0);
        }
    }

    /// A failure that names what libfabric answered has its cause.
    ///
    /// @return the failure itself
    <T extends Throwable> T named(T failure) {
        Fault made = fault;
        fault = null;
        if (made != null && names(made, failure)) {
            failure.addSuppressed(made.injected);
        }
        return failure;
    }

    private static boolean names(Fault made, Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            String message = String.valueOf(each.getMessage());
            boolean says = POINTERS.contains(made.call)
                    ? each instanceof OutOfMemoryError && message.startsWith(made.call + ":")
                    // a close that is refused leaves the memory the device's
                    : message.matches("(?s).*\\berror=" + made.error + "\\b.*")
                            || made.call.equals("fi_close") && message.startsWith("device has not let go");
            if (says) {
                return true;
            }
        }
        return false;
    }
}
