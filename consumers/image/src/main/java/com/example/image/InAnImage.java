// SPDX-License-Identifier: Apache-2.0
package com.example.image;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;

/** The four libraries and java.base, nothing else: they need no flag, and jlink takes them as they are. */
public class InAnImage {
    public static void main(String[] args) {
        try (ArenaSource memory = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.create(memory)) {
            Packer.into(builder, WireFormat.PMIX_3).packString("image").packInt32(1, 2, 3);
            try (SealedBuffer message = builder.seal()) {
                Unpacker unpacker = Unpacker.of(message, WireFormat.PMIX_3);
                System.out.println(unpacker.unpackString() + ": " + unpacker.unpackInt32s().length + " values");
            }
        }
    }
}
