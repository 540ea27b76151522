// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.pack.UnpackException.Reason;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Wire;

/// Walks over the values of one item without decoding them: lengths, counts, tags and types are looked at, text and
/// what it says are not. So a reader gets past what it cannot read, such as text that is not UTF-8.
final class ElementSkipper {

    private final Unpacker in;
    private long elements;
    private int depth;

    ElementSkipper(Unpacker in) {
        this.in = in;
    }

    void block(DataType type, int count) {
        elements = in.counted(elements, count);
        if (type == DataType.NAME) {
            values(DataType.JOBID, count);
            values(DataType.VPID, count);
        } else {
            values(type, count);
        }
    }

    private void values(DataType type, int count) {
        Wire wire = in.blockPrefix(type);
        in.need(count * in.leastBytes(type, wire));
        switch (type.wire()) {
            case NOTHING -> {}
            case MARK -> in.skipBytes(1);
            case ZERO -> in.skipBytes(count);
            default -> {
                if (wire.width() == 1 || wire.isNumber() && in.format.isFixedWidth()) {
                    in.skipBytes((long) count * wire.width());
                    return;
                }
                for (int i = 0; i < count; i++) {
                    value(type, wire);
                }
            }
        }
    }

    private void value(DataType type, Wire wire) {
        switch (type.wire()) {
            case FLOAT, DOUBLE, STRING -> string();
            case BYTES -> object(type);
            case COMPOSITE -> composite(type);
            default -> in.number(wire);
        }
    }

    private void composite(DataType type) {
        if (depth == in.limits.maxNesting()) {
            throw in.tooDeep(depth);
        }
        depth++;
        fields(type);
        depth--;
    }

    /// In the order of [CompositeReader].
    private void fields(DataType type) {
        switch (type) {
            case TIMEVAL -> numbers(Wire.INT64, Wire.INT64);
            case PROC -> proc();
            case VALUE -> held();
            case KVAL -> {
                string();
                held();
            }
            case INFO -> info();
            case PDATA -> {
                proc();
                string();
                held();
            }
            case BUFFER -> {
                in.nestedMode();
                object(type);
            }
            case DATA_ARRAY -> array();
            case PROC_INFO -> {
                proc();
                strings(2);
                in.single(DataType.PID);
                in.skipBytes(1);
            }
            case QUERY -> {
                list(DataType.STRING, in.number(Wire.INT32));
                list(DataType.INFO, in.single(DataType.SIZE));
            }
            case ENVAR -> {
                strings(2);
                in.skipBytes(1);
            }
            case APP -> {
                string();
                list(DataType.STRING, in.single(DataType.INT));
                list(DataType.STRING, in.number(Wire.INT32));
                string();
                in.single(DataType.INT);
                list(DataType.INFO, in.single(DataType.SIZE));
            }
            case COORD -> {
                in.skipBytes(1);
                list(DataType.UINT32, in.single(DataType.SIZE));
            }
            case GEOMETRY -> {
                in.single(DataType.SIZE);
                strings(2);
                list(DataType.COORD, in.single(DataType.SIZE));
            }
            case DEVICE_DIST -> {
                strings(2);
                numbers(Wire.UINT64, Wire.UINT16, Wire.UINT16);
            }
            case ENDPOINT -> {
                strings(2);
                object(type);
            }
            case REGATTR -> {
                strings(2);
                numbers(Wire.UINT16);
                list(DataType.STRING, in.number(Wire.INT32));
            }
            default -> throw new AssertionError(type);
        }
    }

    private void proc() {
        string();
        numbers(Wire.UINT32);
    }

    private void info() {
        string();
        numbers(Wire.UINT32);
        held();
    }

    private void held() {
        DataType type = in.typeOfValue();
        block(in.format.inValue(type), 1);
    }

    private void array() {
        DataType type = in.type();
        long start = in.position;
        int count = in.listCount(in.single(DataType.SIZE), start);
        if (type == DataType.UNDEF && count > 0) {
            throw ByteCursor.failed(Reason.MALFORMED, "values of no type", 0, count, start);
        }
        if (count > 0) {
            block(type, count);
        }
    }

    private void list(DataType type, long count) {
        block(type, in.listCount(count, in.position));
    }

    private void numbers(Wire... wires) {
        for (Wire wire : wires) {
            in.number(wire);
        }
    }

    private void strings(int count) {
        for (int i = 0; i < count; i++) {
            string();
        }
    }

    private void string() {
        in.skipBytes(in.stringLength(in.limits.maxStringBytes()));
    }

    private void object(DataType type) {
        in.skipBytes(in.objectLength(in.objectSize(type)));
    }
}
