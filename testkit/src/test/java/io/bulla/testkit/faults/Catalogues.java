// SPDX-License-Identifier: Apache-2.0
package io.bulla.testkit.faults;

import io.bulla.buffer.SealedBuffer;
import io.bulla.interop.agrona.BuilderDirectBuffer;
import io.bulla.iovec.IoVec;
import io.bulla.pack.Packer;
import io.bulla.pack.value.DataType;
import io.bulla.pool.SlabSource;
import io.bulla.pool.device.Registrar;
import io.bulla.refcount.RefCount;
import io.bulla.refcount.held.Held;
import io.bulla.testkit.FaultCatalogue;
import java.util.List;

/// The catalogues of the modules that `testkit` is built on, and of `interop/agrona`.
final class Catalogues {

    private Catalogues() {}

    static List<FaultCatalogue> all() {
        return List.of(refcount(), iovec(), buffer(), pack(), pool(), agrona());
    }

    static FaultCatalogue refcount() {
        return RefCountCalls.in(of("refcount", RefCount.class, Held.class));
    }

    static FaultCatalogue iovec() {
        return IoVecCalls.in(of("iovec", IoVec.class));
    }

    static FaultCatalogue buffer() {
        return BufferCalls.in(of("buffer-core", SealedBuffer.class));
    }

    static FaultCatalogue pack() {
        return PackCalls.in(of("pack-unpack", Packer.class, DataType.class));
    }

    static FaultCatalogue pool() {
        return PoolCalls.in(of("pool", SlabSource.class, Registrar.class));
    }

    static FaultCatalogue agrona() {
        return AgronaCalls.in(of("agrona", BuilderDirectBuffer.class));
    }

    /// With an argument for each type and a value of each record.
    static FaultCatalogue of(String area, Class<?>... anchors) {
        return new FaultCatalogue(area, anchors).values(Fixtures::of).records(Values::of);
    }
}
