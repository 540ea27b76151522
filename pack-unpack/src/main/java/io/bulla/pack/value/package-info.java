// SPDX-License-Identifier: Apache-2.0
/// Types of both families, and the records that hold values of several fields.
///
/// - [DataType][io.bulla.pack.value.DataType] names what a value is, and what Java holds it in;
///   [Wire][io.bulla.pack.value.Wire] is how it travels, which several types share.
/// - [Composite][io.bulla.pack.value.Composite] values are records: [Proc][io.bulla.pack.value.Proc],
///   [Info][io.bulla.pack.value.Info], [Value][io.bulla.pack.value.Value] and others. They check their fields when
///   they are made, so what C would cut is refused before it is packed.
///
/// A value knows no format: [WireFormat][io.bulla.pack.WireFormat] has the ids.
@NullMarked
package io.bulla.pack.value;

import org.jspecify.annotations.NullMarked;
