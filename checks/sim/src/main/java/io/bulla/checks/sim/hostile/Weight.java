// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.sim.hostile;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/// How many objects of the protocol's own hang on a node, elements of its collections counted: what grows with each
/// frame of a peer is seen here, whichever class keeps it.
final class Weight {

    private static final String PROTOCOL = "io.bulla.runtime.oob.";
    private static final Map<Class<?>, List<Field>> FIELDS = new HashMap<>();

    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Object> open = new ArrayDeque<>();
    private long elements;

    private Weight() {}

    static long of(Object root) {
        Weight weight = new Weight();
        weight.add(root);
        while (!weight.open.isEmpty()) {
            weight.look(weight.open.removeLast());
        }
        return weight.seen.size() + weight.elements;
    }

    private void add(Object found) {
        if (found != null && isLookedAt(found) && seen.add(found)) {
            open.add(found);
        }
    }

    private static boolean isLookedAt(Object found) {
        String name = found.getClass().getName();
        return name.startsWith(PROTOCOL) && !name.startsWith(PROTOCOL + "fixture.")
                || found instanceof Collection
                || found instanceof Map
                || found instanceof Object[]
                || found instanceof Optional
                || found instanceof AtomicReference;
    }

    private void look(Object object) {
        switch (object) {
            case Collection<?> all -> {
                elements += all.size();
                all.forEach(this::add);
            }
            case Map<?, ?> map -> {
                elements += map.size();
                map.forEach((key, value) -> {
                    add(key);
                    add(value);
                });
            }
            case Object[] array -> {
                for (Object each : array) {
                    add(each);
                }
            }
            case Optional<?> optional -> optional.ifPresent(this::add);
            case AtomicReference<?> reference -> add(reference.get());
            default -> fields(object.getClass()).forEach(field -> add(value(field, object)));
        }
    }

    private static Object value(Field field, Object of) {
        try {
            return field.get(of);
        } catch (IllegalAccessException cannot) {
            throw new IllegalStateException(cannot);
        }
    }

    private static synchronized List<Field> fields(Class<?> of) {
        List<Field> known = FIELDS.get(of);
        if (known == null) {
            known = new ArrayList<>();
            for (Class<?> each = of; each != null && each.getName().startsWith(PROTOCOL); each = each.getSuperclass()) {
                for (Field field : each.getDeclaredFields()) {
                    if (!Modifier.isStatic(field.getModifiers())
                            && !field.getType().isPrimitive()) {
                        field.setAccessible(true);
                        known.add(field);
                    }
                }
            }
            FIELDS.put(of, known);
        }
        return known;
    }
}
