// SPDX-License-Identifier: Apache-2.0
module com.example.modules {
    requires io.bulla.interop.netty;
    requires io.bulla.posix;
    requires io.bulla.pack;
}
