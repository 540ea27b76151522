// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.oob.internal.broadcast;

import io.bulla.buffer.SealedBuffer;
import io.bulla.runtime.oob.SendOptions;
import io.bulla.runtime.oob.internal.core.NodeLog;
import io.bulla.runtime.oob.internal.core.Settings;
import io.bulla.runtime.oob.internal.handlers.HandlerExecutor;
import io.bulla.runtime.oob.internal.session.PendingSend;
import io.bulla.runtime.oob.security.BroadcastSignatures;
import io.bulla.runtime.oob.security.OriginSignatures;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Signs this node's broadcasts, and has those of others checked before their handler runs.
///
/// Signing is the caller's thread's work, checking that of a thread of the node's own, in the order of arrival; the
/// event loop does neither.
public final class OriginChecks {

    private static final Logger LOG = NodeLog.LOG;

    /// A broadcast as its handler gets it.
    ///
    /// @param bytes of the program, in a handle of the receiver's
    /// @param check that the handler waits for, which is not started yet; or `null`
    public record Opened(SealedBuffer bytes, @Nullable OriginCheck check) {}

    private final Settings settings;
    private final OriginCheck.Surround surround;
    private final @Nullable OriginSignatures signatures;
    private final HandlerExecutor thread;
    private final LongAdder refused = new LongAdder();

    OriginChecks(Settings settings, OriginCheck.Surround surround) {
        this.settings = settings;
        this.surround = surround;
        this.signatures = settings.signatures() == BroadcastSignatures.NONE
                ? null
                : settings.security().originSignatures().orElse(null);
        this.thread = new HandlerExecutor(
                "bulla-origin-check", settings.rank(), settings.environment().threads());
    }

    /// Whether this node signs.
    public boolean signs() {
        return signatures != null;
    }

    /// Bytes with this node's signature behind them. On the caller's thread.
    ///
    /// @param bytes stay the caller's
    /// @return a handle of the caller's
    /// @throws IOException that says why they cannot be signed
    public SealedBuffer sign(BroadcastKey key, int tag, SendOptions options, SealedBuffer bytes) throws IOException {
        OriginSignatures signing = Objects.requireNonNull(signatures, "signatures");
        byte[] signature = signing.sign(SignedBytes.statement(key, tag, PendingSend.markOf(options), bytes));
        if (signature.length > OriginSignatures.MOST_BYTES) {
            throw new IOException(
                    "signature over the limit: bytes=" + signature.length + " most=" + OriginSignatures.MOST_BYTES);
        }
        return SignedBytes.join(bytes, signature, settings.source());
    }

    /// Looks at a broadcast that is not signed.
    ///
    /// @throws IOException that says why it is refused
    void checkUnsigned() throws IOException {
        if (settings.signatures() == BroadcastSignatures.REQUIRE) {
            throw new IOException("broadcast is not signed");
        }
    }

    /// Looks at a broadcast that is signed.
    ///
    /// @param whole with the signature; stays the caller's
    /// @param told on the loop, why it is refused; nothing: it is genuine
    /// @throws IOException that says why it is refused at once
    Opened open(BroadcastKey key, int tag, SendOptions options, SealedBuffer whole, Consumer<Optional<String>> told)
            throws IOException {
        byte[] signature = SignedBytes.signature(whole);
        SealedBuffer bytes = SignedBytes.bytes(whole, signature.length);
        boolean opened = false;
        try {
            OriginCheck.Claim claim = new OriginCheck.Claim(key, tag, PendingSend.markOf(options), signature);
            OriginCheck check = signatures == null ? null : check(signatures, claim, bytes, told);
            opened = true;
            return new Opened(bytes, check);
        } finally {
            if (!opened) {
                surround.closing().accept(bytes);
            }
        }
    }

    private OriginCheck check(
            OriginSignatures signing, OriginCheck.Claim claim, SealedBuffer bytes, Consumer<Optional<String>> told) {
        SealedBuffer own = bytes.share();
        boolean made = false;
        try {
            OriginCheck check = new OriginCheck(surround, signing, claim, own, told);
            made = true;
            return check;
        } finally {
            if (!made) {
                surround.closing().accept(own);
            }
        }
    }

    /// Closes a handle, whatever its release does.
    void close(SealedBuffer handle) {
        surround.closing().accept(handle);
    }

    void start(OriginCheck check) {
        thread.put(check);
    }

    /// A broadcast is refused: counted, and said at each power of two.
    public void refused(BroadcastKey key, int tag, String why) {
        refused.increment();
        long count = refused.sum();
        if (Long.bitCount(count) == 1) {
            LOG.log(
                    Level.WARNING,
                    "broadcast is not its origin's: rank=" + settings.rank() + " origin=" + key.origin() + " number="
                            + key.number() + " tag=" + tag + " refused=" + count + " reason=" + why);
        }
    }

    public long refused() {
        return refused.sum();
    }

    /// Whether the caller is what checks.
    public boolean isRunningHere() {
        return thread.isRunningHere();
    }

    public void tick() {
        thread.tick();
    }

    /// Refuses all that is not checked yet.
    ///
    /// @return completes when the thread has ended
    public CompletionStage<Void> close() {
        thread.close();
        return thread.ended();
    }
}
