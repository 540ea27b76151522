// SPDX-License-Identifier: Apache-2.0
module com.example.image {
    requires io.bulla.pack;
}
