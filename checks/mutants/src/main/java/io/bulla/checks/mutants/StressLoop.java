// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.mutants;

import java.lang.annotation.Annotation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The program of a jcstress test in a loop: much shorter than a run of jcstress, and good enough to see a mutant
/// die.
final class StressLoop {

    private static final int STATES = 4096;
    private static final int STRIDE = 64;
    private static final int SPINS = 20_000;

    private final Class<?> test;
    private final List<Method> actors = new ArrayList<>();
    private Method arbiter;
    private final Class<?> result;
    private final List<Pattern> allowed = new ArrayList<>();
    private Object[] states;
    private Object[] results;
    private volatile Throwable failure;
    // states from here on are left out: the time is over
    private volatile int end;

    StressLoop(Class<?> test) {
        this.test = test;
        for (Method method : test.getMethods()) {
            for (Annotation mark : method.getAnnotations()) {
                String name = mark.annotationType().getSimpleName();
                if (name.equals("Actor")) {
                    actors.add(method);
                } else if (name.equals("Arbiter")) {
                    arbiter = method;
                }
            }
        }
        result = typeOfResult();
        outcomes();
    }

    /// The first outcome that the test forbids, or `null` if none comes in time.
    String run(long nanos) throws Exception {
        long deadline = System.nanoTime() + nanos;
        while (System.nanoTime() - deadline < 0) {
            String bad = round(deadline);
            if (bad != null) {
                return bad;
            }
        }
        return null;
    }

    private String round(long deadline) throws Exception {
        end = STATES;
        states = new Object[STATES];
        results = new Object[STATES];
        for (int i = 0; i < STATES; i++) {
            try {
                states[i] = test.getConstructor().newInstance();
            } catch (InvocationTargetException thrown) {
                return thrown.getCause().toString();
            }
            results[i] = result.getConstructor().newInstance();
        }
        var arrived = new AtomicInteger();
        List<Thread> threads = actors.stream()
                .map(a -> Thread.ofPlatform().daemon().start(() -> act(a, arrived, deadline)))
                .toList();
        for (Thread thread : threads) {
            thread.join();
        }
        return failure == null ? judged() : failure.toString();
    }

    private void act(Method actor, AtomicInteger arrived, long deadline) {
        try {
            for (int i = 0; i < end; i++) {
                if (i % STRIDE == 0) {
                    // the others wait for this one, so none is further; the first states are always run
                    if (i > 0 && System.nanoTime() - deadline > 0) {
                        end = i;
                        return;
                    }
                    meet(arrived, (i / STRIDE + 1) * actors.size(), i);
                    if (i >= end) {
                        return;
                    }
                }
                call(actor, i);
            }
        } catch (Throwable thrown) {
            failure = thrown;
        }
    }

    // spins, so that all are on a processor when they go on; gives way if there is none for the others
    private void meet(AtomicInteger arrived, int all, int at) {
        arrived.incrementAndGet();
        for (int spins = 1; arrived.get() < all && at < end && failure == null; spins++) {
            if (spins % SPINS == 0) {
                Thread.yield();
            }
        }
    }

    private void call(Method method, int i) throws Throwable {
        try {
            if (method.getParameterCount() == 1) {
                method.invoke(states[i], method.getParameterTypes()[0] == result ? results[i] : states[i]);
            } else {
                method.invoke(states[i]);
            }
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    private String judged() {
        for (int i = 0; i < end; i++) {
            if (arbiter != null) {
                try {
                    call(arbiter, i);
                } catch (Throwable thrown) {
                    return thrown.toString();
                }
            }
            String outcome = results[i].toString();
            if (allowed.stream().noneMatch(p -> p.matcher(outcome).matches())) {
                return "outcome " + outcome;
            }
        }
        return null;
    }

    private Class<?> typeOfResult() {
        return Stream.concat(actors.stream(), arbiter == null ? Stream.empty() : Stream.of(arbiter))
                .flatMap(m -> Arrays.stream(m.getParameterTypes()))
                .filter(t -> t.getSimpleName().endsWith("_Result"))
                .findFirst()
                .orElseThrow();
    }

    // by name: the annotations are those of the class loader that the mutant lives in
    private void outcomes() {
        for (Annotation mark : test.getAnnotations()) {
            String name = mark.annotationType().getSimpleName();
            try {
                if (name.equals("Outcome")) {
                    outcome(mark);
                } else if (mark.annotationType().getName().endsWith("Outcome$Outcomes")) {
                    for (Object one :
                            (Object[]) mark.annotationType().getMethod("value").invoke(mark)) {
                        outcome((Annotation) one);
                    }
                }
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }
    }

    private void outcome(Annotation mark) throws ReflectiveOperationException {
        String expect = mark.annotationType().getMethod("expect").invoke(mark).toString();
        for (String id : (String[]) mark.annotationType().getMethod("id").invoke(mark)) {
            if (!id.isEmpty() && !expect.equals("FORBIDDEN")) {
                allowed.add(Pattern.compile(id));
            }
        }
    }
}
