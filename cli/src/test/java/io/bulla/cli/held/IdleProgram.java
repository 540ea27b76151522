// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli.held;

import java.io.IOException;

/// A JVM that knows nothing of Bulla, until its standard input ends.
public final class IdleProgram {

    private IdleProgram() {}

    public static void main(String[] args) throws IOException {
        System.out.println("ready");
        while (System.in.read() >= 0) {}
    }
}
