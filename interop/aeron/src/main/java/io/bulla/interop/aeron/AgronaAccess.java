// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

import org.agrona.DirectBuffer;

/// Whether Agrona, and with it Aeron, may use the JDK's own memory access, which is closed to everybody by
/// default.
///
/// Without it `Aeron.connect` fails with an error about a class that cannot be accessed. A program that calls
/// [#check()] first gets the flag to add instead.
public final class AgronaAccess {

    private AgronaAccess() {}

    /// Does nothing if the program was started for Agrona.
    ///
    /// @throws UnsupportedOperationException if it was not; the message names the flag
    public static void check() {
        check(DirectBuffer.class.getModule());
    }

    static void check(Module agrona) {
        if (!Object.class.getModule().isExported("jdk.internal.misc", agrona)) {
            throw new UnsupportedOperationException("Agrona may not use the JDK's memory access: start the JVM with"
                    + " --add-exports java.base/jdk.internal.misc="
                    + (agrona.isNamed() ? agrona.getName() : "ALL-UNNAMED"));
        }
    }
}
