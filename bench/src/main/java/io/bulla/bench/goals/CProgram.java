// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.goals;

import io.bulla.bench.programs.ProgramOutput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// A program in C beside the Java cases. `bench/run` builds it, and tells by system properties where it is or why
/// there is none.
enum CProgram {
    /// The C libraries of the formats.
    FORMATS("c_formats"),
    /// The registration cache of UCX.
    RCACHE("c_rcache"),
    /// libfabric, bare.
    FABRIC("c_fabric"),
    /// Cold lines of memory, one after the other.
    LINES("c_lines"),
    /// A send from memory that the ring does not know yet.
    FIRST_SEND("c_first_send", "us"),
    /// Processes that are woken.
    WAKE("c_wake");

    private static final int NO_LIBRARY = 3;

    private final String file;
    private final String unit;

    CProgram(String file) {
        this(file, "ns");
    }

    CProgram(String file, String unit) {
        this.file = file;
        this.unit = unit;
    }

    /// Of what it prints.
    String unit() {
        return unit;
    }

    /// What one operation of a case takes, in the program's unit.
    double run(String argument, long millis, int windows) throws IOException, InterruptedException, Case.Skipped {
        Path program = Path.of(System.getProperty("bulla.c", "bench/target/c"), file);
        if (!Files.isExecutable(program)) {
            throw new Case.Skipped(System.getProperty("bulla.c.missing", "program not built: " + program));
        }
        ProgramOutput output = ProgramOutput.of(
                List.of(program.toString(), argument, Long.toString(millis), Integer.toString(windows)));
        if (output.status() == NO_LIBRARY) {
            throw new Case.Skipped(output.lastLine());
        }
        if (output.status() != 0) {
            throw new IOException(
                    "program failed: program=" + file + " case=" + argument + " status=" + output.status());
        }
        return Double.parseDouble(output.lastLine());
    }
}
