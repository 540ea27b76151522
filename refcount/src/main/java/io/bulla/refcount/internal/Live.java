// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.internal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// What there is in this process and can tell about itself: budgets, sources, ledgers, nodes. Each is put in once,
/// when it is made, and kept by nothing here: what is not reachable elsewhere is not in it any more.
///
/// Nothing looks at it unless it is asked for, as by a console.
public final class Live {

    private static final Map<Object, Teller> ALL = new WeakHashMap<>();
    private static long numbers;

    private Live() {}

    /// @param tell one line for each thing to be said of it; must not keep the thing
    private record Teller(long number, String kind, Function<Object, List<String>> tell) {}

    /// A thing that is alive.
    ///
    /// @param <T> its type
    /// @param number in the order in which they were made
    /// @param thing itself
    /// @param lines what it says of itself when it is asked
    public record Entry<T>(long number, T thing, Function<T, List<String>> lines) {}

    /// Puts a thing in, at the end of its making.
    ///
    /// @param <T> its type
    /// @param kind as `budget`
    /// @param type of the thing, compared by identity
    /// @param thing not kept
    /// @param tell lines of `name=value`; must not refer to the thing itself
    public static <T> void put(String kind, Class<T> type, T thing, Function<T, List<String>> tell) {
        Function<Object, List<String>> any = one -> tell.apply(type.cast(one));
        synchronized (ALL) {
            ALL.put(thing, new Teller(numbers++, kind, any));
        }
    }

    /// All things of a kind, in the order in which they were made.
    ///
    /// @param kind as `budget`
    /// @return a list of its own
    public static List<Entry<Object>> of(String kind) {
        List<Entry<Object>> found = new ArrayList<>();
        synchronized (ALL) {
            for (Map.Entry<Object, Teller> each : ALL.entrySet()) {
                // cleared between two looks
                @Nullable Object thing = each.getKey();
                if (thing != null && each.getValue().kind.equals(kind)) {
                    found.add(new Entry<>(each.getValue().number, thing, each.getValue().tell));
                }
            }
        }
        found.sort(Comparator.comparingLong(Entry::number));
        return found;
    }
}
