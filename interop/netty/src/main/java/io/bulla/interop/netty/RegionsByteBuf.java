// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.iovec.IoVec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import org.jspecify.annotations.Nullable;

/// Sealed regions as Netty sees them: read-only, with one count, whose end lets go of what holds the memory.
///
/// Views are made when a transport asks for them, so that a write costs one object whatever the number of regions.
abstract class RegionsByteBuf extends CountedByteBuf {

    // an object of its own, which no vector of a buffer is
    private static final IoVec FREED = IoVec.empty().keeping("freed");

    private static final ByteBuffer NOTHING = ByteBuffer.allocateDirect(0).asReadOnlyBuffer();

    private final boolean reused;
    // plain: who reads beside the last release looks again, in `read`
    private IoVec bytes;

    /// @param before bytes that the subclass has before the regions
    /// @param bytes of a handle; what holds it is let go once this has no holder any more
    RegionsByteBuf(int before, IoVec bytes) {
        super(Math.toIntExact(before + bytes.byteSize()));
        this.reused = bytes.isStamped();
        // the handle is held until the last view is let go
        this.bytes = bytes.lent();
        setIndex(0, maxCapacity());
    }

    @Override
    final void deallocate() {
        // also for those who have switched Netty's own check off
        bytes = FREED;
        letGo();
    }

    /// Nothing reads the memory through this any more. Once.
    abstract void letGo();

    /// The bytes that the subclass has before the regions.
    int before() {
        return 0;
    }

    /// The byte at an index below [#before()].
    byte byteBefore(int index) {
        throw new IndexOutOfBoundsException("nothing is before the regions: index=" + index);
    }

    /// A view of some of the bytes before the regions.
    ByteBuffer viewBefore(int index, int length) {
        throw new IndexOutOfBoundsException("nothing is before the regions: index=" + index + " length=" + length);
    }

    boolean isDirectBefore() {
        return true;
    }

    @Override
    public int capacity() {
        return maxCapacity();
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        throw new ReadOnlyBufferException();
    }

    @Override
    public boolean isReadOnly() {
        return true;
    }

    @Override
    public boolean isWritable() {
        return false;
    }

    @Override
    public boolean isWritable(int size) {
        return false;
    }

    @Override
    public ByteBuf ensureWritable(int size) {
        throw new ReadOnlyBufferException();
    }

    @Override
    public int ensureWritable(int size, boolean force) {
        // ByteBuf: 1, there is no room and the capacity is as it was
        return 1;
    }

    @Override
    public boolean isDirect() {
        IoVec all = bytes;
        boolean direct = isDirectBefore();
        for (int i = all.regionCount() - 1; i >= 0 && direct; i--) {
            direct = all.region(i).isNative();
        }
        return direct;
    }

    @Override
    public boolean isContiguous() {
        return nioBufferCount() <= 1;
    }

    @Override
    public ByteBufAllocator alloc() {
        return UnpooledByteBufAllocator.DEFAULT;
    }

    @Override
    @SuppressWarnings("deprecation") // of Netty, which still asks
    public ByteOrder order() {
        return ByteOrder.BIG_ENDIAN;
    }

    @Override
    public @Nullable ByteBuf unwrap() {
        return null;
    }

    @Override
    protected byte _getByte(int index) {
        int at = index - before();
        byte value = at >= 0 ? bytes.getByte(at) : byteBefore(index);
        read();
        return value;
    }

    @Override
    protected short _getShort(int index) {
        int at = index - before();
        if (at < 0) {
            return (short) (_getByte(index) << Byte.SIZE | _getByte(index + 1) & 0xff);
        }
        short value = bytes.getShort(at);
        read();
        return value;
    }

    @Override
    protected short _getShortLE(int index) {
        return Short.reverseBytes(_getShort(index));
    }

    @Override
    protected int _getUnsignedMedium(int index) {
        return (_getByte(index) & 0xff) << 16 | _getShort(index + 1) & 0xffff;
    }

