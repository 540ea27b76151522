// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

import io.grpc.MethodDescriptor.Marshaller;
import java.io.InputStream;

/// A call's own view of a marshaller: the call knows each stream that gRPC asks for.
record Watched<T>(Marshaller<T> codec, SentMessages sent) implements Marshaller<T> {

    @Override
    public InputStream stream(T message) {
        return sent.stream(codec, message);
    }

    @Override
    public T parse(InputStream stream) {
        return codec.parse(stream);
    }
}
