// SPDX-License-Identifier: Apache-2.0
package com.example.modules;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.SealedWrite;
import io.bulla.posix.memfd.MemfdSource;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;

/**
 * Packs into memory that the kernel seals: for that the JVM needs a flag, and says which if it is missing. Then sends it
 * through a channel of Netty's.
 */
public class OnTheModulePath {
    public static void main(String[] args) {
        try (BufferBuilder builder = BufferBuilder.create(MemfdSource.create())) {
            Packer.into(builder, WireFormat.OPAL_DSS).packString("module path").packInt32(1, 2, 3);
            try (SealedBuffer message = builder.seal()) {
                EmbeddedChannel channel = new EmbeddedChannel();
                SealedWrite.share(channel, Unpooled.EMPTY_BUFFER, message);
                ByteBuf sent = channel.readOutbound();
                if (sent.readableBytes() != message.byteSize()) {
                    throw new AssertionError(sent);
                }
                sent.release();
                Unpacker unpacker = Unpacker.of(message, WireFormat.OPAL_DSS);
                System.out.println(unpacker.unpackString() + ": " + unpacker.unpackInt32s().length + " values");
            }
        } catch (UnsupportedOperationException refused) {
            System.err.println(refused.getMessage());
            System.exit(1);
        }
    }
}
