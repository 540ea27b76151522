// SPDX-License-Identifier: Apache-2.0
package org.apache.arrow.flight;

import io.grpc.Drainable;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.message.IpcOption;

/// What `ServerStreamListener.putNext` does for each stream: Flight shows it to its own package only.
public final class FlightMessages {

    private final Marshaller<ArrowMessage> marshaller;

    public FlightMessages(BufferAllocator allocator) {
        marshaller = ArrowMessage.createMarshaller(allocator);
    }

    /// @return what gRPC drains
    public InputStream next(VectorSchemaRoot root) {
        ArrowMessage message = new ArrowMessage(
                new VectorUnloader(root, true, true).getRecordBatch(),
                null,
                ArrowMessage.ENABLE_ZERO_COPY_WRITE,
                IpcOption.DEFAULT);
        return new Owned(marshaller.stream(message), message);
    }

    /// Lets go of the vectors with the stream.
    private static final class Owned extends FilterInputStream implements Drainable {

        private final ArrowMessage message;

        Owned(InputStream stream, ArrowMessage message) {
            super(stream);
            this.message = message;
        }

        @Override
        public int drainTo(OutputStream target) throws IOException {
            return ((Drainable) in).drainTo(target);
        }

        @Override
        public void close() throws IOException {
            super.close();
            try {
                message.close();
            } catch (Exception failure) {
                throw new IOException(failure);
            }
        }
    }
}
