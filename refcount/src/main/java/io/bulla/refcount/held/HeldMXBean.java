// SPDX-License-Identifier: Apache-2.0
package io.bulla.refcount.held;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Who holds memory in this process, as a management bean. Each attribute is a snapshot of its own.
///
/// Handles are those that a [io.bulla.refcount.LeaseLedger] lists: a source without one holds memory for handles that
/// are not counted here, and its line says `not traced`. Several handles of one buffer count its bytes several times.
public interface HeldMXBean {

    /// The budgets.
    ///
    /// @return a line of `name=value` for each
    List<String> getBudgets();

    /// The sources that hand out fresh memory.
    ///
    /// @return a line of `name=value` for each
    List<String> getSources();

    /// The sources that use memory again.
    ///
    /// @return a line of `name=value` for each
    List<String> getPools();

    /// The peers of this process's nodes.
    ///
    /// @return a line of `name=value` for each; one that says so for a node that does not answer within two seconds
    List<String> getPeers();

    /// Handles that are open now.
    ///
    /// @return at least 0
    long getOpenHandles();

    /// What they hold, in bytes.
    ///
    /// @return at least 0
    long getHeldBytes();

    /// How long the oldest of them has been open, in milliseconds.
    ///
    /// @return 0 if none is
    long getOldestMillis();

    /// Handles that were collected unclosed, and healed.
    ///
    /// @return a number that only grows while the ledgers are there
    long getHealed();

    /// The open handles by tag.
    ///
    /// @return those that hold most come first
    List<Tag> getTags();

    /// The open handles that are open for the longest time.
    ///
    /// @return at most ten, the oldest first
    List<Handle> getOldest();

    /// The open handles of one tag.
    ///
    /// @param tag as text
    /// @param handles how many
    /// @param bytes that they hold
    /// @param oldestMillis how long the oldest has been open
    record Tag(String tag, long handles, long bytes, long oldestMillis) {}

    /// One open handle.
    ///
    /// @param tag as text, `null` without one
    /// @param ageMillis how long it has been open
    /// @param bytes that it holds
    /// @param takenAt the stack that took it, empty if its ledger keeps none
    record Handle(@Nullable String tag, long ageMillis, long bytes, List<String> takenAt) {}
}
