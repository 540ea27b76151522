// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.grpc;

/// Takes the messages of one call.
interface Target<T> {

    void send(T message);
}
