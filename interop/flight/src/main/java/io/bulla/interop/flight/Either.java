// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.flight;

import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.grpc.SealedMarshaller;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.InputStream;

/// A method's own messages, and those that are packed already.
record Either<R>(Marshaller<R> own, SealedMarshaller sealed) implements Marshaller<Object> {

    @Override
    public InputStream stream(Object message) {
        if (message instanceof SealedBuffer packed) {
            return sealed.stream(packed);
        }
        @SuppressWarnings("unchecked") // of the method's own handler
        R same = (R) message;
        return own.stream(same);
    }

    @Override
    public Object parse(InputStream stream) {
        return own.parse(stream);
    }
}
