// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.pack.UnpackException.Reason;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Name;
import io.bulla.pack.value.Wire;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Reads the boxed values of one item, block after block, and counts them and how deep they stand.
final class ElementReader {

    /// Sees what is read, in the order of its bytes; a block and a composite are seen before what is in them.
    interface Watcher {

        /// A block starts here.
        void block(long offset, int depth, DataType type, int count);

        /// The next value of the innermost block was read from here.
        void value(long offset, int depth, DataType type, @Nullable Object value);

        /// A composite starts here.
        void composite(long offset, int depth, DataType type);
    }

    private final Unpacker in;
    private final @Nullable Watcher watcher;
    private final CompositeReader composites;
    private int depth;
    private long elements;

    ElementReader(Unpacker in) {
        this(in, null);
    }

    ElementReader(Unpacker in, @Nullable Watcher watcher) {
        this.in = in;
        this.watcher = watcher;
        this.composites = new CompositeReader(this, in);
    }

    /// Boxed values of a block, as [DataType#javaClass] says.
    List<@Nullable Object> block(DataType type, int count) {
        elements = in.counted(elements, count);
        return type == DataType.NAME ? names(count) : counted(type, count);
    }

    private List<@Nullable Object> counted(DataType type, int count) {
        if (watcher != null) {
            watcher.block(in.position, depth, type, count);
        }
        Wire wire = in.blockPrefix(type);
        in.need(count * in.leastBytes(type, wire));
        if (type.wire() == Wire.MARK || type.wire() == Wire.NOTHING) {
            // no byte answers for each of these values, so neither memory nor time is spent on each
            return withoutBytes(type, count);
        }
        if (count == 0) {
            // millions of these fit into a message of a few bytes each
            return Collections.emptyList();
        }
        List<@Nullable Object> values = new ArrayList<>(Math.min(count, 1024));
        for (int i = 0; i < count; i++) {
            long start = in.position;
            @Nullable Object value = element(type, wire);
            values.add(value);
            if (watcher != null) {
                watcher.value(start, depth, type, value);
            }
        }
        return values;
    }

    /// The only value of a block.
    @Nullable
    Object one(DataType type) {
        return block(type, 1).getFirst();
    }

    /// The only value of a block whose type has no null.
    Object present(DataType type) {
        return Objects.requireNonNull(one(type), type::name);
    }

    private @Nullable Object element(DataType type, Wire wire) {
        return switch (type.wire()) {
            case ZERO -> zero();
            case FLOAT -> in.floatText();
            case DOUBLE -> in.doubleText();
            case STRING -> in.string(type);
            case BYTES -> in.bytes(in.objectSize(type));
            case COMPOSITE -> composite(type);
            default -> type.wire().box(wire == in.format.wireOf(type) ? in.number(wire) : in.narrowed(type, wire));
        };
    }

    private Object composite(DataType type) {
        if (depth == in.limits.maxNesting()) {
            throw in.tooDeep(depth);
        }
        if (watcher != null) {
            watcher.composite(in.position, depth, type);
        }
        depth++;
        Object value = composites.read(type);
        depth--;
        return value;
    }

    private List<@Nullable Object> names(int count) {
        in.need((long) count * Long.BYTES);
        List<@Nullable Object> jobs = counted(DataType.JOBID, count);
        List<@Nullable Object> vpids = counted(DataType.VPID, count);
        List<@Nullable Object> names = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            names.add(new Name((Integer) jobs.get(i), (Integer) vpids.get(i)));
        }
        return names;
    }

    private List<@Nullable Object> withoutBytes(DataType type, int count) {
        if (type.wire() == Wire.MARK) {
            mark();
        } else if (watcher != null && count > 0) {
            watcher.value(in.position, depth, type, null);
        }
        return Collections.nCopies(count, null);
    }

    private void mark() {
        long start = in.position;
        byte found = in.int8();
        if (found != 1) {
            throw ByteCursor.failed(Reason.MALFORMED, "wrong mark of a pointer", 1, found & 0xff, start);
        }
    }

    private @Nullable Object zero() {
        long start = in.position;
        byte found = in.int8();
        if (found != 0) {
            throw ByteCursor.failed(Reason.MALFORMED, "null is not zero", 0, found & 0xff, start);
        }
        return null;
    }
}
