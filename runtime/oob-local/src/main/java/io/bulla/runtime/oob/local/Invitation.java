// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.local;

import io.bulla.runtime.oob.LocalMemory;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/// What a node tells a peer that may be of its host, big-endian:
///
/// ```
/// 0 version = 1, 1 byte | 1 token, 8 | 9 length of the boot's name, 1 | boot | path of the lender's socket, UTF-8
/// ```
///
/// @param boot the kernel's name for itself since it was booted: another one is another host. The same says little,
///     for all containers of a host have it
/// @param token how the lender knows which peer a borrower is
/// @param path of the lender's socket
record Invitation(String boot, long token, Path path) {

    private static final byte VERSION = 1;
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");

    /// The kernel's name.
    ///
    /// @throws IOException if it has none
    static String thisBoot() throws IOException {
        return Files.readString(BOOT).strip();
    }

    /// @throws IOException if the path is too long
    byte[] toBytes() throws IOException {
        byte[] name = boot.getBytes(StandardCharsets.UTF_8);
        byte[] socket = path.toString().getBytes(StandardCharsets.UTF_8);
        int bytes = 2 + Long.BYTES + name.length + socket.length;
        if (bytes > LocalMemory.MOST_BYTES) {
            throw new IOException("path is too long: path=" + path);
        }
        return ByteBuffer.allocate(bytes)
                .put(VERSION)
                .putLong(token)
                .put((byte) name.length)
                .put(name)
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
            byte[] name = new byte[in.get() & 0xff];
            in.get(name);
            return new Invitation(
                    new String(name, StandardCharsets.UTF_8),
                    token,
                    Path.of(StandardCharsets.UTF_8.decode(in).toString()));
        } catch (BufferUnderflowException | InvalidPathException wrong) {
            throw new IOException("not an invitation: bytes=" + bytes.length, wrong);
        }
    }
}
