// SPDX-License-Identifier: Apache-2.0
package io.bulla.fabric;

import io.bulla.pool.device.RegistrationRefusedException;
import io.bulla.testkit.FaultPoints;
import io.bulla.testkit.FaultRun.Action;
import io.bulla.testkit.FaultRun.Operation;
import io.bulla.testkit.FaultScene;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.ToLongBiFunction;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Makes each call of libfabric in an operation a fault point: one that fails answers with an error number, and the
/// operation's failure has to name it. Counts what libfabric has open, of which nothing may be left.
final class FailingFabric implements ToLongBiFunction<String, LongSupplier> {

    static final int EIO = 5;
    static final int EAGAIN = 11;
    static final int ENOMEM = 12;
    static final int EBUSY = 16;

    /// What each call can answer with in place of its work. A name that is not here cannot fail.
    private static final Map<String, Integer> ERRORS = Map.ofEntries(
            Map.entry("fi_dupinfo", ENOMEM),
            Map.entry("strdup", ENOMEM),
            Map.entry("fi_getinfo", ENOMEM),
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
            Map.entry("fi_sendmsg", 107),
            Map.entry("fi_recv", EIO),
            Map.entry("fi_cq_read", EIO),
            Map.entry("fi_close", EBUSY));

    // they have no error number: null says that there was no memory
    private static final Set<String> ALLOCATE = Set.of("fi_dupinfo", "strdup");
    // never for want of memory
    private static final Set<String> CLOSE = Set.of("fi_close");
    private static final Set<String> TAKEN_LATER = Set.of("fi_writemsg", "fi_sendmsg", "fi_recv");
    private static final Set<String> OPEN =
            Set.of("fi_fabric", "fi_domain", "fi_av_open", "fi_cq_open", "fi_endpoint", "fi_mr_reg");
    // what waits is tried as often as it takes; those behind fail as the first ones do
    private static final Set<String> TRIED_AGAIN = Set.of("fi_cq_read", "fi_writemsg", "fi_sendmsg");
    private static final int TRIES = 3;
    private static final Pattern OVER =
            Pattern.compile("is closed|has failed|^rendezvous: error=0|error=125\\b|mark of another device");

    private final FaultPoints points;
    private final Thread operation = Thread.currentThread();
    private final boolean fails;
    // whether data that cannot be taken now is an error of its own
    private final boolean later;
    private long objects;
    private long infos;
    private final Map<String, Integer> tries = new HashMap<>();
    private boolean bound;
    private @Nullable Throwable injected;
    private String call = "";
    private int error;

    private FailingFabric(FaultScene scene, boolean fails, boolean later) {
        this.points = scene.points();
        this.fails = fails;
        this.later = later;
        scene.owed("objects of libfabric", () -> objects);
        scene.owed("descriptions of libfabric", () -> infos);
    }

    /// The same operation, whose calls of libfabric fail.
    static Operation failing(Operation way) {
        return scene -> told(way, scene, new FailingFabric(scene, true, false));
    }

    /// The same operation, whose data libfabric does not take at first.
    static Operation later(Operation way) {
        return scene -> told(way, scene, new FailingFabric(scene, true, true));
    }

    /// The same operation, none of whose calls of libfabric fails.
    static Operation passing(Operation way) {
        return scene -> told(way, scene, new FailingFabric(scene, false, false));
    }

    private static Action told(Operation way, FaultScene scene, FailingFabric calls) throws Exception {
        Libfabric.Seam.watch(calls);
        Action action = way.prepare(scene);
        calls.tries.clear();
        return new Action() {
            @Override
            public @Nullable Object run() throws Exception {
                try {
                    return action.run();
                } catch (Exception failure) {
                    throw (Exception) calls.named(failure);
                } catch (Error failure) {
                    throw (Error) calls.named(failure);
                } finally {
                    // of a wait that was cut short
                    Thread.interrupted();
                }
            }

            @Override
            public void passed(@Nullable Object result) {
                action.passed(result);
            }
        };
    }

