// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit;

import io.bulla.refcount.internal.Failures;
import io.bulla.testkit.internal.Ballast;
import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;

/// Closes several things for the first time in its JVM, while the heap is full. Nothing here names the types that
/// [Failures] tells apart, so that they are as unknown as in any program.
final class FirstClose {

    private static int closed;

    private FirstClose() {}

    public static void main(String... unused) {
        Failures.load();
        Iterable<AutoCloseable> list = new ArrayList<>(List.of(FirstClose::close, FirstClose::closeBadly));
        Iterable<AutoCloseable> links = new LinkedList<>(List.of(FirstClose::closeBadly, FirstClose::close));
        IllegalStateException before = new IllegalStateException("before");
        Ballast.rehearse();
        Ballast ballast = new Ballast(0);
        ballast.fill();
        try {
            Failures.closeAll(links, Failures.closeAll(list, before));
        } catch (OutOfMemoryError full) {
            // seen in what was not closed
        }
        ballast.drop();
        System.out.println("closed=" + closed);
    }

    private static void close() {
        closed++;
    }

    private static void closeBadly() {
        closed++;
        throw new OutOfMemoryError();
    }
}