    @Override
    protected int _getUnsignedMediumLE(int index) {
        return Integer.reverseBytes(_getUnsignedMedium(index)) >>> Byte.SIZE;
    }

    @Override
    protected int _getInt(int index) {
        int at = index - before();
        if (at < 0) {
            return _getShort(index) << Short.SIZE | _getShort(index + Short.BYTES) & 0xffff;
        }
        int value = bytes.getInt(at);
        read();
        return value;
    }

    @Override
    protected int _getIntLE(int index) {
        return Integer.reverseBytes(_getInt(index));
    }

    @Override
    protected long _getLong(int index) {
        int at = index - before();
        if (at < 0) {
            return (long) _getInt(index) << Integer.SIZE | _getInt(index + Integer.BYTES) & 0xffff_ffffL;
        }
        long value = bytes.getLong(at);
        read();
        return value;
    }

    @Override
    protected long _getLongLE(int index) {
        return Long.reverseBytes(_getLong(index));
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuf target, int targetIndex, int length) {
        checkDstIndex(index, length, targetIndex, target.capacity());
        int at = targetIndex;
        for (ByteBuffer view : nioBuffers(index, length)) {
            int size = view.remaining();
            target.setBytes(at, view);
            at += size;
        }
        read();
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, byte[] target, int targetIndex, int length) {
        checkDstIndex(index, length, targetIndex, target.length);
        return getBytes(index, ByteBuffer.wrap(target, targetIndex, length));
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuffer target) {
        for (ByteBuffer view : nioBuffers(index, target.remaining())) {
            target.put(view);
        }
        read();
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, OutputStream target, int length) throws IOException {
        byte[] bytes = new byte[Math.min(length, 8192)];
        checkIndex(index, length);
        for (int done = 0; done < length; done += bytes.length) {
            int step = Math.min(bytes.length, length - done);
            getBytes(index + done, bytes, 0, step);
            target.write(bytes, 0, step);
        }
        return this;
    }

    @Override
    public int getBytes(int index, GatheringByteChannel target, int length) throws IOException {
        return Math.toIntExact(target.write(nioBuffers(index, length)));
    }

    @Override
    public int getBytes(int index, FileChannel target, long position, int length) throws IOException {
        int written = 0;
        for (ByteBuffer view : nioBuffers(index, length)) {
            while (view.hasRemaining()) {
                written += target.write(view, position + written);
            }
        }
        return written;
    }

    @Override
    public ByteBuf copy(int index, int length) {
        checkIndex(index, length);
        ByteBuf copy = alloc().directBuffer(length, maxCapacity());
        try {
            getBytes(index, copy.writerIndex(length), 0, length);
            return copy;
        } catch (Throwable failure) {
            copy.release();
            throw failure;
        }
    }

    /// Looks again, after a read of memory that may be another buffer's by now.
    private void read() {
        if (reused) {
            // acquire: Generation 1, with the bytes in place of the stamp; deallocate changes it before the
            // handle is closed
            VarHandle.acquireFence();
            if (bytes == FREED) {
                throw new IllegalReferenceCountException(0);
            }
        }
    }

    @Override
    public int nioBufferCount() {
        return (before() > 0 ? 1 : 0) + bytes.regionCount();
    }

    /// A view; of bytes that lie in several regions a copy, as of Netty's own buffers of several parts.
    @Override
    public ByteBuffer nioBuffer(int index, int length) {
        IoVec all = bytes;
        if (before() == 0 && all.regionCount() == 1) {
            checkIndex(index, length);
            return view(0, all.region(0), index, length);
        }
        ByteBuffer[] views = nioBuffers(index, length);
        if (views.length == 1) {
            return views[0];
        }
        ByteBuffer whole = ByteBuffer.allocate(length);
        for (ByteBuffer view : views) {
            whole.put(view);
        }
        read();
        return whole.flip().asReadOnlyBuffer();
    }

