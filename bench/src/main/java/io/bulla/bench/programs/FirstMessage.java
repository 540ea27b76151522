// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.programs;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// The first message of a fresh JVM: packed, sealed, shared and read, the loading of classes included.
///
/// Prints nanoseconds since `main` began. One should see: a plain `ByteBuffer`, whose classes are in the JDK's
/// archive, far in front; Bulla behind it, for its classes and for those of the JDK's foreign memory that it is
/// the first to use; Netty, which looks around for what the machine can, last.
public final class FirstMessage {

    private static final int NUMBER = 42;
    private static final String TEXT = "hello";
    private static final int ROOM = 1024;

    private FirstMessage() {}

    public static void main(String[] args) {
        long start = System.nanoTime();
        boolean read = switch (args[0]) {
            case "bulla" -> bulla();
            case "byte-buffer" -> byteBuffer();
            case "netty" -> netty();
            default -> throw new IllegalArgumentException("no such design: " + args[0]);
        };
        long nanos = System.nanoTime() - start;
        if (!read) {
            throw new IllegalStateException("other bytes were read: design=" + args[0]);
        }
        System.out.println("main nanos=" + nanos);
    }

    private static boolean bulla() {
        try (ArenaSource source = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.ofCapacity(source, ROOM)) {
            Packer.into(builder, WireFormat.OPAL_DSS).packInt32(NUMBER).packString(TEXT);
            try (SealedBuffer sealed = builder.seal();
                    SealedBuffer share = sealed.share()) {
                Unpacker unpacker = Unpacker.of(share, WireFormat.OPAL_DSS);
                return unpacker.unpackInt32() == NUMBER && TEXT.equals(unpacker.unpackString());
            }
        }
    }

    private static boolean byteBuffer() {
        byte[] text = TEXT.getBytes(StandardCharsets.UTF_8);
        ByteBuffer sealed = ByteBuffer.allocateDirect(ROOM)
                .putInt(1)
                .putInt(NUMBER)
                .putInt(1)
                .putInt(text.length + 1)
                .put(text)
                .put((byte) 0)
                .flip()
                .asReadOnlyBuffer();
        ByteBuffer share = sealed.duplicate();
        int count = share.getInt();
        int number = share.getInt();
        count += share.getInt();
        byte[] read = new byte[share.getInt() - 1];
        share.get(read);
        return count == 2 && number == NUMBER && TEXT.equals(new String(read, StandardCharsets.UTF_8));
    }

    private static boolean netty() {
        byte[] text = TEXT.getBytes(StandardCharsets.UTF_8);
        ByteBuf sealed = PooledByteBufAllocator.DEFAULT
                .directBuffer(ROOM)
                .writeInt(1)
                .writeInt(NUMBER)
                .writeInt(1)
                .writeInt(text.length + 1)
                .writeBytes(text)
                .writeByte(0);
        ByteBuf share = sealed.retainedDuplicate();
        int count = share.readInt();
        int number = share.readInt();
        count += share.readInt();
        String read = share.readCharSequence(share.readInt() - 1, StandardCharsets.UTF_8)
                .toString();
        share.release();
        sealed.release();
        return count == 2 && number == NUMBER && TEXT.equals(read);
    }
}
