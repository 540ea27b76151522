// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import static io.bulla.fuzz.FuzzTarget.claim;

import io.bulla.buffer.SealedBuffer;
import io.bulla.fuzz.ExactMemory;
import io.bulla.fuzz.FuzzInput;
import io.bulla.fuzz.FuzzTarget;
import io.bulla.fuzz.Heap;
import io.bulla.iovec.IoVec;
import io.bulla.pack.value.Composite;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.NestedBuffer;
import io.bulla.pack.value.Wire;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/// Calls of an unpacker, chosen by the input. What each claims: nothing but [UnpackException] is thrown, and then
/// the position has not moved and the offset lies in the buffer; skipping, peeking, typed and untyped calls say the
/// same (a skip may get past what cannot be read); and so they do when the bytes lie in two regions, or when other
/// bytes follow that are none of theirs.
public final class UnpackerFuzz implements FuzzTarget {

    /// High, so that a count that is trusted too early shows in what it allocates.
    static final Limits LIMITS = new Limits(1 << 20, 1 << 20, 1 << 20, 8, 1 << 20);

    /// What one call may allocate, per byte that is there to be read, whatever the bytes announce. A byte can be a
    /// boxed value and its slot in a list that has doubled; a composite of few bytes is a few objects; lists in
    /// lists begin with as many slots as bytes remain, at each level of nesting.
    private static final long HEAP_PER_BYTE = 192;

    /// And besides: an exception with its trace, and the objects of a call.
    private static final long MOST_HEAP = 16 << 10;

    private static final DataType[] TYPES = DataType.values();
    private static final Call[] CALLS = Call.values();
    private static final int MOST_CALLS = 12;
    private static final int MOST_BEHIND = 16;

    private enum Call {
        SKIP,
        NEXT,
        ARRAY,
        SINGLE,
        INTO,
        NESTED,
        LIMITED,
        RECORDS
    }

    private interface Read {
        Object by(Unpacker unpacker);
    }

    private record Refused(String message) {}

    private final WireFormat format;
    private final ExactMemory memory;

    /// A target for one format.
    ///
    /// @param format what the bytes are read as
    /// @param memory where they lie
    public UnpackerFuzz(WireFormat format, ExactMemory memory) {
        this.format = format;
        this.memory = memory;
    }

    @Override
    public String name() {
        return "Unpacker " + format;
    }

    @Override
    public void run(FuzzInput input) {
        MemorySegment message = input.message();
        long whole;
        try (SealedBuffer buffer = memory.sealed(message)) {
            memory.taken();
            whole = reads(Unpacker.of(buffer, format, LIMITS), input);
        }
        int way = input.choice(1, 256);
        if ((way & 1) != 0) {
            try (SealedBuffer cut = cut(message, (way >>> 2) % (message.byteSize() + 1))) {
                memory.taken();
                claim(whole == reads(Unpacker.of(cut, format, LIMITS), input), "two regions read otherwise", way);
            }
        }
        if ((way & 2) != 0) {
            try (SealedBuffer more = followed(message, way)) {
                memory.taken();
                Unpacker limited = Unpacker.of(more, format, LIMITS).limit(message.byteSize());
                claim(whole == reads(limited, input), "bytes behind the end are read", way);
            }
        }
        claim(memory.taken() == 0, "reading takes memory");
    }

    private SealedBuffer cut(MemorySegment message, long at) {
        try (SealedBuffer head = memory.sealed(message.asSlice(0, at));
                SealedBuffer tail = memory.sealed(message.asSlice(at))) {
            return SealedBuffer.concat(head, tail);
        }
    }

    private SealedBuffer followed(MemorySegment message, int way) {
        byte[] bytes = new byte[(int) message.byteSize() + MOST_BEHIND];
        Arrays.fill(bytes, (byte) (way * 0x55));
        MemorySegment.copy(message, 0, MemorySegment.ofArray(bytes), 0, message.byteSize());
        return memory.sealed(MemorySegment.ofArray(bytes));
    }

    /// A digest of all that the calls returned or were refused with.
    private long reads(Unpacker start, FuzzInput input) {
        Unpacker at = start;
        long digest = 0;
        for (int i = 0; i < MOST_CALLS; i++) {
            int slot = 2 + 2 * Math.min(i, 2);
            Call call = CALLS[input.choice(slot, CALLS.length)];
            DataType type = TYPES[input.choice(slot + 1, TYPES.length)];
            Object result;
            if (!format.knows(type)) {
                result = unknown(at, type);
            } else {
                result = call(at, call, type);
            }
            digest = digest * 31 + hash(result);
            if (result instanceof Refused && i >= 2) {
                return digest;
            }
            if (result instanceof Unpacker inside) {
                at = inside;
            }
        }
        return digest;
    }

