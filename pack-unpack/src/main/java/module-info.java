// SPDX-License-Identifier: Apache-2.0
/// What bytes mean: typed values in, typed values out.
module io.bulla.pack {
    requires transitive io.bulla.buffer;

    exports io.bulla.pack;
}
