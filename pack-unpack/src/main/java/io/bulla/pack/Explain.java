// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.text.Printable;
import io.bulla.pack.value.App;
import io.bulla.pack.value.Composite;
import io.bulla.pack.value.Coord;
import io.bulla.pack.value.DataArray;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.DeviceDistance;
import io.bulla.pack.value.Endpoint;
import io.bulla.pack.value.Envar;
import io.bulla.pack.value.Geometry;
import io.bulla.pack.value.Info;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Name;
import io.bulla.pack.value.NestedBuffer;
import io.bulla.pack.value.Pdata;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.ProcInfo;
import io.bulla.pack.value.Query;
import io.bulla.pack.value.RegAttr;
import io.bulla.pack.value.Timeval;
import io.bulla.pack.value.Value;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Tells what packed bytes say: an indented tree of offsets, types and values, and where and why they are
/// malformed. Safe on any input.
///
/// ```
/// 0  INT32 x3
/// 3    1, -1, 1000
/// 7  INFO x1
/// 10   INFO key="my.key" flags=0
/// 20     UINT32 42
/// 21 malformed: truncated: expected=1 found=0 offset=21
/// ```
public final class Explain {

    private static final Limits LIMITS = new Limits(1 << 20, 1 << 20);
    private static final int MOST_VALUES = 16;
    private static final int MOST_BYTES = 24;

    private final Appendable out;
    private final int indent;

    private Explain(Appendable out, int indent) {
        this.out = out;
        this.indent = indent;
    }

    /// Tells what a described buffer says.
    ///
    /// @param buffer borrowed
    /// @param format what was written, described
    /// @param out where the lines go
    /// @return whether every byte was understood
    /// @throws IllegalArgumentException if the format is not described
    /// @throws UncheckedIOException from `out`
    public static boolean described(SealedBuffer buffer, WireFormat format, Appendable out) {
        if (!format.described()) {
            throw new IllegalArgumentException("bytes do not say their types: format=" + format);
        }
        return new Explain(out, 0).items(Unpacker.of(buffer, format, LIMITS, TextMode.ESCAPED));
    }

    /// Tells what a buffer says whose reader knows the types.
    ///
    /// @param buffer borrowed
    /// @param format what was written
    /// @param types one for each item
    /// @param out where the lines go
    /// @return whether every byte was understood
    /// @throws UncheckedIOException from `out`
    public static boolean typed(SealedBuffer buffer, WireFormat format, List<DataType> types, Appendable out) {
        Explain explain = new Explain(out, 0);
        Unpacker unpacker = Unpacker.of(buffer, format, LIMITS, TextMode.ESCAPED);
        for (DataType type : types) {
            if (!explain.item(unpacker, type)) {
                return false;
            }
        }
        if (unpacker.remaining() > 0) {
            explain.line(
                    unpacker.position(), 0, "malformed: bytes behind the last item: remaining=" + unpacker.remaining());
        }
        return unpacker.remaining() == 0;
    }

    private boolean items(Unpacker unpacker) {
        while (unpacker.remaining() > 0) {
            ItemHeader header;
            try {
                header = unpacker.peek();
            } catch (UnpackException malformed) {
                return malformed(malformed);
            }
            if (header.type() == null) {
                line(unpacker.position(), 0, "malformed: unknown type: id=" + header.typeId());
                return false;
            }
            if (!item(unpacker, header.type())) {
                return false;
            }
        }
        return true;
    }

    private boolean item(Unpacker unpacker, DataType type) {
        long start = unpacker.position();
        Lines lines = new Lines(type);
        try {
            line(start, 0, type + " x" + unpacker.countOf(type));
            unpacker.fork().unpack(type, lines);
            lines.print();
        } catch (UnpackException malformed) {
            lines.print();
            return malformed(malformed);
        }
        boolean understood = true;
        if (type == DataType.BUFFER && unpacker.peek().count() == 1) {
            Unpacker nested = unpacker.fork().unpackBuffer();
            understood = !nested.format.described() || new Explain(out, indent + 2).nested(nested);
        }
        unpacker.skip(type);
        return understood;
    }

    /// Each level is a call: without a limit, a message could end the stack.
    private boolean nested(Unpacker unpacker) {
        int depth = indent / 2;
        if (depth > LIMITS.maxNesting() && unpacker.remaining() > 0) {
            line(
                    unpacker.position(),
                    0,
                    "malformed: nested too deep: expected=" + LIMITS.maxNesting() + " found=" + depth);
            return false;
        }
        return items(unpacker);
    }

    private boolean malformed(UnpackException malformed) {
        line(malformed.offset(), 0, "malformed: " + malformed.getMessage());
        return false;
    }

