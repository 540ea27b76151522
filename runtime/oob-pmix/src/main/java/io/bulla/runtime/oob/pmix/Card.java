// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Envelope;
import io.bulla.pack.Limits;
import io.bulla.pack.Packer;
import io.bulla.pack.UnpackException;
import io.bulla.pack.Unpacker;
import io.bulla.pack.WireFormat;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a node publishes of itself under [#KEY]: a byte object, which is an envelope of
///
/// ```
/// INT32 version 1 | INT64 life | STRING address | INT32 port, as many | STRING fingerprint | BYTE_OBJECT secret
/// ```
///
/// in described OPAL DSS. Addresses are numbers, no names. What is behind these items is a later version's, and
/// ignored.
///
/// @param secret empty if there is none
record Card(long life, List<InetSocketAddress> addresses, String fingerprint, byte[] secret) {

    static final String KEY = "bulla.oob";

    /// Bytes of a string, its terminating zero not counted.
    static final int MOST_STRING = 511;

    private static final WireFormat FORMAT = WireFormat.OPAL_DSS_DESCRIBED;
    private static final int VERSION = 1;
    private static final int MOST_BYTES = 64 << 10;
    private static final int MOST_ADDRESSES = 64;
    private static final Limits LIMITS = new Limits(MOST_ADDRESSES, MOST_STRING + 1);
    private static final String NUMBERS = "[0-9a-fA-F:.]+(%[0-9A-Za-z._-]+)?";

    byte[] pack() {
        try (ArenaSource memory = ArenaSource.builder().chunkBytes(MOST_BYTES).build();
                BufferBuilder builder = BufferBuilder.create(memory)) {
            Packer.into(builder, FORMAT)
                    .packInt32(VERSION)
                    .packInt64(life)
                    .packStrings(addresses.stream()
                            .map(address -> withoutZone(address.getAddress().getHostAddress()))
                            .toArray(String[]::new))
                    .packInt32(addresses.stream()
                            .mapToInt(InetSocketAddress::getPort)
                            .toArray())
                    .packString(fingerprint)
                    .packByteObject(secret);
            try (SealedBuffer items = builder.seal();
                    SealedBuffer whole = Envelope.wrap(memory, FORMAT, items)) {
                return bytes(whole.iovec());
            }
        }
    }

    /// @throws IOException if it is not the card of a node
    static Card unpack(byte[] bytes) throws IOException {
        if (bytes.length > MOST_BYTES) {
            throw new IOException("card of a node is too long: bytes=" + bytes.length + " most=" + MOST_BYTES);
        }
        // where they are: a rank reads the cards of all others as it joins
        try (SealedBuffer whole = SealedBuffer.adopt(MemorySegment.ofArray(bytes), () -> {})) {
            Envelope envelope = Envelope.of(whole, MOST_BYTES);
            WireFormat format = envelope.format().orElseThrow(() -> new IOException("card of a node has no format"));
            try (SealedBuffer items = envelope.items(whole)) {
                return read(Unpacker.of(items, format, LIMITS));
            }
        } catch (UnpackException | IllegalArgumentException wrong) {
            throw new IOException("not the card of a node: " + wrong.getMessage(), wrong);
        }
    }

    private static Card read(Unpacker items) throws IOException {
        int version = items.unpackInt32();
        if (version < VERSION) {
            throw new IOException("not the card of a node: version=" + version);
        }
        long life = items.unpackInt64();
        @Nullable String[] hosts = items.unpackStrings();
        int[] ports = items.unpackInt32s();
        if (hosts.length != ports.length) {
            throw new IOException("not the card of a node: addresses=" + hosts.length + " ports=" + ports.length);
        }
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (int i = 0; i < hosts.length; i++) {
            addresses.add(address(hosts[i], ports[i]));
        }
        String fingerprint = items.unpackString();
        return new Card(life, addresses, fingerprint == null ? "" : fingerprint, bytes(items.unpackByteObject()));
    }

    static InetSocketAddress address(@Nullable String host, int port) throws IOException {
        if (host == null || !host.matches(NUMBERS) || port < 1 || port > 0xffff) {
            throw new IOException("not an address on the card of a node: host=" + host + " port=" + port);
        }
        try {
            // numbers, so no name is looked up
            return new InetSocketAddress(InetAddress.ofLiteral(withoutZone(host)), port);
        } catch (IllegalArgumentException notNumbers) {
            throw new IOException("not an address on the card of a node: host=" + host + " port=" + port, notNumbers);
        }
    }

    /// A zone is an interface of the host that publishes the card, and none of the reader's.
    private static String withoutZone(String host) {
        int zone = host.indexOf('%');
        return zone < 0 ? host : host.substring(0, zone);
    }

    private static byte[] bytes(IoVec vec) {
        byte[] bytes = new byte[Math.toIntExact(vec.byteSize())];
        vec.copyTo(0, MemorySegment.ofArray(bytes), bytes.length);
        return bytes;
    }
}
