// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

    String lastLine() {
        return out.lines().reduce("", (before, line) -> line);
    }

    /// A number in the last line of `bulla xcast`, as `name=number`.
    long figure(String name) {
        Matcher found = Pattern.compile("\\b" + name + "=(\\d+)").matcher(lastLine());
        assertTrue(found.find(), out);
        return Long.parseLong(found.group(1));
    }

    /// A usage error, which says this in its first line.
    static void refused(String message, String... args) {
        Ran ran = bulla(args);
        assertEquals(2, ran.status(), ran::err);
        assertEquals("bulla: " + message, ran.err().lines().findFirst().orElse(""));
    }
}
