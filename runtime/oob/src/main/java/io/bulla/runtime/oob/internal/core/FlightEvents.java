// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.core;

import io.bulla.buffer.internal.FlightGate;
import io.bulla.runtime.oob.Message;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/// What the JDK's flight recorder is told, when it records: `bulla.Send`, `bulla.Receive`, `bulla.PeerFailed`,
/// `bulla.HandlerBlocksLoop`.
///
/// Without the module `jdk.jfr`, or without a recording, nothing happens here.
public final class FlightEvents {

    private FlightEvents() {}

    /// A send is over: acknowledged, or why not. To be called if the [FlightGate] is open.
    public static void sent(int rank, int peer, int tag, long bytes, int attempts, long ageNanos, String outcome) {
        SendEvent event = new SendEvent();
        if (event.isEnabled()) {
            event.rank = rank;
            event.peer = peer;
            event.tag = tag;
            event.bytes = bytes;
            event.attempts = attempts;
            event.micros = ageNanos / 1_000;
            event.outcome = outcome;
            event.commit();
        }
    }

    public static void received(int rank, int peer, Message message, long bytes) {
        if (FlightGate.isOpen()) {
            ReceiveEvent event = new ReceiveEvent();
            if (event.isEnabled()) {
                event.rank = rank;
                event.peer = peer;
                event.origin = message.origin();
                event.tag = message.tag();
                event.bytes = bytes;
                event.commit();
            }
        }
    }

    public static void failed(int rank, int peer, @Nullable String why) {
        if (FlightGate.isOpen()) {
            FailureEvent event = new FailureEvent();
            if (event.isEnabled()) {
                event.rank = rank;
                event.peer = peer;
                event.why = why;
                event.commit();
            }
        }
    }

    public static void slow(int rank, int tag, long millis) {
        if (FlightGate.isOpen()) {
            BlockedLoopEvent event = new BlockedLoopEvent();
            if (event.isEnabled()) {
                event.rank = rank;
                event.tag = tag;
                event.millis = millis;
                event.commit();
            }
        }
    }

    @Name("bulla.Send")
    @Label("Message Sent")
    @Description("A send is over, acknowledged or not")
    @Category("Bulla")
    @StackTrace(false)
    public static final class SendEvent extends Event {
        @Label("Rank")
        int rank;

        @Label("Peer")
        int peer;

        @Label("Tag")
        int tag;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Attempts")
        int attempts;

        @Label("Microseconds")
        long micros;

        @Label("Outcome")
        @Nullable
        String outcome;
    }

    @Name("bulla.Receive")
    @Label("Message Received")
    @Category("Bulla")
    @StackTrace(false)
    public static final class ReceiveEvent extends Event {
        @Label("Rank")
        int rank;

        @Label("Peer")
        int peer;

        @Label("Origin")
        int origin;

        @Label("Tag")
        int tag;

        @Label("Bytes")
        @DataAmount
        long bytes;
    }

    @Name("bulla.PeerFailed")
    @Label("Peer Failed")
    @Description("The verdict on a peer")
    @Category("Bulla")
    @StackTrace(false)
    public static final class FailureEvent extends Event {
        @Label("Rank")
        int rank;

        @Label("Peer")
        int peer;

        @Label("Why")
        @Nullable
        String why;
    }

    @Name("bulla.HandlerBlocksLoop")
    @Label("Handler Blocks Loop")
    @Description("A handler on the event loop has been running for too long")
    @Category("Bulla")
    @StackTrace(false)
    public static final class BlockedLoopEvent extends Event {
        @Label("Rank")
        int rank;

        @Label("Tag")
        int tag;

        @Label("Milliseconds")
        long millis;
    }
}
