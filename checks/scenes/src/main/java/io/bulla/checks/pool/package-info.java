// SPDX-License-Identifier: Apache-2.0
/// Reads late beside a pool under load, and compares random lives of buffers with a model.
package io.bulla.checks.pool;
