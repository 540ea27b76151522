// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.image;

import java.util.Objects;
import org.crac.CheckpointException;
import org.crac.Context;
import org.crac.Resource;
import org.crac.RestoreException;

/// A [Standstill] as a resource of CRaC, which asks for it before the JDK writes an image of the process,
/// and ends it in the process that comes from the image.
///
/// ```java
/// CracAdapter adapter = new CracAdapter(Standstill.of(StandstillOptions.DEFAULT, node));
/// // a weak reference: the program keeps the adapter
/// Core.getGlobalContext().register(adapter);
/// ```
///
/// CRaC calls both hooks also when the checkpoint fails, for this resource or for another one: the second
/// one finds that nothing stands still, or ends it.
public final class CracAdapter implements Resource {

    private final Standstill standstill;

    /// Registers nothing.
    ///
    /// @param standstill of this adapter alone
    public CracAdapter(Standstill standstill) {
        this.standstill = Objects.requireNonNull(standstill, "standstill");
    }

    /// Begins the standstill.
    ///
    /// @param context not looked at
    /// @throws CheckpointException if it did not begin, with the reason as its message and suppressed: the
    ///     nodes have gone on, or are closed and named
    @Override
    public void beforeCheckpoint(Context<? extends Resource> context) throws CheckpointException {
        try {
            standstill.begin();
        } catch (StandstillException | RuntimeException failure) {
            CheckpointException refused = new CheckpointException(failure.getMessage());
            // CRaC tells of what is suppressed, and not of a cause
            refused.addSuppressed(failure);
            throw refused;
        }
    }

    /// Ends the standstill.
    ///
    /// @param context not looked at
    /// @throws RestoreException if a node could not go on, with the reason as its message and suppressed: it
    ///     is closed, and the other nodes go on
    @Override
    public void afterRestore(Context<? extends Resource> context) throws RestoreException {
        try {
            standstill.end();
        } catch (StandstillException | RuntimeException failure) {
            RestoreException refused = new RestoreException(failure.getMessage());
            refused.addSuppressed(failure);
            throw refused;
        }
    }
}
