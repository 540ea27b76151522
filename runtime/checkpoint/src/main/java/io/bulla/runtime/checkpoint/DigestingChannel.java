// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.checkpoint;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.security.MessageDigest;
import java.util.HexFormat;

/// Digests what is read, and knows where it is.
final class DigestingChannel implements ReadableByteChannel {

    private final ReadableByteChannel in;
    private final MessageDigest digest = Digests.sha256();
    private long position;

    DigestingChannel(ReadableByteChannel in) {
        this.in = in;
    }

    long position() {
        return position;
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        ByteBuffer taken = into.duplicate();
        int read = in.read(into);
        if (read > 0) {
            digest.update(taken.limit(taken.position() + read));
            position += read;
        }
        return read;
    }

    /// @return bytes to read
    ByteBuffer readFully(int bytes) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(bytes);
        while (all.hasRemaining()) {
            if (read(all) < 0) {
                throw new EOFException("file ends early");
            }
        }
        return all.flip();
    }

    boolean isAtEnd() throws IOException {
        return read(ByteBuffer.allocate(1)) < 0;
    }

    /// Once.
    String sha256() {
        return HexFormat.of().formatHex(digest.digest());
    }

    @Override
    public boolean isOpen() {
        return in.isOpen();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
