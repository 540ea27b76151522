// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.needs;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.platform.commons.support.ReflectionSupport;

/// Remembers the answer of each probe in this JVM.
final class Answers {

    private static final Map<Class<? extends Probe>, Optional<String>> BY_PROBE = new ConcurrentHashMap<>();
    private static final Map<Piece, Optional<String>> BY_PIECE = new ConcurrentHashMap<>();

    private Answers() {}

    /// Why the piece is missing, or null.
    static @Nullable String of(Piece piece, Class<? extends Probe> by) {
        Optional<String> answer = by == Piece.OwnProbe.class
                ? BY_PIECE.computeIfAbsent(piece, each -> ask(each.ownProbe()))
                : BY_PROBE.computeIfAbsent(by, type -> ask(ReflectionSupport.newInstance(type)));
        return answer.orElse(null);
    }

    private static Optional<String> ask(Probe probe) {
        try {
            return Optional.ofNullable(probe.missing());
        } catch (Exception missing) {
            return Optional.of(String.valueOf(missing.getMessage()));
        }
    }
}
