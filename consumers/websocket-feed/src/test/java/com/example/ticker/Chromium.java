// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A tab of a headless Chromium, which is told what to do by the DevTools protocol. */
final class Chromium implements AutoCloseable {

    private static final int PATIENCE_SECONDS = 120;
    // as root its sandbox does not start; nothing is asked of other machines
    private static final List<String> FLAGS = List.of(
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0",
            "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-extensions", "--mute-audio", "--window-size=1280,860");

    private final Process process;
    private final Path profile;
    private final HttpClient http = HttpClient.newHttpClient();
    private final AtomicInteger calls = new AtomicInteger();
    private final Map<Integer, CompletableFuture<Object>> waiting = new ConcurrentHashMap<>();
    private final Consumer<Map<?, ?>> events;
    private final WebSocket tab;

    /**
     * Starts one, if that can be done here.
     *
     * @param events told of each event of the tab, in order, by one thread at a time
     */
    static Optional<Chromium> start(Consumer<Map<?, ?>> events) throws Exception {
        Optional<Path> program = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .flatMap(folder -> Stream.of("chromium", "chromium-browser", "google-chrome")
                        .map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
        try {
            return program.isPresent() ? Optional.of(new Chromium(program.get(), events)) : Optional.empty();
        } catch (IOException doesNotStart) {
            System.err.println("websocket-feed: " + doesNotStart.getMessage());
            return Optional.empty();
        }
    }

    private Chromium(Path program, Consumer<Map<?, ?>> events) throws Exception {
        this.events = events;
        profile = Files.createTempDirectory("chromium");
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(FLAGS);
        command.addAll(List.of("--user-data-dir=" + profile, "about:blank"));
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(profile.resolve("said").toFile())
                .start();
        try {
            tab = http.newWebSocketBuilder()
                    .buildAsync(tabAddress(), new Listener())
                    .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (Throwable failure) {
            close();
            throw failure;
        }
    }

    private URI tabAddress() throws Exception {
        // its first line is the port that it has chosen
        Path said = profile.resolve("DevToolsActivePort");
        Await.until("Chromium listens", PATIENCE_SECONDS, () -> {
            if (!process.isAlive()) {
                throw new IOException("Chromium does not start here: " + lastWords());
            }
            return Files.exists(said) && Files.size(said) > 0;
        });
        String port = Files.readAllLines(said).getFirst();
        URI list = URI.create("http://127.0.0.1:" + port + "/json/list");
        String[] address = new String[1];
        Await.until("Chromium has a tab", PATIENCE_SECONDS, () -> {
            String tabs = http.send(HttpRequest.newBuilder(list).build(), HttpResponse.BodyHandlers.ofString()).body();
            for (Object each : (List<?>) Json.read(tabs)) {
                if ("page".equals(Json.at(each, "type"))) {
                    address[0] = (String) Json.at(each, "webSocketDebuggerUrl");
                }
            }
            return address[0] != null;
        });
        return URI.create(address[0]);
    }

    private String lastWords() throws IOException {
        List<String> lines = Files.readAllLines(profile.resolve("said"));
        return lines.isEmpty() ? "it says nothing" : lines.getLast();
    }

    /** Calls a method of the protocol. Not from within an event. */
    Object call(String method, String parameters) {
        int id = calls.incrementAndGet();
        CompletableFuture<Object> answer = new CompletableFuture<>();
        waiting.put(id, answer);
        synchronized (this) {
            String text = "{\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":" + parameters + "}";
            tab.sendText(text, true).join();
        }
        return answer.orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
    }

    /** Runs a script in the page. */
    Object evaluate(String script) {
        Object answer = call(
                "Runtime.evaluate",
                "{\"returnByValue\":true,\"awaitPromise\":true,\"expression\":" + Json.quote(script) + "}");
        if (Json.at(answer, "exceptionDetails") != null) {
            throw new IllegalStateException("script failed: " + script + ": " + Json.at(answer, "exceptionDetails"));
        }
        return Json.at(answer, "result", "value");
    }

    /** Again is harmless. */
    @Override
    public void close() {
        http.shutdownNow();
        if (!Files.exists(profile)) {
            return;
        }
        try {
            List<ProcessHandle> all = Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
            process.destroy();
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                all.forEach(ProcessHandle::destroyForcibly);
                process.waitFor(10, TimeUnit.SECONDS);
            }
            for (ProcessHandle each : all) {
                each.onExit().orTimeout(10, TimeUnit.SECONDS).exceptionally(late -> each).join();
            }
            deleteProfile();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void deleteProfile() {
        try (Stream<Path> files = Files.walk(profile)) {
            for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (IOException | UncheckedIOException e) {
            // a process of it that is about to end still writes there
            System.err.println("websocket-feed: left behind: folder=" + profile + ": " + e);
        }
    }

    private final class Listener implements WebSocket.Listener {

        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                Map<?, ?> message = (Map<?, ?>) Json.read(text.toString());
                text.setLength(0);
                if (message.get("id") instanceof Double id) {
                    answer(waiting.remove(id.intValue()), message);
                } else {
                    events.accept(message);
                }
            }
            socket.request(1);
            return null;
        }

        private static void answer(CompletableFuture<Object> call, Map<?, ?> message) {
            if (message.get("error") != null) {
                call.completeExceptionally(new IOException("DevTools: " + message.get("error")));
            } else {
                call.complete(message.get("result"));
            }
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            fail(new IOException("Chromium has closed: code=" + code));
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable failure) {
            fail(failure);
        }

        private void fail(Throwable failure) {
            waiting.values().forEach(each -> each.completeExceptionally(failure));
        }
    }
}
