// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

/// What takes messages for one call.
interface Target<T> {

    void send(T message);
}
