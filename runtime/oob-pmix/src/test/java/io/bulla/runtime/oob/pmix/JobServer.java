// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.pmix;

import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.BufferBuilder;
import io.bulla.buffer.SealedBuffer;
import io.bulla.pack.Packer;
import io.bulla.pack.WireFormat;
import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Kval;
import io.bulla.pack.value.Proc;
import io.bulla.pack.value.Value;
import io.bulla.runtime.pmix.PmixEnvironment;
import io.bulla.runtime.pmix.PmixServer;
import io.bulla.runtime.pmix.PmixStatus;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The server of a job with one process that is there. It says yes to all that it is asked, and knows no key.
final class JobServer implements AutoCloseable {

    private static final Proc SELF = new Proc("job", 0);
    private static final int HEADER = 16;
    private static final Pattern OPTION = Pattern.compile("pmix\\.(immediate|timeout)");
    private static final byte[] SUCCESS = packed(items -> items.pack(DataType.STATUS, 0));
    private static final byte INIT = 0;
    private static final byte GET = 4;
    private static final byte NOTIFY = 12;
    private static final byte REGISTER_EVENTS = 13;
    private static final byte DEREGISTER_EVENTS = 14;

    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Consumer<String> asked;
    private final int size;
    private final String peers;
    private final List<String> gets = new CopyOnWriteArrayList<>();
    private final AtomicInteger registered = new AtomicInteger();
    // the server's thread's: of a wish for events that is not answered yet; else 0
    private int wish;
    private volatile boolean slowWithEvents;
    private volatile OutputStream out;
    private volatile Socket socket;

    /// @param asked told of each request, on the server's thread; what it throws ends the connection
    JobServer(Consumer<String> asked) throws IOException {
        this(asked, 1, "0");
    }

    /// @param size processes of the job
    /// @param peers ranks of this host, with commas between them
    JobServer(Consumer<String> asked, int size, String peers) throws IOException {
        this.asked = asked;
        this.size = size;
        this.peers = peers;
        Thread.ofVirtual().start(this::serve);
    }

    PmixEnvironment environment() {
        return new PmixEnvironment(
                SELF,
                new PmixServer(
                        "server.0", new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.getLocalPort())),
                "v41",
                WireFormat.PMIX_4,
                "4.2.2");
    }

    /// How it was asked for keys: the name of the option, each time.
    List<String> gets() {
        return gets;
    }

    /// From now on a wish for events is answered when the next request has come.
    void answerEventsLate() {
        slowWithEvents = true;
    }

    /// Says that a process has lost its connection.
    void gone() throws IOException {
        send(
                0,
                packed(items -> items.pack(DataType.COMMAND, NOTIFY)
                        .pack(DataType.STATUS, PmixStatus.LOST_CONNECTION.code())
                        .pack(SELF)
                        .pack(DataType.SIZE, 0L)));
    }

    /// Waits until listeners have been taken back.
    ///
    /// @param lost whether there is no connection to say so on
    /// @return those that are registered all the same
    int awaitNoListener(BooleanSupplier lost) {
        for (int i = 0; i < 2_000 && registered.get() > 0 && !lost.getAsBoolean(); i++) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
        return lost.getAsBoolean() ? 0 : registered.get();
    }

    private static byte[] packed(Consumer<Packer> items) {
        try (ArenaSource memory = ArenaSource.create();
                BufferBuilder builder = BufferBuilder.create(memory)) {
            items.accept(Packer.into(builder, WireFormat.PMIX_4));
            try (SealedBuffer bytes = builder.seal()) {
                return bytes.toByteArray();
            }
        }
    }

    private void serve() {
        while (!listener.isClosed()) {
            try (Socket accepted = listener.accept()) {
                socket = accepted;
                out = accepted.getOutputStream();
                talk(new DataInputStream(accepted.getInputStream()));
            } catch (IOException | RuntimeException | Error over) {
                // the next one
            }
        }
    }

    private void talk(DataInputStream in) throws IOException {
        byte[] head = in.readNBytes(HEADER);
        in.readNBytes(ByteBuffer.wrap(head).order(ByteOrder.nativeOrder()).getInt(8));
        out.write(new byte[] {0, 0, 0, 0, 0, 0, 0, 1});
        while (true) {
            in.readInt();
            int tag = in.readInt();
            byte[] body = new byte[in.readInt()];
            in.readInt();
            in.readFully(body);
            byte command = body[1];
            if (command == GET) {
                Matcher option = OPTION.matcher(new String(body, StandardCharsets.ISO_8859_1));
                gets.add(option.find() ? option.group() : "none");
            }
            asked.accept("PmixServer.asked");
            answer(tag, command);
            asked.accept("PmixServer.answered");
        }
    }

    private void answer(int tag, byte command) throws IOException {
        if (wish != 0) {
            send(wish, SUCCESS);
            wish = 0;
        }
        switch (command) {
            case INIT ->
                send(
                        tag,
                        packed(items -> items.packString(SELF.namespace())
                                .pack(new Kval("pmix.job.size", new Value(DataType.UINT32, size)))
                                .pack(new Kval("pmix.lpeers", Value.of(peers)))));
            case GET -> send(tag, packed(items -> items.pack(DataType.STATUS, PmixStatus.NOT_FOUND.code())));
            case DEREGISTER_EVENTS -> registered.decrementAndGet();
            case REGISTER_EVENTS -> {
                registered.incrementAndGet();
                if (slowWithEvents) {
                    wish = tag;
                } else {
                    send(tag, SUCCESS);
                }
            }
            default -> send(tag, SUCCESS);
        }
    }

    private synchronized void send(int tag, byte[] body) throws IOException {
        out.write(ByteBuffer.allocate(HEADER + body.length)
                .putInt(0)
                .putInt(tag)
                .putInt(body.length)
                .putInt(0)
                .put(body)
                .array());
        out.flush();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        if (socket != null) {
            socket.close();
        }
    }
}
