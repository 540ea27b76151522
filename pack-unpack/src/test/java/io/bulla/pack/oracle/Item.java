// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.oracle;

import io.bulla.pack.value.DataType;
import java.util.List;

/// What one call packs.
record Item(DataType type, List<Object> values) {}
