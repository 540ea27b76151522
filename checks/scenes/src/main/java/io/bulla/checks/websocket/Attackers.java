// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.websocket;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.Deflater;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/// Clients that do not keep to the protocol, each with a socket of its own.
final class Attackers implements AutoCloseable {

    private static final String HANDSHAKE = "GET /attack HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
            + "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
    private static final String EVENTS = "GET /events/attack HTTP/1.1\r\nHost: localhost\r\n\r\n";
    private static final String DEFLATE = "Sec-WebSocket-Extensions: permessage-deflate";
    private static final int VANISH = 200;
    private static final int PATIENCE_MILLIS = 120_000;

    /// What one does once it is connected.
    @FunctionalInterface
    private interface Attack {
        void on(Socket socket) throws IOException;
    }

    private final int port;
    private final @Nullable SSLSocketFactory tls;
    private final List<Socket> open = new ArrayList<>();

    /// @param tls of clients, or `null` if the server has none
    Attackers(int port, @Nullable SSLSocketFactory tls) {
        this.port = port;
        this.tls = tls;
    }

    /// Attacks in turn, and leaves those open that stay as they are.
    ///
    /// @return how many connections it were
    int run() throws IOException {
        int count = 0;
        for (Map.Entry<String, Attack> each : attacks().entrySet()) {
            attack(each.getKey(), each.getValue(), secured(connect()));
            count++;
        }
        if (tls != null) {
            attack("no TLS", socket -> afterWords(socket, HANDSHAKE + "\r\n"), connect());
            attack("half a record of TLS", socket -> say(socket, "\u0016\u0003\u0001\u0002\u0000\u0001"), connect());
            count += 2;
        }
        for (int i = 0; i < VANISH; i++) {
            Socket plain = connect();
            shake(secured(plain), "");
            // a reset in place of a FIN
            plain.setSoLinger(true, 0);
            plain.close();
            count++;
        }
        return count;
    }

    private static void attack(String name, Attack attack, Socket socket) {
        try {
            attack.on(socket);
        } catch (SocketTimeoutException stays) {
            throw new AssertionError("not ended by the server: attack=[" + name + "]", stays);
        } catch (IOException ended) {
            // the server was faster
        }
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(PATIENCE_MILLIS);
        open.add(socket);
        return socket;
    }

    private Socket secured(Socket plain) throws IOException {
        return tls == null ? plain : tls.createSocket(plain, "localhost", port, true);
    }

    private static Map<String, Attack> attacks() {
        Map<String, Attack> attacks = new LinkedHashMap<>();
        attacks.put("reads nothing", socket -> shake(socket, ""));
        attacks.put("reads nothing, compressed", socket -> shake(socket, DEFLATE + "\r\n"));
        attacks.put("half a handshake", socket -> say(socket, HANDSHAKE.substring(0, 60)));
        attacks.put("no HTTP", socket -> say(socket, "\u0000\u0001\u0002 hello\r\n\r\n"));
        for (String bits : List.of("8", "9", "12", "15", "7", "16", "0", "x", "", "99999999999")) {
            attacks.put("server bits " + bits, socket -> shakeAndLeave(socket, "; server_max_window_bits=" + bits));
            attacks.put("client bits " + bits, socket -> shakeAndLeave(socket, "; client_max_window_bits=" + bits));
        }
        attacks.put("unknown parameter", socket -> shakeAndLeave(socket, "; colour=red"));
        attacks.put(
                "a parameter twice",
                socket -> shakeAndLeave(socket, "; client_max_window_bits=9; client_max_window_bits=15"));
        attacks.put("two offers", socket -> shakeAndLeave(socket, "; server_max_window_bits=9, permessage-deflate"));
        attacks.put("without a mask", socket -> afterHandshake(socket, 0x81, 0x02, 'h', 'i'));
        attacks.put("a reserved bit", socket -> afterHandshake(socket, 0xA1, 0x80, 0, 0, 0, 0));
        attacks.put("an unknown opcode", socket -> afterHandshake(socket, 0x83, 0x80, 0, 0, 0, 0));
        attacks.put("a long ping", socket -> afterHandshake(socket, 0x89, 0xFE, 0x7F, 0xFF, 0, 0, 0, 0));
        attacks.put(
                "a length of 2^63",
                socket ->
                        afterHandshake(socket, 0x82, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0));
        attacks.put(
                "a close, then more", socket -> afterHandshake(socket, 0x88, 0x80, 0, 0, 0, 0, 0x81, 0x80, 0, 0, 0, 0));
        attacks.put("a bomb", Attackers::bomb);
        attacks.put("events, reads nothing", socket -> ask(socket, EVENTS));
        attacks.put("events, says more", socket -> {
            ask(socket, EVENTS);
            afterWords(socket, EVENTS);
        });
        attacks.put("events, asks twice at once", socket -> afterWords(socket, EVENTS + EVENTS));
        attacks.put("events, posts", socket -> afterWords(socket, EVENTS.replace("GET", "POST")));
        attacks.put("events, of HTTP/1.0", socket -> afterWords(socket, EVENTS.replace("1.1", "1.0")));
        return attacks;
    }

    private static void shakeAndLeave(Socket socket, String parameters) throws IOException {
        shake(socket, DEFLATE + parameters + "\r\n");
        socket.close();
    }

    private static void afterHandshake(Socket socket, int... bytes) throws IOException {
        shake(socket, "");
        OutputStream out = socket.getOutputStream();
        for (int each : bytes) {
            out.write(each);
        }
        out.flush();
        awaitEnd(socket);
    }

    private static void afterWords(Socket socket, String words) throws IOException {
        say(socket, words);
        awaitEnd(socket);
    }

    /// A message that is small, and large once it is decompressed.
    private static void bomb(Socket socket) throws IOException {
        shake(socket, DEFLATE + "\r\n");
        Deflater deflater = new Deflater(9, true);
        deflater.setInput(new byte[64 << 20]);
        byte[] step = new byte[1 << 16];
        ByteArrayOutputStream small = new ByteArrayOutputStream();
        for (int n = deflater.deflate(step, 0, step.length, Deflater.SYNC_FLUSH);
                n > 0;
                n = deflater.deflate(step, 0, step.length, Deflater.SYNC_FLUSH)) {
            small.write(step, 0, n);
        }
        deflater.end();
        int length = Math.min(small.size(), 60_000);
        OutputStream out = socket.getOutputStream();
        out.write(new byte[] {(byte) 0xC2, (byte) 0xFE, (byte) (length >> 8), (byte) length, 0, 0, 0, 0});
        out.write(small.toByteArray(), 0, length);
        out.flush();
        awaitEnd(socket);
    }

    private static void say(Socket socket, String words) throws IOException {
        socket.getOutputStream().write(words.getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
    }

    private static void shake(Socket socket, String header) throws IOException {
        ask(socket, HANDSHAKE + header + "\r\n");
    }

    private static void ask(Socket socket, String words) throws IOException {
        say(socket, words);
        InputStream in = socket.getInputStream();
        StringBuilder answer = new StringBuilder();
        while (answer.indexOf("\r\n\r\n") < 0) {
            int read = in.read();
            if (read < 0) {
                throw new IOException("no answer: " + answer);
            }
            answer.append((char) read);
        }
    }

    private static void awaitEnd(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        while (in.read() >= 0) {
            // until the server ends it
        }
    }

    @Override
    public void close() throws IOException {
        for (Socket each : open) {
            each.close();
        }
    }
}
