// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.serializers;

import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import java.io.IOException;

/// One way from an object into a builder, and from a sealed buffer to an object. What `docs/serializers.md` shows of
/// it stands between `// page` and `// end of page`.
interface Serializer<T> {

    /// An object with about so many bytes in it.
    T example(int bytes);

    void write(T object, BufferBuilder builder) throws IOException;

    T read(SealedBuffer message) throws IOException;
}
