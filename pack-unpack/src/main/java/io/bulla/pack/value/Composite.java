// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack.value;

/// A value of several fields, as a record.
public sealed interface Composite
        permits App,
                Coord,
                DataArray,
                DeviceDistance,
                Endpoint,
                Envar,
                Geometry,
                Info,
                Kval,
                Name,
                NestedBuffer,
                Pdata,
                Proc,
                ProcInfo,
                Query,
                RegAttr,
                Timeval,
                Value {

    /// The longest key in bytes: C keeps it in 512, its terminating zero included.
    int MAX_KEY_BYTES = 511;

    /// The type whose id stands on the wire.
    ///
    /// @return the type of this record
    default DataType dataType() {
        return DataType.of(getClass());
    }
}
