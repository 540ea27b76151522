// SPDX-License-Identifier: Apache-2.0
package io.bulla.buffer;

/// The level of protection of an [ArenaSource] against use after the last close. The API is the same at each level;
/// the misuse table in `docs/misuse.md` says what each promises.
///
/// A third level, GUARDED, is no constant here, for it needs the kernel: a source of its own, `MemfdSource` of
/// `native/posix`. It does what [#FAST] does, and no native code and no other process can write what was sealed.
public enum Safety {
    /// The handle's own flag, and the arena beneath: a stale view throws once its chunk is closed, and reads the
    /// sealed bytes until then; never another buffer's.
    FAST,
    /// Also: what is given back is poisoned at once, its views throw at once, it stays in quarantine before it
    /// is freed (behind 16 MiB of later ones, or a quarter of the budget if that is less) and is searched for
    /// late writes; the error of a use after close says who closed. Each region has an arena of its own. For
    /// tests and for finding faults.
    CHECKED
}
