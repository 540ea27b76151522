// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.bulla.runtime.oob.topology.PeersFile;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PeersFileTest {

    @TempDir
    private Path folder;

    @Test
    void linesInAnyOrderWithCommentsAndBrackets() throws IOException {
        Path file = Files.writeString(
                folder.resolve("peers"),
                "# a job\n\n2 [::1]:7002 # the last\n0   127.0.0.1:7000\n\t1 127.0.0.2:7001\n");
        PeersFile peers = PeersFile.read(file);
        assertEquals(3, peers.size());
        assertEquals(new InetSocketAddress("127.0.0.2", 7001), peers.addressOf(1));
        assertEquals(new InetSocketAddress("::1", 7002), peers.addressOf(2));
        assertThrows(IllegalArgumentException.class, () -> peers.addressOf(3));
    }

    @Test
    void whatIsWrittenIsReadAgain() throws IOException {
        PeersFile peers = PeersFile.of(List.of(new InetSocketAddress("127.0.0.1", 1), new InetSocketAddress("::1", 2)));
        assertEquals(List.of("0 127.0.0.1:1", "1 [0:0:0:0:0:0:0:1]:2"), peers.lines());
        assertEquals(peers.lines(), PeersFile.parse("again", peers.lines()).lines());
    }

    @Test
    void mistakesNameFileAndLine() {
        refused("not a rank and host:port: file=p line=2", "0 127.0.0.1:1", "1 127.0.0.1");
        refused("not a rank and host:port: file=p line=1", "127.0.0.1:1");
        refused("not a rank and host:port: file=p line=1", "-1 127.0.0.1:1");
        refused("not a rank and host:port: file=p line=1", "0 ::1:7000");
        refused("rank or port is outside: rank=0 port=65536: file=p line=1", "0 127.0.0.1:65536");
        refused("rank or port is outside: rank=999999999 port=1: file=p line=1", "999999999 127.0.0.1:1");
        refused("rank is there twice: rank=0: file=p line=3", "0 127.0.0.1:1", "", "0 127.0.0.1:2");
        refused("rank is missing: file=p rank=1 nodes=3", "0 127.0.0.1:1", "2 127.0.0.1:2");
        refused("no node in the peers file: file=p", "# no node");
        refused("unknown host: host=no-such-host.invalid: file=p line=1", "0 no-such-host.invalid:1");
    }

    @Test
    void fileThatIsNotOneIsNamed() throws IOException {
        Path none = folder.resolve("none");
        assertEquals(
                "no such peers file: file=" + none,
                assertThrows(IOException.class, () -> PeersFile.read(none)).getMessage());
        Path binary = Files.write(folder.resolve("binary"), new byte[] {(byte) 0xff, (byte) 0xfe});
        assertEquals(
                "not a peers file, its bytes are not UTF-8: file=" + binary,
                assertThrows(IOException.class, () -> PeersFile.read(binary)).getMessage());
    }

    private static void refused(String message, String... lines) {
        assertEquals(
                message,
                assertThrows(IOException.class, () -> PeersFile.parse("p", List.of(lines)))
                        .getMessage());
    }
}
