// SPDX-License-Identifier: Apache-2.0
/// Who keeps a thing alive: a count of holders, and one claim per holder.
module io.bulla.refcount {
    exports io.bulla.refcount;
}
