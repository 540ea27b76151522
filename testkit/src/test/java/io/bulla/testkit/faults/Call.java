// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.testkit.FaultRun.Action;
import io.bulla.testkit.FaultScene;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.function.Consumer;
import java.util.function.Function;

/// How one operation is called: on what, with what, and what is owed for its result.
///
/// @param receiver `null` for a static method or a constructor
/// @param arguments made anew for each run
/// @param then told the result of a run that passed
record Call(Object receiver, Function<FaultScene, Object[]> arguments, Consumer<Object> then) {

    static Call on(Object receiver, Object... arguments) {
        return new Call(receiver, scene -> arguments, result -> {});
    }

    static Call with(Object receiver, Function<FaultScene, Object[]> arguments) {
        return new Call(receiver, arguments, result -> {});
    }

    Call then(Consumer<Object> owed) {
        return new Call(receiver, arguments, owed);
    }

    /// Only through the member itself, so that what runs is what the signature names.
    Action action(Executable operation, FaultScene scene) {
        Number64 number = new Number64();
        MethodHandle handle = handle(operation, number);
        Object[][] first = {arguments.apply(scene)};
        return new Action() {
            @Override
            public Object run() throws Exception {
                Object[] now = first[0] == null ? arguments.apply(scene) : first[0];
                first[0] = null;
                return invoke(handle, now);
            }

            @Override
            public void passed(Object result) {
                then.accept(result);
            }
        };
    }

    private static Object invoke(MethodHandle handle, Object[] arguments) throws Exception {
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
