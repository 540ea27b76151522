// SPDX-License-Identifier: Apache-2.0
/// Who keeps a thing alive: a count of holders, and one claim per holder.
module io.bulla.refcount {
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.refcount;
}
