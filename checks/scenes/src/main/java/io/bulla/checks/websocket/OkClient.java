// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.websocket;

import java.net.URI;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.X509TrustManager;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import okhttp3.WebSocket;
import okhttp3.WebSocketListener;
import org.jspecify.annotations.Nullable;

/// OkHttp's client, which offers permessage-deflate.
final class OkClient extends WebSocketListener {

    private final Reading reading;

    private OkClient(Reading reading) {
        this.reading = reading;
    }

    /// @param trust of the server's certificate
    static Reading connect(URI server, SSLContext trust, X509TrustManager manager, Texts texts) {
        Reading reading = new Reading("okhttp", texts);
        OkHttpClient client = new OkHttpClient.Builder()
                .sslSocketFactory(trust.getSocketFactory(), manager)
                .hostnameVerifier((host, session) -> true)
                .readTimeout(0, TimeUnit.SECONDS)
                .build();
        Request request = new Request.Builder()
                .url(server.toString().replaceFirst("^ws", "http"))
                .build();
        client.newWebSocket(request, new OkClient(reading));
        return reading;
    }

    @Override
    public void onMessage(WebSocket from, String text) {
        reading.read(text, true);
    }

    @Override
    public void onClosing(WebSocket from, int code, String reason) {
        from.close(code, null);
        reading.over();
    }

    @Override
    public void onFailure(WebSocket from, Throwable failure, @Nullable Response answer) {
        System.out.println("okhttp: " + failure);
        reading.over();
    }
}