    /// A fresh one, as [#nioBuffer]: parts of one buffer may be written by several threads.
    @Override
    public ByteBuffer internalNioBuffer(int index, int length) {
        return nioBuffer(index, length);
    }

    /// Fresh ones, of the regions that the range lies in.
    @Override
    public ByteBuffer[] nioBuffers(int index, int length) {
        checkIndex(index, length);
        IoVec all = bytes;
        int headed = Math.clamp(before() - (long) index, 0, length);
        long from = (long) index + headed - before();
        long rest = length - headed;
        int first = rest == 0 ? 0 : all.regionAt(from);
        int regions = rest == 0 ? 0 : all.regionAt(from + rest - 1) - first + 1;
        int extra = headed > 0 || rest == 0 ? 1 : 0;
        ByteBuffer[] views = new ByteBuffer[extra + regions];
        if (extra > 0) {
            views[0] = headed > 0 ? viewBefore(index, headed) : NOTHING.duplicate();
        }
        for (int i = 0; i < regions; i++) {
            MemorySegment region = all.region(first + i);
            long skip = Math.max(0, from - all.regionStart(first + i));
            long size = Math.min(rest, region.byteSize() - skip);
            views[extra + i] = view(first + i, region, skip, size);
            rest -= size;
        }
        return views;
    }

    /// A fresh view of a part of a region.
    ByteBuffer view(int number, MemorySegment region, long skip, long size) {
        return (size == region.byteSize() ? region : region.asSlice(skip, size)).asByteBuffer();
    }

    @Override
    public boolean hasArray() {
        return false;
    }

    @Override
    public byte[] array() {
        throw new UnsupportedOperationException("no array behind a sealed region");
    }

    @Override
    public int arrayOffset() {
        throw new UnsupportedOperationException("no array behind a sealed region");
    }

    /// No address is given away: what reads by it could not be told that the memory is gone.
    @Override
    public boolean hasMemoryAddress() {
        return false;
    }

    @Override
    public long memoryAddress() {
        throw new UnsupportedOperationException("the address of a sealed region is not given away");
    }

    @Override
    protected void _setByte(int index, int value) {
        throw new ReadOnlyBufferException();
    }

    @Override
    protected void _setShort(int index, int value) {
        throw new ReadOnlyBufferException();
    }

    @Override
    protected void _setShortLE(int index, int value) {
        throw new ReadOnlyBufferException();
    }

    @Override
    protected void _setMedium(int index, int value) {
        throw new ReadOnlyBufferException();
    }

    @Override
    protected void _setMediumLE(int index, int value) {
        throw new ReadOnlyBufferException();
    }

    @Override
    protected void _setInt(int index, int value) {
        throw new ReadOnlyBufferException();
    }

    @Override
    protected void _setIntLE(int index, int value) {
        throw new ReadOnlyBufferException();
    }

    @Override
    protected void _setLong(int index, long value) {
        throw new ReadOnlyBufferException();
    }

    @Override
    protected void _setLongLE(int index, long value) {
        throw new ReadOnlyBufferException();
    }

    @Override
    public ByteBuf setBytes(int index, ByteBuf source, int sourceIndex, int length) {
        throw new ReadOnlyBufferException();
    }

    @Override
    public ByteBuf setBytes(int index, byte[] source, int sourceIndex, int length) {
        throw new ReadOnlyBufferException();
    }

    @Override
    public ByteBuf setBytes(int index, ByteBuffer source) {
        throw new ReadOnlyBufferException();
    }

    @Override
    public int setBytes(int index, InputStream source, int length) {
        throw new ReadOnlyBufferException();
    }

    @Override
    public int setBytes(int index, ScatteringByteChannel source, int length) {
        throw new ReadOnlyBufferException();
    }

    @Override
    public int setBytes(int index, FileChannel source, long position, int length) {
        throw new ReadOnlyBufferException();
    }
}
