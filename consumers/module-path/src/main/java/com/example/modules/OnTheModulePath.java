package com.example.modules;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.posix.MemfdSource;
import io.bulla.pack.Packer;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;

/** Packs into memory that the kernel seals: for that the JVM needs a flag, and says which if it is missing. */
public class OnTheModulePath {
    public static void main(String[] args) {
        try (BufferBuilder builder = BufferBuilder.create(MemfdSource.create())) {
            Packer.into(builder, WireFormat.OPAL_DSS).packString("module path").packInt32(1, 2, 3);
            try (SealedBuffer message = builder.seal()) {
                Unpacker unpacker = Unpacker.of(message, WireFormat.OPAL_DSS);
                System.out.println(unpacker.unpackString() + ": " + unpacker.unpackInt32s().length + " values");
            }
        } catch (UnsupportedOperationException refused) {
            System.err.println(refused.getMessage());
            System.exit(1);
        }
    }
}