    private Object call(Unpacker at, Call call, DataType type) {
        return switch (call) {
            case SKIP -> skip(at, type);
            case NEXT -> next(at, type);
            case ARRAY -> same(attempt(at.fork(), u -> u.unpack(type)), at, u -> array(u, type));
            case SINGLE -> single(at, type);
            case INTO -> into(at, type);
            case NESTED -> nested(at);
            case LIMITED -> at.limit(Math.min(at.remaining(), type.ordinal()));
            case RECORDS -> records(at, type);
        };
    }

    private Object unknown(Unpacker at, DataType type) {
        try {
            Object read = attempt(at, u -> u.unpack(type));
            claim(read instanceof Refused, "type of another format is read", type);
            return read;
        } catch (IllegalArgumentException documented) {
            return new Refused(documented.getMessage());
        }
    }

    private Object next(Unpacker at, DataType type) {
        Unpacker ahead = at.fork();
        Object header = attemptInPlace(ahead, Unpacker::peek);
        // a buffer in a buffer may be described where the outer one is not, and the other way round
        if (!at.format.described()) {
            Object item = attempt(at, u -> u.unpack(type));
            if (item instanceof List<?> values) {
                claim(
                        header instanceof ItemHeader(int id, DataType none, int count)
                                && id == -1
                                && none == null
                                && count == values.size(),
                        "peek differs",
                        header,
                        values.size());
            }
            return item;
        }
        Object item = header instanceof ItemHeader(int id, DataType told, int count) && told != null
                ? attempt(at.fork(), u -> u.unpack(told))
                : null;
        Object skipped = attempt(at, u -> {
            u.skip();
            return "skipped";
        });
        // what can be read can be skipped; a text or a number that cannot be read is skipped all the same
        claim(!(item instanceof List<?>) || !(skipped instanceof Refused), "skip differs", header, item, skipped);
        if (item instanceof List<?> values && header instanceof ItemHeader(int id, DataType told, int count)) {
            claim(count == values.size() && at.format.id(told) == id, "peek differs", header, values.size());
        }
        return skipped;
    }

    private static Object array(Unpacker in, DataType type) {
        Class<?> box = type.javaClass();
        if (box == Boolean.class) {
            return Arrays.hashCode(in.unpackBools());
        } else if (box == Byte.class) {
            return Arrays.hashCode(in.unpackBytes(type));
        } else if (box == Short.class) {
            return Arrays.hashCode(in.unpackShorts(type));
        } else if (box == Integer.class) {
            return Arrays.hashCode(in.unpackInts(type));
        } else if (box == Long.class) {
            return Arrays.hashCode(in.unpackLongs(type));
        } else if (box == Float.class) {
            return Arrays.hashCode(in.unpackFloats());
        } else if (box == Double.class) {
            return Arrays.hashCode(in.unpackDoubles());
        } else if (type == DataType.STRING) {
            return Arrays.hashCode(in.unpackStrings());
        } else if (type == DataType.BYTE_OBJECT) {
            return Arrays.hashCode(in.unpackByteObjects());
        }
        return in.unpack(type).hashCode();
    }

    private static Object single(Unpacker at, DataType type) {
        Object many = attempt(at.fork(), u -> u.unpack(type));
        Object one = attempt(at, u -> one(u, type));
        if (many instanceof List<?> values && values.size() == 1) {
            claim(Objects.equals(values.getFirst(), one), "one value differs", values, one);
        } else {
            claim(one instanceof Refused, "one value of many", many, one);
        }
        return one;
    }

    private static Object one(Unpacker in, DataType type) {
        Class<?> box = type.javaClass();
        if (type == DataType.BOOL) {
            return in.unpackBool();
        } else if (box == Byte.class) {
            return in.unpackByte(type);
        } else if (box == Short.class) {
            return in.unpackShort(type);
        } else if (box == Integer.class) {
            return in.unpackInt(type);
        } else if (box == Long.class) {
            return in.unpackLong(type);
        } else if (type == DataType.STRING) {
            return in.unpackString();
        } else if (type == DataType.BYTE_OBJECT) {
            return in.unpackByteObject();
        } else if (box == Void.class || type.wire() == Wire.STRING) {
            // it may be null, which no call for one value of any type gives
            List<?> values = in.unpack(type);
            return values.size() == 1 ? values.getFirst() : new Refused("many");
        }
        return in.one(type);
    }

