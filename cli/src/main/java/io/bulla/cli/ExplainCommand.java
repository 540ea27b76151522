// SPDX-License-Identifier: Apache-2.0
package io.bulla.cli;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.cli.shell.StandardInput;
import io.bulla.pack.Envelope;
import io.bulla.pack.Explain;
import io.bulla.pack.UnpackException;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.DataType;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `bulla explain`: what packed bytes say, or where and why they are malformed.
@Command(
        name = "explain",
        mixinStandardHelpOptions = true,
        description = {
            "Shows what packed bytes say: an indented tree of offsets, types and values.",
            "Exit status 1 when the bytes are malformed; the last line tells where and why."
        })
final class ExplainCommand implements Callable<Integer> {

    enum Format {
        OPAL_DSS(WireFormat.OPAL_DSS),
        OPAL_DSS_2012(WireFormat.OPAL_DSS_2012),
        PMIX3(WireFormat.PMIX_3),
        PMIX4(WireFormat.PMIX_4),
        PMIX4_NATIVE(WireFormat.PMIX_4_NATIVE);

        private final WireFormat format;

        Format(WireFormat format) {
            this.format = format;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /// Of standard input, which may have no end; a file has one.
    private static final long MOST_BYTES = 256L << 20;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--format",
            converter = FormatConverter.class,
            description = {
                "opal-dss, opal-dss-2012, pmix3, pmix4, or pmix4-native. Packed bytes do not tell it.",
                "Without it, the input has to be an envelope, which does."
            })
    private Format format;

    @Option(names = "--described", description = "The items carry their types.")
    private boolean described;

    @Option(
            names = "--types",
            split = ",",
            paramLabel = "TYPE",
            description = "Types of the items, in order, where they carry none: INT32,STRING,INFO.")
    private List<DataType> types;

    @Parameters(
            paramLabel = "INPUT",
            description = "A file, if one of that name exists; - is standard input; else hex digits, an even number.")
    private String input;

    @Override
    public Integer call() throws IOException {
        if (format == null && described) {
            throw usage("--described needs --format; an envelope tells both");
        }
        if (format != null) {
            checkTypes(described);
        }
        try (SealedBuffer bytes = bytes()) {
            boolean understood =
                    format == null ? enveloped(bytes) : explained(bytes, format.format.described(described));
            spec.commandLine().getOut().flush();
            return understood ? 0 : 1;
        }
    }

    private boolean enveloped(SealedBuffer bytes) {
        Envelope envelope;
        try {
            envelope = Envelope.of(bytes, Long.MAX_VALUE);
        } catch (UnpackException malformed) {
            spec.commandLine().getOut().println("malformed: " + malformed.getMessage());
            return false;
        }
        if (envelope.format().isEmpty()) {
            spec.commandLine().getOut().println("envelope without a format, " + envelope.length() + " bytes");
            return true;
        }
        WireFormat wire = envelope.format().get();
        checkTypes(wire.described());
        spec.commandLine().getOut().println("envelope of " + wire + ", " + envelope.length() + " bytes");
        try (SealedBuffer items = envelope.items(bytes)) {
            return explained(items, wire);
        }
    }

    private boolean explained(SealedBuffer items, WireFormat wire) {
        return wire.described()
                ? Explain.described(items, wire, spec.commandLine().getOut())
                : Explain.typed(items, wire, known(wire), spec.commandLine().getOut());
    }

    private void checkTypes(boolean told) {
        if (told == (types != null)) {
            throw usage("either --described or --types must say what the items are");
        }
    }

    private List<DataType> known(WireFormat wire) {
        for (DataType type : types) {
            if (!wire.knows(type)) {
                throw usage(
                        "type is unknown to the format: type=" + type + " format=" + (format == null ? wire : format));
            }
        }
        return types;
    }

    private SealedBuffer bytes() throws IOException {
        Path file = file();
        try (BufferBuilder builder = BufferBuilder.create(ArenaSource.create())) {
            if (input.equals(StandardInput.NAME)) {
                try (OutputStream out = builder.asOutputStream()) {
                    StandardInput.copy(System.in, out, MOST_BYTES);
                }
                return builder.seal();
            }
            if (file == null) {
                return builder.put(hex()).seal();
            }
            try (FileChannel channel = FileChannel.open(file)) {
                return builder.readFully(channel, channel.size()).seal();
            } catch (IOException failure) {
                throw new IOException("cannot read " + file + ": " + failure.getMessage(), failure);
            }
        }
    }

    private Path file() {
        try {
            Path file = Path.of(input);
            return Files.isRegularFile(file) ? file : null;
        } catch (InvalidPathException noName) {
            return null;
        }
    }

    private byte[] hex() {
        try {
            return HexFormat.of().parseHex(input);
        } catch (IllegalArgumentException e) {
            throw usage("neither a file nor an even number of hex digits: input="
                    + (input.length() > 60 ? input.substring(0, 60) + "..." : input));
        }
    }

    private CommandLine.ParameterException usage(String message) {
        return new CommandLine.ParameterException(spec.commandLine(), message);
    }

    static final class FormatConverter implements CommandLine.ITypeConverter<Format> {

        @Override
        public Format convert(String name) {
            for (Format format : Format.values()) {
                if (format.toString().equalsIgnoreCase(name)) {
                    return format;
                }
            }
            throw new CommandLine.TypeConversionException(
                    "no such format: given=" + name + " formats=" + Arrays.toString(Format.values()));
        }
    }
}
