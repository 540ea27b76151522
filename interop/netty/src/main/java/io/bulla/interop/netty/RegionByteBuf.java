// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.netty;

import io.bulla.refcount.SendTicket;
import io.netty.buffer.AbstractReferenceCountedByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import org.jspecify.annotations.Nullable;

/// One sealed region as Netty sees it: read-only, and one event of the send's ticket once it has no holder.
///
/// The count is the region's own, not that of the message it goes out in: Netty and its users keep parts of a
/// message after they released the message, and what they keep has to keep the memory.
final class RegionByteBuf extends AbstractReferenceCountedByteBuf {

    private static final ByteBuffer FREED = ByteBuffer.allocate(0).asReadOnlyBuffer();

    private final SendTicket ticket;
    private final boolean reused;
    // plain: who reads beside the last release looks again, in `read`
    private ByteBuffer view;

    /// @param view read-only and big-endian, from its position to its limit
    /// @param ticket told when the region has no holder any more
    /// @param reused whether the memory may be another buffer's after that
    RegionByteBuf(ByteBuffer view, SendTicket ticket, boolean reused) {
        super(view.remaining());
        this.view = view.position() == 0 ? view : view.slice();
        this.ticket = ticket;
        this.reused = reused;
        setIndex(0, maxCapacity());
    }

    @Override
    protected void deallocate() {
        // also for those who have switched Netty's own check off
        view = FREED;
        ticket.happened();
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
        return view.isDirect();
    }

    @Override
    public boolean isContiguous() {
        return true;
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
        byte value = view.get(index);
        read();
        return value;
    }

    @Override
    protected short _getShort(int index) {
        short value = view.getShort(index);
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
        int value = view.getInt(index);
        read();
        return value;
    }

    @Override
    protected int _getIntLE(int index) {
        return Integer.reverseBytes(_getInt(index));
    }

    @Override
    protected long _getLong(int index) {
        long value = view.getLong(index);
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
        target.setBytes(targetIndex, nioBuffer(index, length));
        read();
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, byte[] target, int targetIndex, int length) {
        checkDstIndex(index, length, targetIndex, target.length);
        view.get(index, target, targetIndex, length);
        read();
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuffer target) {
        target.put(nioBuffer(index, target.remaining()));
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
        return target.write(nioBuffer(index, length));
    }

    @Override
    public int getBytes(int index, FileChannel target, long position, int length) throws IOException {
        return target.write(nioBuffer(index, length), position);
    }

    @Override
    public ByteBuf copy(int index, int length) {
        ByteBuffer bytes = nioBuffer(index, length);
        ByteBuf copy = alloc().directBuffer(length, maxCapacity());
        try {
            copy.writeBytes(bytes);
            read();
            return copy;
        } catch (Throwable failure) {
            copy.release();
            throw failure;
        }
    }

    /// Looks again, after a read of memory that may be another buffer's by now.
    private void read() {
        if (reused) {
            // acquire: Generation 1, with the view in place of the stamp; deallocate changes it before the
            // handle is closed
            VarHandle.acquireFence();
            if (view == FREED) {
                throw new IllegalReferenceCountException(0);
            }
        }
    }

    @Override
    public int nioBufferCount() {
        return 1;
    }

    @Override
    public ByteBuffer nioBuffer(int index, int length) {
        checkIndex(index, length);
        return view.slice(index, length);
    }

    /// A fresh one, as [#nioBuffer]: parts of one region may be written by several threads.
    @Override
    public ByteBuffer internalNioBuffer(int index, int length) {
        return nioBuffer(index, length);
    }

    @Override
    public ByteBuffer[] nioBuffers(int index, int length) {
        return new ByteBuffer[] {nioBuffer(index, length)};
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
