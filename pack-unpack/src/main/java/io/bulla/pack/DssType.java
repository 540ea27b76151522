package io.bulla.pack;

/// Type ids of OPAL DSS as of Open MPI 4.1 (`opal/dss/dss_types.h`); the id stands on the wire in described mode,
/// and as the inner size tag of `BOOL` in both.
///
/// Open MPI renumbered its ids between releases without a version on the wire, so a format fixes them.
public enum DssType {
    /// Truth values, one byte each behind a `UINT8` tag.
    BOOL(2),
    /// UTF-8 with its terminating zero byte.
    STRING(3),
    /// Four bytes, two's complement, big-endian.
    INT32(9),
    /// Eight bytes, two's complement, big-endian.
    INT64(10),
    /// One byte, unsigned: only as the inner tag of `BOOL` for now.
    UINT8(12),
    /// A 32-bit size and that many bytes.
    BYTE_OBJECT(20);

    private final byte id;

    DssType(int id) {
        this.id = (byte) id;
    }

    /// The id on the wire.
    ///
    /// @return 1 to 127
    public byte id() {
        return id;
    }

    static String nameOf(byte id) {
        for (DssType type : values()) {
            if (type.id == id) {
                return type.name();
            }
        }
        return Integer.toString(id & 0xff);
    }
}