    /// A step out of a foreign call, whose refusals are told in the way of the other modules.
    static Runnable back(Step step) {
        return () -> {
            try {
                step.run();
            } catch (IOException failure) {
                throw over(failure) instanceof IllegalStateException over ? over : new IllegalStateException(failure);
            } catch (TimeoutException late) {
                throw new IllegalStateException(late);
            }
        };
    }

    interface Step {
        void run() throws IOException, TimeoutException;
    }

    @Override
    public long applyAsLong(String name, LongSupplier made) {
        Integer with = ERRORS.get(name);
        boolean isLeftOut = isFirstBind(name);
        boolean counts = fails
                && !isLeftOut
                && Thread.currentThread() == operation
                && with != null
                && (!later || TAKEN_LATER.contains(name))
                && (!TRIED_AGAIN.contains(name) || tries.merge(name, 1, Integer::sum) <= TRIES);
        if (counts) {
            try {
                points.reach(name);
            } catch (RuntimeException failure) {
                return answer(name, failure, later ? EAGAIN : with);
            } catch (Error noMemory) {
                return answer(name, noMemory, later ? EAGAIN : CLOSE.contains(name) ? with : ENOMEM);
            }
        }
        long result = made.getAsLong();
        count(name, result);
        return result;
    }

    /// That of the addresses: rxm of libfabric 1.17 crashes at the close of an endpoint that has none.
    private boolean isFirstBind(String name) {
        boolean first = name.equals("fi_ep_bind") && !bound;
        bound = name.equals("fi_ep_bind") || bound && !name.equals("fi_endpoint");
        return first;
    }

    private long answer(String name, Throwable failure, int with) {
        injected = failure;
        call = name;
        error = with;
        if (CLOSE.contains(name)) {
            // ends a wait for the fence, which does not come
            operation.interrupt();
        }
        return ALLOCATE.contains(name) ? 0 : -with;
    }

    private void count(String name, long result) {
        switch (name) {
            case "fi_dupinfo" -> infos += result == 0 ? 0 : 1;
            case "fi_getinfo" -> infos += result == 0 ? 1 : 0;
            case "fi_freeinfo" -> infos--;
            case "fi_close" -> objects -= result == 0 ? 1 : 0;
            default -> objects += OPEN.contains(name) && result >= 0 ? 1 : 0;
        }
    }

    /// Of a failure that names the call's, what was injected is a part.
    private Throwable named(Throwable failure) {
        Throwable first = injected;
        injected = null;
        if (first == null) {
            // an operation tells how it ended each time that it is asked
            return FaultPoints.isInjected(failure) ? failure : names(failure) ? asOver(failure) : over(failure);
        }
        if (names(failure) || isRefusal(failure)) {
            failure.addSuppressed(first);
        }
        return failure;
    }

    private boolean names(Throwable failure) {
        if (ALLOCATE.contains(call)) {
            return failure instanceof OutOfMemoryError
                    && String.valueOf(failure.getMessage()).startsWith(call + ":");
        }
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (error != 0 && String.valueOf(each.getMessage()).matches("(?s).*\\berror=" + error + "\\b.*")) {
                return true;
            }
        }
        return false;
    }

    /// The other end's device refused: this end hears that there is no room, and not why.
    private boolean isRefusal(Throwable failure) {
        return call.equals("fi_mr_reg")
                && (failure instanceof RegistrationRefusedException
                        || String.valueOf(failure.getMessage()).contains("peer has no room"));
    }

    /// This module says that something is over by its own exceptions, too.
    private static Throwable over(Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        boolean isOver = failure instanceof IOException || failure instanceof RegistrationRefusedException;
        return isOver && OVER.matcher(message).find() ? asOver(failure) : failure;
    }

    private static Throwable asOver(Throwable failure) {
        return new IllegalStateException("over already: " + failure.getMessage(), failure);
    }
}