    private void line(long offset, int depth, String text) {
        try {
            out.append(Long.toString(offset))
                    .append("  ".repeat(1 + indent + depth))
                    .append(text)
                    .append('\n');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String text(@Nullable Object value) {
        return switch (value) {
            case null -> "null";
            case String text -> quoted(text);
            case IoVec bytes -> hex(bytes);
            default -> value.toString();
        };
    }

    private static String quoted(String text) {
        int length = text.codePointCount(0, text.length());
        return '"' + Printable.of(text) + (Printable.isLong(length) ? "\"... " + length + " characters" : "\"");
    }

    private static String hex(IoVec bytes) {
        StringBuilder hex = new StringBuilder(bytes.byteSize() + " bytes");
        for (long i = 0; i < Math.min(MOST_BYTES, bytes.byteSize()); i++) {
            hex.append(i == 0 ? ": " : "").append(String.format("%02x", bytes.get(ByteCursor.BYTE, i)));
        }
        return hex.append(bytes.byteSize() > MOST_BYTES ? "..." : "").toString();
    }

    /// What a composite is about, on its own line; the values in it have theirs.
    private static String summary(Composite value) {
        return switch (value) {
            case Info info -> " key=" + quoted(info.key()) + " flags=" + info.flags();
            case Kval pair -> " key=" + text(pair.key());
            case Pdata data -> " " + proc(data.proc()) + " key=" + quoted(data.key());
            case Proc proc -> " " + proc(proc);
            case ProcInfo info -> " " + proc(info.proc()) + " pid=" + info.pid() + " state=" + info.state();
            case DataArray array ->
                " of " + array.type() + " x" + array.values().size();
            case Value one -> " of " + one.type();
            case NestedBuffer buffer -> " described=" + buffer.described() + " " + hex(buffer.bytes());
            case App app -> " command=" + text(app.command()) + " processes=" + app.maxProcesses();
            case Query query -> " keys=" + query.keys().size();
            case Envar variable -> " name=" + text(variable.name()) + " value=" + text(variable.value());
            case Endpoint endpoint -> " uuid=" + text(endpoint.uuid()) + " " + hex(endpoint.address());
            case Timeval time -> " seconds=" + time.seconds() + " microseconds=" + time.microseconds();
            case DeviceDistance distance -> " uuid=" + text(distance.uuid());
            case Geometry geometry -> " uuid=" + text(geometry.uuid());
            case RegAttr attribute -> " key=" + quoted(attribute.key());
            case Coord place -> " view=" + place.view();
            case Name name -> " job=" + name.job() + " vpid=" + name.vpid();
        };
    }

    private static String proc(Proc proc) {
        return quoted(proc.namespace()) + ":"
                + switch (proc.rank()) {
                    case Proc.WILDCARD -> "*";
                    case Proc.UNDEFINED -> "?";
                    default -> Integer.toUnsignedString(proc.rank());
                };
    }

    private record Line(long offset, int depth, String text) {}

    /// The lines of one item: one for a composite, which is known when it was read, and one for the other values
    /// of a block.
    private final class Lines implements ElementReader.Watcher {

        private final DataType item;
        private final List<Line> lines = new ArrayList<>();
        private final Deque<Integer> open = new LinkedList<>();
        private final StringBuilder values = new StringBuilder();
        private @Nullable Line first;
        private @Nullable DataType type;
        private int seen;

        Lines(DataType item) {
            this.item = item;
        }

        @Override
        public void block(long offset, int depth, DataType type, int count) {
            endBlock();
        }

        @Override
        public void composite(long offset, int depth, DataType type) {
            endBlock();
            open.push(lines.size());
            lines.add(new Line(offset, 1 + depth, type.toString()));
        }

        @Override
        public void value(long offset, int depth, DataType type, @Nullable Object value) {
            if (value instanceof Composite composite) {
                endBlock();
                int at = open.pop();
                Line line = lines.get(at);
                lines.set(at, new Line(line.offset(), line.depth(), line.text() + summary(composite)));
                return;
            }
            if (seen == 0) {
                this.first = new Line(offset, 1 + depth, "");
                this.type = type;
            }
            if (seen < MOST_VALUES) {
                values.append(seen == 0 ? "" : ", ").append(text(value));
            }
            seen++;
        }

        void print() {
            endBlock();
            lines.forEach(line -> line(line.offset(), line.depth(), line.text()));
        }

        private void endBlock() {
            if (first != null && seen > 0) {
                String label = type == item ? "" : type + " ";
                String more = seen > MOST_VALUES ? ", ... " + (seen - MOST_VALUES) + " more" : "";
                lines.add(new Line(first.offset(), first.depth(), label + values + more));
            }
            values.setLength(0);
            seen = 0;
        }
    }
}
