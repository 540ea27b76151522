// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.local;

import io.bulla.runtime.oob.LocalMemory;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/// What a node tells a peer that may be of its host, big-endian:
///
/// ```
/// 0 version = 2, 1 byte | 1 token, 8 | 9 user, 4 | 13 length, 1 | boot | length, 1 | network namespace
/// | path of the lender's socket, UTF-8
/// ```
///
/// @param host where the lender runs
/// @param token how the lender knows which peer a borrower is
/// @param path of the lender's socket
record Invitation(HostId host, long token, Path path) {

    private static final byte VERSION = 2;
    private static final int FIXED = 1 + Long.BYTES + Integer.BYTES + 2;

    /// @throws IOException if the path is too long
    byte[] toBytes() throws IOException {
        byte[] boot = host.boot().getBytes(StandardCharsets.UTF_8);
        byte[] network = host.network().getBytes(StandardCharsets.UTF_8);
        byte[] socket = path.toString().getBytes(StandardCharsets.UTF_8);
        int bytes = FIXED + boot.length + network.length + socket.length;
        if (bytes > LocalMemory.MOST_BYTES) {
            throw new IOException("path is too long: path=" + path);
        }
        return ByteBuffer.allocate(bytes)
                .put(VERSION)
                .putLong(token)
                .putInt(host.user())
                .put((byte) boot.length)
                .put(boot)
                .put((byte) network.length)
                .put(network)
                .put(socket)
                .array();
    }

    /// @throws IOException if these are not one
    static Invitation of(byte[] bytes) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        try {
            byte version = in.get();
            if (version != VERSION) {
                throw new IOException("invitation of another version: version=" + version);
            }
            long token = in.getLong();
            int user = in.getInt();
            String boot = name(in);
            String network = name(in);
            return new Invitation(
                    new HostId(boot, network, user),
                    token,
                    Path.of(visible(StandardCharsets.UTF_8.decode(in).toString())));
        } catch (BufferUnderflowException | InvalidPathException wrong) {
            throw new IOException("not an invitation: bytes=" + bytes.length, wrong);
        }
    }

    private static String name(ByteBuffer in) throws IOException {
        byte[] name = new byte[in.get() & 0xff];
        in.get(name);
        return visible(new String(name, StandardCharsets.UTF_8));
    }

    /// A message quotes it, on a line of a terminal.
    private static String visible(String text) throws IOException {
        int[] hidden = text.codePoints()
                .filter(point -> Character.isISOControl(point) || Character.getType(point) == Character.FORMAT)
                .toArray();
        if (hidden.length > 0) {
            throw new IOException(String.format("not an invitation: control character: u+%04x", hidden[0]));
        }
        return text;
    }
}
