// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.refcount.LeaseTally;
import java.io.IOException;
import java.net.BindException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A feed of quotes that browsers listen to, with a page that shows what each way of sending costs the server.
 *
 * <p>java WebSocketFeed [--clients N] [--port P] [--mode plain|shared|deflate]
 */
public final class WebSocketFeed {

    private static final int PATIENCE_SECONDS = 20;

    private final LeaseTally handles = new LeaseTally();
    private final ArenaSource memory = ArenaSource.create(MemoryBudget.ofProcess(), handles);
    private final ClientProcess clients;
    private final Ticker ticker;
    private final Figures figures;
    private final FeedServer server;

    private WebSocketFeed(Options options) throws IOException {
        clients = new ClientProcess(options.clients());
        ticker = new Ticker(memory, options.mode());
        figures = new Figures(memory, ticker, clients);
        server = new FeedServer(options.port(), ticker, figures);
    }

    public static void main(String[] args) throws IOException {
        if (List.of(args).contains("--help")) {
            System.out.println("websocket-feed " + Options.USAGE);
            return;
        }
        WebSocketFeed feed;
        Options options;
        try {
            options = Options.of(args);
            options.checkDescriptors();
        } catch (IllegalArgumentException wrong) {
            System.err.println("websocket-feed: " + wrong.getMessage() + "; --help lists the options");
            System.exit(2);
            return;
        }
        try {
            feed = new WebSocketFeed(options);
        } catch (BindException inUse) {
            System.err.println("websocket-feed: cannot listen: port=" + options.port() + ": " + inUse.getMessage()
                    + "; --port 0 takes a free one");
            System.exit(1);
            return;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(feed::stop, "stop"));
        feed.start(options);
    }

    private void start(Options options) throws IOException {
        ticker.start();
        figures.start();
        clients.start(server.port());
        System.out.println("websocket-feed: http://127.0.0.1:" + server.port() + "/ with " + options.clients()
                + " other clients; Ctrl-C ends it");
    }

    /** In the order of what comes in: no new clients, no new messages, no threads; then nothing is open. */
    private void stop() {
        server.stopListening();
        clients.close();
        ticker.close();
        figures.close();
        server.close();
        System.out.println("websocket-feed: wrong=" + clients.wrong() + " handles-open=" + awaitHandles());
        memory.close();
    }

    private long awaitHandles() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (handles.open() > 0 && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        return handles.open();
    }
}
