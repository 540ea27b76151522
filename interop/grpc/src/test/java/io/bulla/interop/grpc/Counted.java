// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.grpc.MethodDescriptor.Marshaller;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicInteger;

/// A marshaller without anything of ours, which counts what gRPC does with its streams.
final class Counted implements Marshaller<byte[]> {

    final AtomicInteger opened = new AtomicInteger();
    final AtomicInteger closed = new AtomicInteger();

    @Override
    public InputStream stream(byte[] value) {
        opened.incrementAndGet();
        return new ByteArrayInputStream(value) {
            @Override
            public void close() {
                closed.incrementAndGet();
            }
        };
    }

    @Override
    public byte[] parse(InputStream stream) {
        try {
            return stream.readAllBytes();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
