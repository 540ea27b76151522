// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.bulla.pack.value.Proc;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What nodes publish of themselves.
class CardTest {

    private static final List<InetSocketAddress> ADDRESSES = List.of(
            new InetSocketAddress("192.0.2.7", 4000),
            new InetSocketAddress("2001:db8::1", 4000),
            new InetSocketAddress("127.0.0.1", 4000));
    private static final Card CARD = new Card(-7, ADDRESSES, "ab12", new byte[] {1, 2, 3});

    @Test
    void comesOutAsItWentIn() throws IOException {
        Card back = Card.unpack(CARD.pack());
        assertEquals(-7, back.life());
        assertEquals(ADDRESSES, back.addresses());
        assertEquals("ab12", back.fingerprint());
        assertArrayEquals(new byte[] {1, 2, 3}, back.secret());
    }

    @Test
    void fingerprintThatNoNodeWouldReadIsRefused() throws IOException {
        assertEquals(
                "fingerprint is too long: bytes=512 most=511",
                assertThrows(IllegalArgumentException.class, () -> MeetOptions.DEFAULT.showing("é".repeat(256)))
                        .getMessage());
        String longest = MeetOptions.DEFAULT.showing("é".repeat(255) + "e").fingerprint();
        assertEquals(
                longest,
                Card.unpack(new Card(1, ADDRESSES, longest, new byte[0]).pack()).fingerprint());
    }

    @Test
    void cutOrFlippedAnywhereIsRefused() {
        byte[] whole = CARD.pack();
        for (int i = 0; i < whole.length; i++) {
            byte[] cut = Arrays.copyOf(whole, i);
            assertThrows(IOException.class, () -> Card.unpack(cut));
            byte[] flipped = whole.clone();
            flipped[i] ^= 4;
            assertThrows(IOException.class, () -> Card.unpack(flipped));
        }
        assertThrows(IOException.class, () -> Card.unpack(new byte[1 << 20]));
    }

    @Test
    void namesThatWouldBeLookedUpAreRefused() {
        Card named = new Card(1, ADDRESSES, "", new byte[0]);
        byte[] packed = named.pack();
        assertTrue(new String(packed, StandardCharsets.ISO_8859_1).contains("192.0.2.7"));
        String text = assertThrows(IOException.class, () -> Card.address("host.example", 1))
                .getMessage();
        assertEquals("not an address on the card of a node: host=host.example port=1", text);
        assertThrows(IOException.class, () -> Card.address("192.0.2.7", 0));
    }

    @Test
    void numbersThatAreNamesAreNotLookedUp() {
        assertEquals(
                "not an address on the card of a node: host=cafe.de port=1",
                assertThrows(IOException.class, () -> Card.address("cafe.de", 1))
                        .getMessage());
    }

    @Test
    void zonesAreOfTheHostThatPublishesThem() throws Exception {
        byte[] raw = InetAddress.ofLiteral("2001:db8::7").getAddress();
        InetSocketAddress scoped = new InetSocketAddress(Inet6Address.getByAddress(null, raw, 5), 4000);
        Card back = Card.unpack(new Card(1, List.of(scoped), "", new byte[0]).pack());
        assertEquals(
                "2001:db8:0:0:0:0:0:7", back.addresses().getFirst().getAddress().getHostAddress());
        assertEquals(new InetSocketAddress("2001:db8::7", 4000), Card.address("2001:db8::7%nosuchif0", 4000));
    }

    @Test
    void loopbackIsForTheSameHostAlone() {
        assertEquals(ADDRESSES.getLast(), Candidates.seenFrom(true, ADDRESSES).getFirst());
        assertEquals(ADDRESSES.subList(0, 2), Candidates.seenFrom(false, ADDRESSES));
    }

    @Test
    void theDirectoryHasAllAddresses() {
        MemberDirectory directory = new MemberDirectory(List.of(new Member(0, new Proc("job", 3), 1, ADDRESSES, "")));
        assertEquals(ADDRESSES, directory.addressesOf(0));
        assertEquals(ADDRESSES.getFirst(), directory.addressOf(0));
        directory.set(new Member(0, new Proc("job", 3), 2, List.of(), ""));
        assertEquals(List.of(), directory.addressesOf(0));
        assertEquals(null, directory.addressOf(0));
    }
}
