// SPDX-License-Identifier: Apache-2.0
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.netty.SealedWrite;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;

/** Packs, shares, and writes to a Netty channel, with no flag to the JVM. */
public class OnTheClassPath {
    public static void main(String[] args) {
        try (ArenaSource memory = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.create(memory)) {
            Packer.into(builder, WireFormat.PMIX_4).packString("class path").packInt32(1, 2, 3);
            try (SealedBuffer message = builder.seal()) {
                EmbeddedChannel channel = new EmbeddedChannel();
                SealedWrite.share(channel, Unpooled.EMPTY_BUFFER, message);
                Unpacker unpacker = Unpacker.of(message, WireFormat.PMIX_4);
                System.out.println(unpacker.unpackString() + ": " + unpacker.unpackInt32s().length + " values");
                channel.finishAndReleaseAll();
            }
        }
    }
}
