// SPDX-License-Identifier: Apache-2.0
/// Images of processes with nodes in them.
module io.bulla.runtime.image {
    requires transitive io.bulla.runtime.oob;
    // for CracAdapter alone
    requires static transitive org.crac;
    requires static transitive org.jspecify;

    exports io.bulla.runtime.image;
}
