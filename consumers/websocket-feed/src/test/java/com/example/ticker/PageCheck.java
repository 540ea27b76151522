// SPDX-License-Identifier: Apache-2.0
package com.example.ticker;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.ImageOutputStream;

/**
 * The whole program in each way of sending, with clients in another process, and with its page in a headless Chromium
 * where there is one.
 *
 * <p>java PageCheck [CLIENTS [MESSAGES]]: of each way, the page has to agree with the server on compression, and get
 * so many messages in order, before and after the server drops its connection, without a word in its console.
 *
 * <p>java PageCheck --picture FILE [CLIENTS [SECONDS]]: a picture of the page, after so many seconds of each way; what
 * each cost is printed. --dark: as for who likes it so.
 */
public final class PageCheck {

    private static final int PATIENCE_SECONDS = 120;
    // what Chromium and the server agree on
    private static final Map<String, String> EXTENSIONS = Map.of(
            "plain", "permessage-deflate",
            "shared", "",
            "deflate", "permessage-deflate;server_no_context_takeover");

    private final int clients;
    private final int messages;

    private PageCheck(int clients, int messages) {
        this.clients = clients;
        this.messages = messages;
    }

    public static void main(String[] args) {
        List<String> words = new ArrayList<>(List.of(args));
        boolean isRight = false;
        try {
            boolean isDark = words.remove("--dark");
            if (words.remove("--picture")) {
                Path file = Path.of(words.removeFirst());
                new PageCheck(number(words, 0, 1000), 0).picture(file, isDark, number(words, 1, 60));
                isRight = true;
            } else {
                isRight = new PageCheck(number(words, 0, 200), number(words, 1, 20)).check();
            }
        } catch (Exception failure) {
            System.out.println("websocket-feed: " + failure);
        }
        System.exit(isRight ? 0 : 1);
    }

    private static int number(List<String> words, int index, int otherwise) {
        return index < words.size() ? Integer.parseInt(words.get(index)) : otherwise;
    }

    private boolean check() throws Exception {
        Traffic traffic = new Traffic();
        String last;
        String how = "skipped, needs chromium";
        // tried, not only looked for
        try (Server server = new Server(clients);
                Chromium page = Chromium.start(traffic::on).orElse(null)) {
            server.refusesOutsiders();
            server.post("/mode/none", 404);
            if (page == null) {
                checkOthers(server);
            } else {
                checkPage(server, page, traffic);
                // or it would find no server
                page.close();
                how = "chromium";
            }
            last = server.stop();
        }
        List<String> wrong = traffic.wrong();
        wrong.stream().limit(10).forEach(each -> System.out.println("websocket-feed: wrong: " + each));
        boolean isRight = wrong.isEmpty() && last.equals("websocket-feed: wrong=0 handles-open=0");
        System.out.println("websocket feed, plain, shared, deflate: clients=" + clients + " page=" + how
                + (isRight ? " right " : " WRONG ") + last.replaceAll(".*(handles-open=\\d+)$", "$1"));
        return isRight;
    }

    private void checkOthers(Server server) throws Exception {
        for (Mode mode : Mode.values()) {
            server.post("/mode/" + mode.word(), 204);
            server.awaitOthers(mode.word(), clients, messages);
            server.post("/drop", 204);
            server.awaitOthers(mode.word(), clients, messages);
        }
    }

    private void checkPage(Server server, Chromium page, Traffic traffic) throws Exception {
        open(page, server);
        for (Mode mode : Mode.values()) {
            page.evaluate("document.querySelector('input[value=" + mode.word() + "]').click()");
            server.awaitOthers(mode.word(), clients, messages);
            awaitMessages(page, traffic, mode);
            Traffic.Socket before = traffic.current();
            page.evaluate("document.getElementById('drop').click()");
            Await.until("the connection is dropped", PATIENCE_SECONDS, () -> before.closed);
            awaitMessages(page, traffic, mode);
            server.awaitOthers(mode.word(), clients, messages);
        }
        checkTable(page);
        long wrong = count(page, "wrong");
        Await.check(wrong == 0, "the page counts wrong messages: wrong=" + wrong);
        Await.check(count(page, "received") <= traffic.messages(), "the page counts more than the browser");
    }

    private static void open(Chromium page, Server server) throws Exception {
        for (String domain : List.of("Page", "Network", "Runtime", "Log")) {
            page.call(domain + ".enable", "{}");
        }
        page.call("Page.navigate", "{\"url\":" + Json.quote(server.address() + "/") + "}");
        Await.until("the page is there", PATIENCE_SECONDS, () ->
                Boolean.TRUE.equals(page.evaluate("document.readyState === 'complete' && !!window.feed")));
    }

