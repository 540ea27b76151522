// SPDX-License-Identifier: Apache-2.0
/// What bytes mean: typed values in, typed values out.
module io.bulla.pack {
    requires transitive io.bulla.buffer;
    // annotations alone
    requires static transitive org.jspecify;

    exports io.bulla.pack;
    exports io.bulla.pack.value;
}
