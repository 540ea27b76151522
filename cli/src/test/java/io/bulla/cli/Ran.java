// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;

/// What a person sees of a command.
///
/// @param status that the process would end with
/// @param out standard output
/// @param err standard error
record Ran(int status, String out, String err) {

    static Ran bulla(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = Bulla.run(args, new PrintWriter(out, true), new PrintWriter(err, true));
        return new Ran(status, out.toString(), err.toString());
    }

    /// A usage error, which says this in its first line.
    static void refused(String message, String... args) {
        Ran ran = bulla(args);
        assertEquals(2, ran.status(), ran::err);
        assertEquals("bulla: " + message, ran.err().lines().findFirst().orElse(""));
    }
}
