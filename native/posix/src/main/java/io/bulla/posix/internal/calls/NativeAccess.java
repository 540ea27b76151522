// SPDX-License-Identifier: Apache-2.0
package io.bulla.posix.internal.calls;

import java.lang.foreign.Linker;

/// Whether this module may call C, and on what machine it is.
public final class NativeAccess {

    private NativeAccess() {}

    /// @throws UnsupportedOperationException if the program was not started for it, or the machine is another one
    public static Linker linker() {
        Module module = NativeAccess.class.getModule();
        if (!module.isNativeAccessEnabled()) {
            throw new UnsupportedOperationException("native access is not enabled: start the JVM with"
                    + " --enable-native-access=" + (module.isNamed() ? module.getName() : "ALL-UNNAMED"));
        }
        String system = System.getProperty("os.name");
        String processor = System.getProperty("os.arch");
        if (!system.equals("Linux") || !(processor.equals("amd64") || processor.equals("aarch64"))) {
            throw new UnsupportedOperationException(
                    "system calls are made on Linux, x86-64 and AArch64 only: os=" + system + " arch=" + processor);
        }
        return Linker.nativeLinker();
    }
}
