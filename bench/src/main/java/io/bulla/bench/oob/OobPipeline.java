// SPDX-License-Identifier: Apache-2.0
package io.bulla.bench.oob;

import com.sun.management.ThreadMXBean;
import io.bulla.buffer.ArenaSource;
import io.bulla.buffer.MemoryBudget;
import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.MessageHandler;
import io.bulla.runtime.oob.OobNode;
import io.bulla.runtime.oob.SendOptions;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

/// Messages from one node to another, each acknowledged, so many on their way at a time.
///
/// Arguments: bytes of a message; `plain` or `tls`; who sends, `loop`, a message for each that completes, or
/// `thread`, a thread that waits for room; and what is printed for each message: `time`, nanoseconds; `sender`,
/// the bytes that were allocated on the heap by the sending thread and the sender's event loop; `all`, by all
/// threads of the JVM, both nodes'; `back`, the bytes that the receiver writes, which are acknowledgements and
/// credit; where they land, a [LandingPlace]; and `onLoop`, if the receiver's handler runs on its event loop.
public final class OobPipeline {

    private static final int TAG = 1;

    private final LongAdder completed = new LongAdder();
    private final OobNode from;
    private final SealedBuffer message;
    private final BytesBack back;
    // of the thread that sends; a measurement that reads it late has not begun
    private volatile Thread sender;

    private OobPipeline(OobNode from, SealedBuffer message, BytesBack back) {
        this.from = from;
        this.message = message;
        this.back = back;
    }

    public static void main(String[] args) throws Exception {
        Pipeline shape = Pipeline.of(args[0], args[1]);
        LongAdder handled = new LongAdder();
        BytesBack back = new BytesBack();
        try (ArenaSource source = ArenaSource.create(MemoryBudget.unlimited(), null);
                TrialJob trial = TrialJob.of(2);
                Job job = Job.start(2, LandingPlace.of(args[4], source), (rank, node) -> {
                    node.queuePerPeer(shape.depth(), Long.MAX_VALUE >>> 24);
                    node.queueInAll(shape.depth(), Long.MAX_VALUE >>> 24);
                    if (shape.secure()) {
                        node.security(trial.security(rank));
                    } else if (args[3].equals("back")) {
                        node.security(back);
                    }
                });
                SealedBuffer message = Job.message(source, shape.bytes())) {
            MessageHandler handler = received -> handled.increment();
            boolean onLoop = args.length > 5 && args[5].equals("onLoop");
            job.node(1).receive(TAG, onLoop ? MessageHandler.onLoop(handler) : handler);
            OobPipeline pipeline = new OobPipeline(job.node(0), message, back);
            if (args[2].equals("loop")) {
                for (int i = 0; i < shape.depth(); i++) {
                    pipeline.sendAndAgain();
                }
                System.out.println(Pipeline.nanosPerMessage(pipeline.completed::sum));
            } else {
                pipeline.sender = Thread.ofPlatform().daemon().start(pipeline::sendAlways);
                System.out.println(Pipeline.measure(handled::sum, pipeline.meter(args[3], job.loopOf(0))));
            }
            // in full flight: what stands behind is not reached
            trial.close();
            System.exit(0);
        }
    }

    /// On the event loop, but for the first ones.
    private void sendAndAgain() {
        from.send(1, TAG, message).whenComplete((delivery, failure) -> {
            completed.increment();
            sendAndAgain();
        });
    }

    private void sendAlways() {
        while (true) {
            if (from.trySend(1, TAG, message, SendOptions.DEFAULT).isEmpty()) {
                from.room(1).toCompletableFuture().join();
            }
        }
    }

    private LongSupplier meter(String what, Thread loop) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return switch (what) {
            case "time" -> System::nanoTime;
            case "back" -> back::bytes;
            case "all" -> threads::getTotalThreadAllocatedBytes;
            case "sender" -> {
                long[] ids = LongStream.of(sender.threadId(), loop.threadId()).toArray();
                yield () -> Arrays.stream(threads.getThreadAllocatedBytes(ids)).sum();
            }
            default -> throw new IllegalArgumentException("no such meter: what=" + what);
        };
    }
}
