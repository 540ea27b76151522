package io.bulla.pack;

/// A format as an explicit value: both sides must agree on it, for the bytes do not tell.
///
/// OPAL DSS (Open MPI 4.1, `opal/dss`), all numbers big-endian:
///
/// ```
/// item, not described:         COUNT:int32            values
/// item, described:     INT32id COUNT:int32  TYPEid    values
///
/// INT32, INT64   4 or 8 bytes each            BOOL         UINT8id, then one byte each, 0 or 1
/// STRING         LEN:int32 bytes 00           BYTE_OBJECT  SIZE:int32 bytes
///                LEN counts the 00; LEN 0 is a null string, "" is LEN 1
/// ```
public enum WireFormat {
    /// OPAL DSS whose items carry no type tags: what an optimised Open MPI speaks.
    OPAL_DSS(false),
    /// OPAL DSS whose items carry type tags: what a debug Open MPI speaks.
    OPAL_DSS_DESCRIBED(true);

    private final boolean described;

    WireFormat(boolean described) {
        this.described = described;
    }

    /// Tells whether items carry their type.
    ///
    /// @return true if a reader can peek and is told of a wrong type
    public boolean described() {
        return described;
    }
}
