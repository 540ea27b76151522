// SPDX-License-Identifier: Apache-2.0
/// One message to many gRPC streams: what each design costs the server.
package io.bulla.bench.grpc;
