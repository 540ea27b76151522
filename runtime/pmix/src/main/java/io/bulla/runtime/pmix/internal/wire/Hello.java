// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.wire;

import io.bulla.pack.value.Proc;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/// The first thing that a client says.
///
/// ```
/// header       -1, -1, length of the rest, 0: four times 32 bits in this machine's byte order
/// security     text, its terminating zero included, as all text here
/// credential   32 bits length, then user and group id in this machine's byte order
/// kind         one byte: 0, a client
/// name space   text, then 32 bits rank
/// version      text; wire module, text; one byte: 1, or 2 if items are described; store, text
/// ```
///
/// What is not said to be in this machine's order is big-endian. Source: PMIx 4.2, `ptl_base_fns.c`,
/// `construct_message`, and captured bytes.
public final class Hello {

    /// The user that a client claims to be; over TCP nothing proves it.
    public static final String SECURITY = "native";
    /// The store without shared memory.
    public static final String STORE = "hash";
    /// The version that a client names; servers take any of 4 and later.
    public static final String VERSION = "4.2.2";

    private Hello() {}

    /// @param proc who says it
    /// @param wireModule name of the bytes that follow
    /// @param described whether items carry their types
    public static ByteBuffer of(Proc proc, String wireModule, boolean described, UserIds ids) {
        byte[] security = text(SECURITY);
        byte[] namespace = text(proc.namespace());
        byte[] version = text(VERSION);
        byte[] module = text(wireModule);
        byte[] store = text(STORE);
        int length =
                security.length + 4 + 8 + 1 + namespace.length + 4 + version.length + module.length + 1 + store.length;
        ByteBuffer hello = ByteBuffer.allocate(Header.BYTES + length).order(ByteOrder.nativeOrder());
        hello.putInt(-1).putInt(-1).putInt(length).putInt(0);
        hello.put(security);
        hello.order(ByteOrder.BIG_ENDIAN).putInt(8);
        hello.order(ByteOrder.nativeOrder()).putInt(ids.user()).putInt(ids.group());
        hello.put((byte) 0).put(namespace);
        hello.order(ByteOrder.BIG_ENDIAN).putInt(proc.rank());
        hello.put(version).put(module);
        hello.put((byte) (described ? 2 : 1)).put(store);
        return hello.flip();
    }

    private static byte[] text(String text) {
        return (text + "\0").getBytes(StandardCharsets.UTF_8);
    }
}
