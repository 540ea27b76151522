// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// The stack that took a lease, without the frames that are the same for every lease.
final class TakenAt {

    private TakenAt() {}

    /// The frames from the caller on: behind those of the listener and the lease, and behind those of the package of
    /// the lease, if a caller is left then.
    static List<StackTraceElement> callers(StackTraceElement[] stack, Class<?> lease) {
        Set<String> machinery = new HashSet<>(Set.of(LeaseLedger.class.getName(), CompositeTrace.class.getName()));
        for (Class<?> type = lease; type != null; type = type.getSuperclass()) {
            machinery.add(type.getName());
        }
        int from = 0;
        while (from < stack.length && machinery.contains(stack[from].getClassName())) {
            from++;
        }
        int outside = from;
        while (outside < stack.length && packageOf(stack[outside]).equals(lease.getPackageName())) {
            outside++;
        }
        boolean isCalled = outside < stack.length && !isOfTheJdk(stack[outside]);
        return List.of(stack).subList(Math.min(isCalled ? outside : from, stack.length), stack.length);
    }

    private static String packageOf(StackTraceElement frame) {
        String name = frame.getClassName();
        return name.substring(0, Math.max(0, name.lastIndexOf('.')));
    }

    private static boolean isOfTheJdk(StackTraceElement frame) {
        return frame.getClassName().startsWith("java.") || frame.getClassName().startsWith("jdk.");
    }
}
