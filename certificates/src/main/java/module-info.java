// SPDX-License-Identifier: Apache-2.0
/// Certificates that are written here: for the message layer, and for trials. No part of the API.
@SuppressWarnings("module") // the one that the export names is built later
module io.bulla.certificates {
    exports io.bulla.certificates.internal to
            io.bulla.runtime.oob;
}
