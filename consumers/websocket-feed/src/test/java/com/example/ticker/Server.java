// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The program that is checked, in a process of its own, as a user starts it. */
final class Server implements AutoCloseable {

    private static final int PATIENCE_SECONDS = 300;

    private final HttpClient http = HttpClient.newHttpClient();
    private final Process process;
    private final BufferedReader said;
    private final String address;
    private volatile Object figures;

    Server(int clients) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/java");
        // as this one was started
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of(
                "-cp", System.getProperty("java.class.path"), WebSocketFeed.class.getName(),
                "--port", "0", "--clients", "" + clients));
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        said = process.inputReader();
        String line = said.readLine();
        if (line == null) {
            throw new IOException("the server does not start: exit=" + process.waitFor());
        }
        address = line.replaceAll(".*(http://[^/]*)/.*", "$1");
        Thread.ofPlatform().daemon().start(this::read);
    }

    String address() {
        return address;
    }

    private void read() {
        try {
            http.send(request("/figures").build(), HttpResponse.BodyHandlers.ofLines()).body()
                    .filter(line -> line.startsWith("data: {"))
                    .forEach(line -> figures = Json.read(line.substring(6)));
        } catch (IOException | UncheckedIOException | InterruptedException e) {
            // closed
        }
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(address + path));
    }

    /** As the page does. */
    void post(String path, int wanted) throws Exception {
        HttpRequest request = request(path)
                .header("Origin", address)
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        int status = http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        Await.check(status == wanted, "POST " + path + ": status=" + status);
    }

    /** What another page in the same browser could try. */
    void refusesOutsiders() throws Exception {
        HttpRequest request = request("/mode/plain")
                .header("Origin", "http://example.org")
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        int status = http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        Await.check(status == 403, "another origin may change the server: status=" + status);
    }

    String mode() {
        return (String) Json.at(figures, "mode");
    }

    long others(String what) {
        return Json.at(figures, "others", what) instanceof Double number ? number.longValue() : -1;
    }

    /** Waits until all other clients are there in a mode, and have got so many messages each since, none wrong. */
    void awaitOthers(String mode, int clients, int messages) throws Exception {
        Await.until("all clients are connected: " + mode, PATIENCE_SECONDS, () ->
                mode.equals(mode()) && others("open") == clients);
        long before = others("received");
        Await.until("all clients get messages: " + mode, PATIENCE_SECONDS, () ->
                others("received") >= before + (long) clients * messages);
        Await.check(others("wrong") == 0, "clients got wrong messages: " + mode + " wrong=" + others("wrong"));
    }

    /** Ends it as Ctrl-C does. @return the last that it says */
    String stop() throws Exception {
        // not of the Process, which would close what it says
        process.toHandle().destroy();
        String last = "";
        for (String line = said.readLine(); line != null; line = said.readLine()) {
            last = line;
        }
        Await.check(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "the server does not end");
        return last;
    }

    @Override
    public void close() {
        http.shutdownNow();
        process.destroyForcibly();
    }
}