    private static Object into(Unpacker at, DataType type) {
        int room = type.ordinal() % 7;
        Object many = attempt(at.fork(), u -> u.unpack(type));
        Class<?> box = type.javaClass();
        Object count = attempt(at, u -> {
            if (box == Short.class) {
                return u.unpackShorts(type, new short[room]);
            } else if (box == Integer.class) {
                return u.unpackInts(type, new int[room]);
            } else if (box == Long.class) {
                return u.unpackLongs(type, new long[room]);
            }
            List<Object> values = u.unpack(type);
            return values.size() <= room ? values.size() : new Refused("room");
        });
        if (many instanceof List<?> values && values.size() <= room) {
            claim(Integer.valueOf(values.size()).equals(count), "count differs", values, count);
        } else {
            claim(count instanceof Refused, "more values than room", many, count, room);
        }
        return count;
    }

    /// What can be read can be skipped, to the same place. Skipping decodes no text and no number, so it also gets
    /// past some of what cannot be read.
    private static Object skip(Unpacker at, DataType type) {
        Unpacker reader = at.fork();
        Object read = attempt(reader, u -> u.unpack(type));
        Object skipped = attempt(at, u -> {
            u.skip(type);
            return "skipped";
        });
        if (read instanceof Refused) {
            return skipped;
        }
        claim(!(skipped instanceof Refused) && at.position() == reader.position(), "skip differs", read, skipped);
        return read;
    }

    private static Object nested(Unpacker at) {
        if (!at.format.knows(DataType.BUFFER)) {
            return null;
        }
        Object value = attempt(at.fork(), u -> u.one(DataType.BUFFER));
        Object inside = attempt(at, Unpacker::unpackBuffer);
        if (value instanceof NestedBuffer(boolean described, IoVec bytes)) {
            claim(
                    inside instanceof Unpacker in
                            && in.remaining() == bytes.byteSize()
                            && in.format.described() == described,
                    "nested buffer differs",
                    value,
                    inside);
        } else {
            claim(inside instanceof Refused, "nested buffer from nowhere", value, inside);
        }
        return inside;
    }

    private static Object records(Unpacker at, DataType type) {
        if (type.wire() != Wire.COMPOSITE) {
            return attempt(at, u -> u.unpack(type));
        }
        Class<? extends Composite> record = type.javaClass().asSubclass(Composite.class);
        return same(
                attempt(at.fork(), u -> u.unpack(type)),
                at,
                u -> u.unpackAll(record).hashCode());
    }

    /// The second call must end as the first one did, and where it did.
    private static Object same(Object first, Unpacker at, Read second) {
        Object again = attempt(at, second);
        claim((first instanceof Refused) == (again instanceof Refused), "calls differ", first, again);
        if (again instanceof Integer digest) {
            claim(digest == first.hashCode(), "values differ", first, again);
        }
        return first;
    }

    private static Object attempt(Unpacker at, Read read) {
        long before = at.position();
        long left = at.remaining();
        long end = before + left;
        long heap = Heap.allocated();
        try {
            Object value = read.by(at);
            Heap.claim(heap, MOST_HEAP + HEAP_PER_BYTE * left);
            claim(value instanceof Refused || at.position() > before && at.position() <= end, "position", before, end);
            return value;
        } catch (UnpackException refused) {
            Heap.claim(heap, MOST_HEAP + HEAP_PER_BYTE * left);
            claim(at.position() == before, "position moved", before, at.position(), refused.getMessage());
            claim(refused.offset() >= 0 && refused.offset() <= end, "offset outside", refused.getMessage(), end);
            return new Refused(refused.getMessage());
        }
    }

    private static Object attemptInPlace(Unpacker at, Read read) {
        long before = at.position();
        try {
            return read.by(at);
        } catch (UnpackException refused) {
            return new Refused(refused.getMessage());
        } finally {
            claim(at.position() == before, "position moved by a look", before, at.position());
        }
    }

    private static int hash(Object result) {
        return result instanceof Unpacker inside ? Long.hashCode(inside.remaining()) : Objects.hashCode(result);
    }
}
