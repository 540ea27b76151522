// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.websocket;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.concurrent.CompletionStage;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/// The JDK's client, which knows no extension.
final class JdkClient implements WebSocket.Listener {

    private final Reading reading;

    private JdkClient(Reading reading) {
        this.reading = reading;
    }

    /// @param trust of the server's certificate
    static Reading connect(URI server, SSLContext trust, Texts texts) {
        Reading reading = new Reading("jdk", texts);
        HttpClient.newBuilder()
                .sslContext(trust)
                .build()
                .newWebSocketBuilder()
                .buildAsync(server, new JdkClient(reading))
                .join();
        return reading;
    }

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
        reading.read(data, last);
        from.request(1);
        return null;
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket from, int status, String reason) {
        reading.over();
        return null;
    }

    @Override
    public void onError(WebSocket from, Throwable failure) {
        System.out.println("jdk: " + failure);
        reading.over();
    }
}
