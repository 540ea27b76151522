// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix.internal.wire;

/// The command of a request to the server, or of an event from it: its first item.
///
/// Source of the numbers: PMIx 4.2, `pmix_globals.h`, `pmix_cmd_t`.
public enum Command {
    INIT(0),
    ABORT(1),
    COMMIT(2),
    FENCE(3),
    GET(4),
    FINALIZE(5),
    PUBLISH(6),
    LOOKUP(7),
    UNPUBLISH(8),
    NOTIFY(12),
    REGISTER_EVENTS(13),
    DEREGISTER_EVENTS(14);

    private final byte code;

    Command(int code) {
        this.code = (byte) code;
    }

    public byte code() {
        return code;
    }

    /// For messages.
    public String text() {
        return name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
    }
}