    /** On a connection of this mode: as the browser says it, and as the page does. */
    private void awaitMessages(Chromium page, Traffic traffic, Mode mode) throws Exception {
        String wanted = EXTENSIONS.get(mode.word());
        Await.until("the page agrees on '" + wanted + "' and gets messages: " + mode, PATIENCE_SECONDS, () -> {
            Traffic.Socket socket = traffic.current();
            return socket != null
                    && !socket.closed
                    && wanted.equals(socket.extensions)
                    && socket.messages >= messages;
        });
        Await.until("the page counts as the browser does: " + mode, PATIENCE_SECONDS, () ->
                Boolean.TRUE.equals(page.evaluate("feed.open && feed.mode === '" + mode.word() + "' && "
                        + "feed.extensions.replaceAll(' ', '') === '" + wanted + "' && feed.received >= " + messages)));
    }

    /** All instruments have a price, few rows are there for them, and they can be sorted, filtered and scrolled to. */
    private static void checkTable(Chromium page) throws Exception {
        Await.check(
                Boolean.TRUE.equals(page.evaluate("price.every((each) => each > 0) && pool.length < 100")),
                "the table is not full, or has too many rows");
        page.evaluate("document.getElementById('rows').scrollTop = 1e9");
        awaitText(page, "the last row is shown", "UTL 99");
        page.evaluate("document.querySelector('[data-by=name]').click()");
        page.evaluate("document.getElementById('rows').scrollTop = 0");
        awaitText(page, "the rows are turned round", "UTL 99");
        page.evaluate("document.getElementById('filter').value = 'fin 0';"
                + "document.getElementById('filter').dispatchEvent(new Event('input'))");
        Await.until("ten rows are left", PATIENCE_SECONDS, () ->
                Double.valueOf(10).equals(page.evaluate("pool.filter((each) => !each.hidden).length")));
    }

    private static void awaitText(Chromium page, String what, String text) throws Exception {
        Await.until(what, PATIENCE_SECONDS, () -> Boolean.TRUE.equals(page.evaluate(
                "pool.some((each) => !each.hidden && each.innerText.startsWith(" + Json.quote(text) + "))")));
    }

    private static long count(Chromium page, String counter) {
        return ((Double) page.evaluate("feed." + counter)).longValue();
    }

    private void picture(Path file, boolean isDark, int seconds) throws Exception {
        try (Server server = new Server(clients);
                Chromium page = Chromium.start(new Traffic()::on)
                        .orElseThrow(() -> new IllegalStateException("a picture needs chromium"))) {
            page.call("Emulation.setDeviceMetricsOverride",
                    "{\"width\":1280,\"height\":860,\"deviceScaleFactor\":1,\"mobile\":false}");
            page.call("Emulation.setEmulatedMedia", "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\""
                    + (isDark ? "dark" : "light") + "\"}]}");
            open(page, server);
            for (Mode mode : Mode.values()) {
                page.evaluate("document.querySelector('input[value=" + mode.word() + "]').click()");
                server.awaitOthers(mode.word(), clients, 1);
                Thread.sleep(1000L * seconds);
                System.out.println(mode.word() + ": " + page.evaluate("JSON.stringify({...costOf('" + mode.word()
                        + "'), heap: figures.at(-1).heap, resident: figures.at(-1).resident, sent: figures.at(-1).sent,"
                        + " missed: figures.at(-1).missed, wrong: figures.at(-1).others.wrong})"));
            }
            Object shot = page.call("Page.captureScreenshot", "{\"format\":\"png\"}");
            write(Base64.getDecoder().decode((String) Json.at(shot, "data")), file);
            System.out.println("picture: file=" + file + " bytes=" + Files.size(file));
            server.stop();
        }
    }

    /** Chromium packs a picture fast, and not small. */
    private static void write(byte[] png, Path file) throws IOException {
        BufferedImage picture = ImageIO.read(new ByteArrayInputStream(png));
        BufferedImage opaque = new BufferedImage(picture.getWidth(), picture.getHeight(), BufferedImage.TYPE_INT_RGB);
        opaque.createGraphics().drawImage(picture, 0, 0, null);
        ImageWriter writer = ImageIO.getImageWritersByFormatName("png").next();
        ImageWriteParam small = writer.getDefaultWriteParam();
        small.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
        small.setCompressionQuality(0);
        try (OutputStream to = Files.newOutputStream(file);
                ImageOutputStream out = ImageIO.createImageOutputStream(to)) {
            writer.setOutput(out);
            writer.write(null, new IIOImage(opaque, null, null), small);
        }
        writer.dispose();
    }
}
