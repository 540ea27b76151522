// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.testkit.FaultRun.Action;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
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
}
