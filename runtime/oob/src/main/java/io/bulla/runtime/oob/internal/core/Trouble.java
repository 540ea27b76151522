// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.core;

/// What fails and is only logged. No literal at its place: the first use of one takes heap, and where there is none
/// it would throw in the very handler that keeps a loop alive.
public enum Trouble {
    BROADCASTS_NOT_CLOSED("broadcasts were not closed"),
    BROADCASTS_OF_CUT("broadcasts of the cut were not ended"),
    BROADCAST_NOT_LET_GO("broadcast was not let go", "tag"),
    BROADCAST_OF_TAG("broadcast failed", "tag"),
    BROADCAST_TO_CHILD("broadcast failed", "child"),
    CLOSE_DOES_NOT_WAIT("close does not wait"),
    CLOSE_OF_PEER("close failed", "peer"),
    CONNECTIONS_NOT_CLOSED("connections were not closed"),
    CUT_NOT_ENDED("cut was not ended"),
    END_OF_CUT("cut is over", "peer"),
    HANDLER("handler failed"),
    HANDLERS_NOT_ENDED("handlers were not ended"),
    HANDLERS_NOT_WAITED_FOR("handlers were not waited for"),
    HANDLER_NOT_GIVEN_UP("handler not given up", "tag"),
    HANDLER_OF_TAG("handler failed", "tag"),
    LATE_SENDS("sends that came too late were not failed"),
    LENDING_NOT_ENDED("lending was not ended"),
    LINE_NOT_CLOSED("line was not closed"),
    LISTENER("listener failed"),
    LOOP_GOES_ON("event loop goes on after a failure"),
    LOOP_NOT_ENDED("event loop was not ended"),
    LOOP_NOT_WOKEN("loop was not woken"),
    MEMORY_OF_PEER("memory of a peer was not given back"),
    NOTICE_OF_PEER("notice failed", "peer"),
    NO_HANDLER_THREAD("no thread for the handlers, tried again"),
    PEERS_NOT_CLOSED("peers were not closed"),
    PORT_NOT_CLOSED("port was not closed"),
    REFUSALS_NOT_SAID("refusals were not said"),
    RELEASE("release failed"),
    RELEASE_OF_TAG("release failed", "tag"),
    RESUME_OF_PEER("resume failed", "peer"),
    ROUTING("routing failed", "of"),
    ROUTING_AGAIN("routing failed again", "of"),
    ROUTING_OF_ORIGIN("routing failed", "origin"),
    SEND("send failed", "tag"),
    SENDS_NOT_TAKEN("sends were not taken"),
    SEND_NOT_ENDED("send was not ended", "tag"),
    SUSPENSION_NOT_ENDED("suspension was not ended"),
    TICK("tick failed"),
    TICKS_NOT_ENDED("ticks were not ended"),
    TICK_OF_PEER("tick failed", "peer"),
    WAITERS_NOT_TOLD("those that wait for room were not told"),
    WATCH("watch failed"),
    WRITING_TO_PEER("writing failed", "peer");

    private final String text;
    private final String number;

    Trouble(String text) {
        this(text, "");
    }

    /// @param number what its number is, such as a peer
    Trouble(String text, String number) {
        this.text = text;
        this.number = number;
    }

    /// Initializes this class.
    static void load() {
        // being called is enough
    }

    String text() {
        return text;
    }

    String number() {
        return number;
    }
}
