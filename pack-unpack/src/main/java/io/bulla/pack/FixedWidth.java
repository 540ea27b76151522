// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.buffer.BufferBuilder;
import io.bulla.iovec.IoVec;
import io.bulla.pack.value.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/// Every number at its type's width, big-endian: OPAL DSS, PMIx up to 3, PMIx 4 when it does not squash.
final class FixedWidth implements Encoding {

    static final FixedWidth ENCODING = new FixedWidth();

    private FixedWidth() {}

    @Override
    public void put(BufferBuilder out, Wire wire, long value) {
        switch (wire.width()) {
            case 1 -> out.putByte((byte) value);
            case 2 -> out.putShort((short) value);
            case 4 -> out.putInt((int) value);
            default -> out.putLong(value);
        }
    }

    @Override
    public void putOne(BufferBuilder out) {
        out.putInt(1);
    }

    @Override
    public void putOneInt(BufferBuilder out, int value) {
        out.putLong(1L << Integer.SIZE | value & 0xffff_ffffL);
    }

    @Override
    public void putOneLong(BufferBuilder out, long value) {
        out.putInt(1).putLong(value);
    }

    @Override
    public long textHead(long length, boolean one) {
        return Long.reverseBytes(one ? 1L << Integer.SIZE | length : length << Integer.SIZE);
    }

    @Override
    public int textHeadBytes(long length, boolean one) {
        return one ? Long.BYTES : Integer.BYTES;
    }

    @Override
    public int shortLength(MemorySegment region, long at) {
        return region.get(ByteCursor.INT, at);
    }

    @Override
    public int shortHeadBytes() {
        return Integer.BYTES;
    }

    @Override
    public long number(ByteCursor in, Wire wire) {
        return switch (wire) {
            case BOOL, UINT8 -> in.int8() & 0xff;
            case INT8 -> in.int8();
            case INT16 -> in.int16();
            case UINT16 -> in.int16() & 0xffff;
            case INT32 -> in.int32();
            case UINT32 -> in.int32() & 0xffff_ffffL;
            default -> in.int64();
        };
    }

    @Override
    public int leastBytes(Wire wire) {
        return wire.width();
    }

    @Override
    public void putShorts(BufferBuilder out, Wire wire, short[] values, int from, int count) {
        out.putShorts(values, from, count);
    }

    @Override
    public void putInts(BufferBuilder out, Scratch aside, Wire wire, int[] values, int from, int count) {
        out.putInts(values, from, count);
    }

    @Override
    public void putLongs(BufferBuilder out, Wire wire, long[] values, int from, int count) {
        out.putLongs(values, from, count);
    }

    @Override
    public void shorts(ByteCursor in, Wire wire, short[] target, int from, int count) {
        in.need((long) count * Short.BYTES);
        IoVec bytes = in.buffer.iovec();
        IoVec regions = bytes.lent();
        for (int done = 0; done < count; ) {
            int index = bytes.regionAt(in.position);
            MemorySegment region = regions.region(index);
            long at = in.position - bytes.regionStart(index);
            int whole = (int) Math.min(count - done, (region.byteSize() - at) / Short.BYTES);
            if (whole == 0) {
                // across a border
                target[from + done++] = in.int16();
            } else {
                read(region, at, target, from + done, whole);
                in.position += (long) whole * Short.BYTES;
                done += whole;
            }
        }
        bytes.verify();
        Reference.reachabilityFence(bytes);
    }

    @Override
    public void ints(ByteCursor in, Wire wire, int[] target, int from, int count) {
        in.need((long) count * Integer.BYTES);
        IoVec bytes = in.buffer.iovec();
        IoVec regions = bytes.lent();
        for (int done = 0; done < count; ) {
            int index = bytes.regionAt(in.position);
            MemorySegment region = regions.region(index);
            long at = in.position - bytes.regionStart(index);
            int whole = (int) Math.min(count - done, (region.byteSize() - at) / Integer.BYTES);
            if (whole == 0) {
                // across a border
                target[from + done++] = in.int32();
            } else {
                read(region, at, target, from + done, whole);
                in.position += (long) whole * Integer.BYTES;
                done += whole;
            }
        }
        bytes.verify();
        Reference.reachabilityFence(bytes);
    }

    @Override
    public void longs(ByteCursor in, Wire wire, long[] target, int from, int count) {
        in.need((long) count * Long.BYTES);
        IoVec bytes = in.buffer.iovec();
        IoVec regions = bytes.lent();
        for (int done = 0; done < count; ) {
            int index = bytes.regionAt(in.position);
            MemorySegment region = regions.region(index);
            long at = in.position - bytes.regionStart(index);
            int whole = (int) Math.min(count - done, (region.byteSize() - at) / Long.BYTES);
            if (whole == 0) {
                // across a border
                target[from + done++] = in.int64();
            } else {
                read(region, at, target, from + done, whole);
                in.position += (long) whole * Long.BYTES;
                done += whole;
            }
        }
        bytes.verify();
        Reference.reachabilityFence(bytes);
    }

    // the loops count in int: with a long index they would not become vector instructions

    private static void read(MemorySegment region, long at, short[] target, int from, int count) {
        for (int i = 0; i < count; i++) {
            target[from + i] = region.get(ByteCursor.SHORT, at + (long) i * Short.BYTES);
        }
    }

    private static void read(MemorySegment region, long at, int[] target, int from, int count) {
        for (int i = 0; i < count; i++) {
            target[from + i] = region.get(ByteCursor.INT, at + (long) i * Integer.BYTES);
        }
    }

    private static void read(MemorySegment region, long at, long[] target, int from, int count) {
        for (int i = 0; i < count; i++) {
            target[from + i] = region.get(ByteCursor.LONG, at + (long) i * Long.BYTES);
        }
    }
}
