// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.refcount.Lease;
import io.bulla.testkit.FaultRun.Action;
import io.bulla.testkit.internal.Number64;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Calls one operation of a [FaultCatalogue]: its receiver, its arguments, and the clean-up of its result.
///
/// @param receiver `null` for a static method or a constructor
/// @param arguments made anew for each run
/// @param then told the result of a run that passed
public record FaultCall(
        @Nullable Object receiver,
        Function<FaultScene, @Nullable Object[]> arguments,
        Consumer<@Nullable Object> then) {

    /// A call with these arguments, each time it is repeated.
    ///
    /// @param receiver `null` for a static method or a constructor
    /// @param arguments as the operation declares them
    /// @return owed nothing for its result
    public static FaultCall on(@Nullable Object receiver, @Nullable Object... arguments) {
        return new FaultCall(receiver, scene -> arguments, result -> {});
    }

    /// A call whose arguments are made anew each time it is repeated.
    ///
    /// @param receiver `null` for a static method or a constructor
    /// @param arguments as the operation declares them
    /// @return owed nothing for its result
    public static FaultCall with(@Nullable Object receiver, Function<FaultScene, @Nullable Object[]> arguments) {
        return new FaultCall(receiver, arguments, result -> {});
    }

    /// The same call, with something owed for its result.
    ///
    /// @param owed told the result of a run that passed
    /// @return another call
    public FaultCall then(Consumer<@Nullable Object> owed) {
        return new FaultCall(receiver, arguments, owed);
    }

    /// Only through the member itself, so that what runs is what the signature names.
    ///
    /// @param lookedAt gets the operation when it was seen what became of an open handle that it was given
    Action action(Executable operation, FaultScene scene, Set<Executable> lookedAt) {
        Number64 number = new Number64();
        MethodHandle handle = handle(operation, number);
        HandleRule rule = new HandleRule(operation);
        return new Action() {
            // made before the points are armed
            private @Nullable Object @Nullable [] first = arguments.apply(scene);

            @Override
            public @Nullable Object run() throws Exception {
                @Nullable Object[] now = first == null ? arguments.apply(scene) : first;
                first = null;
                boolean given = rule.before(receiver, now);
                @Nullable Object result;
                try {
                    result = invoke(handle, now);
                } catch (Throwable failure) {
                    if (!isFullOrCalledBack(scene, failure)) {
                        rule.afterFailure(receiver, now, failure);
                    }
                    throw failure;
                }
                if (!scene.points().calledBack()) {
                    rule.after(receiver, now);
                    if (given) {
                        lookedAt.add(operation);
                    }
                }
                return result;
            }

            @Override
            public void passed(@Nullable Object result) {
                then.accept(result);
            }
        };
    }

    /// What is called back may close any handle of the scene; and a look needs heap to tell.
    private static boolean isFullOrCalledBack(FaultScene scene, Throwable failure) {
        return scene.points().calledBack() || failure instanceof OutOfMemoryError && !FaultPoints.isInjected(failure);
    }

    private static @Nullable Object invoke(MethodHandle handle, @Nullable Object[] arguments) throws Exception {
        try {
            return (Object) handle.invokeExact(arguments);
        } catch (Exception | Error failure) {
            throw failure;
        } catch (Throwable never) {
            throw new AssertionError(never);
        }
    }

    /// From an array to an object, without an object of its own: there may be no heap for one.
    private MethodHandle handle(Executable operation, Number64 number) {
        try {
            operation.setAccessible(true);
            MethodHandle handle = (operation instanceof Method method
                            ? MethodHandles.lookup().unreflect(method)
                            : MethodHandles.lookup().unreflectConstructor((Constructor<?>) operation))
                    .asFixedArity();
            if (operation instanceof Method && !Modifier.isStatic(operation.getModifiers())) {
                handle = handle.bindTo(receiver);
            }
            handle = number.returning(handle);
            return handle.asSpreader(Object[].class, handle.type().parameterCount())
                    .asType(MethodType.methodType(Object.class, Object[].class));
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /// The rule on who consumes a handle, at one operation: what it is given, and called on, is open after it.
    /// With the word `move` in its name it is closed: the handle that it is called on if it is a handle's own
    /// method, else those that it is given.
    ///
    /// A constructor has no name: what it is given stays open with the object, which may close it later.
    static final class HandleRule {

        private static final Pattern MOVES = Pattern.compile("(^m|M)ove(d|s)?($|[A-Z])");

        private final Executable operation;
        private final boolean moves;
        // how many of each argument, and behind them of the receiver, were open before: no call needs heap for it
        private final int[] open;

        HandleRule(Executable operation) {
            this.operation = operation;
            this.moves = moves(operation);
            this.open = new int[operation.getParameterCount() + 1];
        }

        static boolean moves(Executable operation) {
            return operation instanceof Method
                    && MOVES.matcher(operation.getName()).find();
        }

        /// Whether it takes a handle, alone or among several.
        static boolean isGivenOne(Executable operation) {
            for (Class<?> parameter : operation.getParameterTypes()) {
                if (Lease.class.isAssignableFrom(parameter) || Lease[].class.isAssignableFrom(parameter)) {
                    return true;
                }
            }
            return false;
        }

        /// @return whether one of the arguments is an open handle
        boolean before(@Nullable Object receiver, @Nullable Object[] arguments) {
            boolean any = false;
            for (int i = 0; i < arguments.length; i++) {
                open[i] = open(arguments[i]);
                any |= open[i] > 0;
            }
            open[arguments.length] = operation.getName().equals("close") ? 0 : open(receiver);
            return any;
        }

        /// @throws AssertionError if an argument, or the receiver, is not as the name says
        void after(@Nullable Object receiver, @Nullable Object[] arguments) {
            boolean movesItself = moves && receiver instanceof Lease;
            for (int i = 0; i < arguments.length; i++) {
                look(i, open[i], arguments[i], moves && !movesItself);
            }
            look(-1, open[arguments.length], receiver, movesItself);
        }

        /// What failed may have left a handle that it was to take. A lease's own steps by which it opens are not the
        /// user's: if they fail, it is over.
        void afterFailure(@Nullable Object receiver, @Nullable Object[] arguments, Throwable failure) {
            boolean opens =
                    operation.getDeclaringClass() == Lease.class && Modifier.isProtected(operation.getModifiers());
            if (!moves && !opens) {
                try {
                    after(receiver, arguments);
                } catch (AssertionError broken) {
                    broken.addSuppressed(failure);
                    throw broken;
                }
            }
        }

        private void look(int argument, int before, @Nullable Object handle, boolean moved) {
            int now = open(handle);
            if (before > 0 && (moved ? now > 0 : now < before)) {
                throw new AssertionError("a handle is "
                        + (moved ? "open, but the name says move: " : "closed, but the name does not say move: ")
                        + "operation=" + PublicOperations.simple(operation.getDeclaringClass()) + "."
                        + operation.getName() + (argument < 0 ? " handle=its own" : " argument=" + argument));
            }
        }

        /// How many handles are open: of one, an array or a list.
        private static int open(@Nullable Object argument) {
            if (argument instanceof Lease one) {
                return one.isOpen() ? 1 : 0;
            }
            int open = 0;
            if (argument instanceof Lease[] several) {
                for (Lease one : several) {
                    open += open(one);
                }
            } else if (argument instanceof List<?> several) {
                for (int i = 0; i < several.size(); i++) {
                    open += several.get(i) instanceof Lease one ? open(one) : 0;
                }
            }
            return open;
        }
    }
}
