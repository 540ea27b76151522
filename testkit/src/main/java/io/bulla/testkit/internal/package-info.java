// SPDX-License-Identifier: Apache-2.0
/// What a step of a fault run stands on: a full heap, another thread, results that compare and take no memory. No
/// part of the API.
@NullMarked
package io.bulla.testkit.internal;

import org.jspecify.annotations.NullMarked;
