// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.websocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.websocket.Events.Event;
import io.bulla.refcount.LeaseTally;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The bytes of events, as a browser reads them.
class ServerSentEventsTest {

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource memory = ArenaSource.builder().trace(handles).build();
    private final ServerSentEvents events = new ServerSentEvents(memory);

    @AfterEach
    void nothingIsOpen() {
        assertEquals(0, handles.open());
    }

    private static String wire(SealedBuffer event) {
        try (event) {
            return event.toString(StandardCharsets.ISO_8859_1);
        }
    }

    private SealedBuffer regions(String... parts) {
        SealedBuffer[] all = new SealedBuffer[parts.length];
        for (int i = 0; i < parts.length; i++) {
            try (BufferBuilder builder = BufferBuilder.create(memory)) {
                all[i] = builder.putString(parts[i], StandardCharsets.UTF_8).seal();
            }
        }
        SealedBuffer joined = SealedBuffer.concat(all);
        for (SealedBuffer each : all) {
            each.close();
        }
        return joined;
    }

    @Test
    void eventIsOneChunk() {
        assertEquals("d\r\ndata: hello\n\n\r\n", wire(events.event("hello")));
        assertEquals("24\r\nid: 7\nevent: price\ndata: 1\ndata: 2\n\n\r\n", wire(events.event("7", "price", "1\r\n2")));
        assertEquals("8\r\ndata: \n\n\r\n", wire(events.event("")));
        assertEquals("9\r\n: alive\n\n\r\n", wire(events.comment("alive")));
        assertEquals("d\r\nretry: 1500\n\n\r\n", wire(events.retry(Duration.ofMillis(1500))));
    }

    @Test
    void eachLineBreakArrivesAsALineFeed() {
        String[] breaks = {"\r\n", "\n", "\r"};
        Random random = new Random(1);
        for (int run = 0; run < 500; run++) {
            StringBuilder text = new StringBuilder();
            StringBuilder wanted = new StringBuilder();
            for (int i = random.nextInt(12); i > 0; i--) {
                String line = "ä:" + " x".repeat(random.nextInt(3));
                String end = breaks[random.nextInt(3)];
                text.append(line).append(end);
                wanted.append(line).append('\n');
            }
            Event wants = new Event("message", wanted.toString(), "" + run);
            String wire = wire(events.event("" + run, null, text.toString()));
            assertEquals(List.of(wants), Events.parsed(Events.payload(wire)));
        }
    }

    @Test
    void lineBreakThatARegionsEndCutsIsOne() {
        try (SealedBuffer data = regions("a\r", "\nb", "", "\r", "\r\n", "c")) {
            String wire = wire(events.event("1", "n", data));
            assertEquals(List.of(new Event("n", "a\nb\n\nc", "1")), Events.parsed(Events.payload(wire)));
        }
    }

    @Test
    void whatWouldBreakTheStreamIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> events.event("1\n2", null, "x"));
        assertThrows(IllegalArgumentException.class, () -> events.event("1\r", null, "x"));
        assertThrows(IllegalArgumentException.class, () -> events.event("1\0", null, "x"));
        assertThrows(IllegalArgumentException.class, () -> events.event(null, "a\ndata: b", "x"));
        assertThrows(IllegalArgumentException.class, () -> events.event("half \ud800"));
        assertThrows(IllegalArgumentException.class, () -> events.event("half \ud800", null, "x"));
        assertThrows(IllegalArgumentException.class, () -> events.retry(Duration.ofMillis(-1)));
        try (BufferBuilder builder = BufferBuilder.create(memory);
                SealedBuffer wrong = builder.put((byte) 0xc3, (byte) 0x28).seal()) {
            assertThrows(IllegalArgumentException.class, () -> events.event(null, null, wrong));
        }
    }
}
