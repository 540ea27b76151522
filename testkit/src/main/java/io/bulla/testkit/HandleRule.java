// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.refcount.Lease;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The rule on who consumes a handle, at one operation: what it is given, and called on, is open after it, but with
/// the word `move` in its name it is closed.
///
/// A constructor has no name: what it is given stays open with the object, which may close it later.
final class HandleRule {

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
        return operation instanceof Method && MOVES.matcher(operation.getName()).find();
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

    /// What failed may have left a handle that it was to take.
    void afterFailure(@Nullable Object receiver, @Nullable Object[] arguments, Throwable failure) {
        if (!moves) {
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
