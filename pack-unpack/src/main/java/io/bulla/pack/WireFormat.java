// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.pack.value.DataType;
import io.bulla.pack.value.Wire;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A format as an explicit value: both sides must agree on it, for the bytes do not tell.
///
/// ```
/// item, not described:       COUNT            block        COUNT   an INT32
/// item, described:     INT32 COUNT TYPE       block        INT32, TYPE   tags
///
///                OPAL DSS               PMIX_3, PMIX_4_NATIVE    PMIX_4
/// number         fixed width, big-endian                         flex128
/// tag            1 byte                 2 bytes                  flex128 of 16 bits
/// tagged again   BOOL INT UINT SIZE     INT UINT SIZE PID        PID
/// in its block   PID STATUS
/// ```
///
/// Every byte of both families is in `docs/wire-format.md`.
public enum WireFormat {
    /// OPAL DSS of Open MPI 4.1 whose items carry no type tags: what an optimised Open MPI speaks.
    OPAL_DSS(1, TypeIds.OPAL, 255, FixedWidth.ENCODING, false),
    /// OPAL DSS of Open MPI 4.1 whose items carry type tags: what a debug Open MPI speaks.
    OPAL_DSS_DESCRIBED(1, TypeIds.OPAL, 255, FixedWidth.ENCODING, true),
    /// OPAL DSS with the ids of 2012.
    OPAL_DSS_2012(2, TypeIds.OPAL_2012, 255, FixedWidth.ENCODING, false),
    /// OPAL DSS with the ids of 2012, described.
    OPAL_DSS_2012_DESCRIBED(2, TypeIds.OPAL_2012, 255, FixedWidth.ENCODING, true),
    /// PMIx 2.1 and 3 (modules v21 and v3): fixed width.
    PMIX_3(3, TypeIds.PMIX, 46, FixedWidth.ENCODING, false),
    /// PMIx 2.1 and 3, described.
    PMIX_3_DESCRIBED(3, TypeIds.PMIX, 46, FixedWidth.ENCODING, true),
    /// PMIx 4 to 6 (modules v4 to v61): flex128.
    PMIX_4(4, TypeIds.PMIX, 255, Flex128.ENCODING, false),
    /// PMIx 4 to 6, described.
    PMIX_4_DESCRIBED(4, TypeIds.PMIX, 255, Flex128.ENCODING, true),
    /// PMIx 4 and 5 run with `psquash=native`: fixed width.
    PMIX_4_NATIVE(5, TypeIds.PMIX, 255, FixedWidth.ENCODING, false),
    /// PMIx 4 and 5 run with `psquash=native`, described.
    PMIX_4_NATIVE_DESCRIBED(5, TypeIds.PMIX, 255, FixedWidth.ENCODING, true);

    static final int DESCRIBED = 0x80;

    private final int code;
    private final TypeIds ids;
    private final int maxId;
    private final Encoding encoding;
    private final boolean described;

    WireFormat(int code, TypeIds ids, int maxId, Encoding encoding, boolean described) {
        this.code = code;
        this.ids = ids;
        this.maxId = maxId;
        this.encoding = encoding;
        this.described = described;
    }

    /// Tells whether items carry their type.
    ///
    /// @return true if a reader can peek and is told of a wrong type
    public boolean described() {
        return described;
    }

    /// The same format with or without type tags.
    ///
    /// @param describe whether items carry their type
    /// @return this format or its twin
    public WireFormat described(boolean describe) {
        return describe == described ? this : values()[ordinal() ^ 1];
    }

    /// A number that never changes, for headers that name the format; the same for both twins.
    ///
    /// @return 1 to 127
    public int code() {
        return code;
    }

    /// The format of a code.
    ///
    /// @param code as [#code()] says
    /// @param described whether items carry their type
    /// @return nothing if no format has the code
    public static Optional<WireFormat> ofCode(int code, boolean described) {
        for (WireFormat format : values()) {
            if (format.code == code && format.described == described) {
                return Optional.of(format);
            }
        }
        return Optional.empty();
    }

    /// The two bytes by which headers name the format: code, then flags, of which 0x80 means described.
    ///
    /// @return 0x0100 to 0x7f80, without a sign
    public int mark() {
        return code << Byte.SIZE | (described ? DESCRIBED : 0);
    }

    /// The format that a header names.
    ///
    /// @param mark as [#mark()] says
    /// @return nothing if no format has the mark
    public static Optional<WireFormat> ofMark(int mark) {
        return (mark & ~DESCRIBED & 0xff) == 0 ? ofCode(mark >>> Byte.SIZE, (mark & DESCRIBED) != 0) : Optional.empty();
    }

    /// The id that stands for a type on the wire.
    ///
    /// @param type what a value is
    /// @return 0 to 255
    /// @throws IllegalArgumentException if the format does not know the type
    public int id(DataType type) {
        int id = ids.id(type);
        if (id < 0 || id > maxId) {
            throw new IllegalArgumentException("type is unknown to the format: type=" + type + " format=" + this);
        }
        return id;
    }

    /// Tells whether the format knows a type.
    ///
    /// @param type what a value is
    /// @return false if the type cannot be packed in it
    public boolean knows(DataType type) {
        int id = ids.id(type);
        return id >= 0 && id <= maxId;
    }

    /// The type of an id, or `null` if the format has none.
    @Nullable
    DataType typeOf(int id) {
        return id <= maxId ? ids.type(id) : null;
    }

    /// The type of an id, or the number.
    String nameOf(int id) {
        DataType type = typeOf(id);
        return type == null ? Integer.toString(id) : type.name();
    }

    Encoding encoding() {
        return encoding;
    }

    boolean isFixedWidth() {
        return encoding == FixedWidth.ENCODING;
    }

    boolean isPmix() {
        return ids == TypeIds.PMIX;
    }

    Wire tagWire() {
        return isPmix() ? Wire.UINT16 : Wire.UINT8;
    }

    /// How one value travels: the type says, but for type ids, of which OPAL's have one byte.
    Wire wireOf(DataType type) {
        return type == DataType.DATA_TYPE ? tagWire() : type.wire();
    }

    /// The tag of the sender's width at the start of a block, or `null`.
    @Nullable
    DataType sizeTag(DataType type) {
        return switch (type) {
            case BOOL -> isPmix() ? null : DataType.UINT8;
            case STATUS -> isPmix() ? null : DataType.INT32;
            case INT, UINT -> encoding == Flex128.ENCODING ? null : DataType.INT32;
            case SIZE -> encoding == Flex128.ENCODING ? null : DataType.UINT64;
            case PID -> DataType.UINT32;
            default -> null;
        };
    }

    /// What an `opal_value_t` of the format's release can be: `opal_dss_pack_value` and its reader know no other.
    boolean opalValueHolds(DataType type) {
        return switch (type) {
            case BYTE, STRING, PID, INT, INT8, INT16, INT32, INT64, UINT, UINT8, UINT16, UINT32, UINT64, BYTE_OBJECT ->
                true;
            case BOOL, SIZE, FLOAT, DOUBLE, TIMEVAL, NAME, STATUS, ENVAR -> described(false) == OPAL_DSS;
            default -> false;
        };
    }

    /// The type of the block in a value: an `opal_value_t` sends a status as an INT.
    DataType inValue(DataType type) {
        return type == DataType.STATUS && !isPmix() ? DataType.INT : type;
    }

    /// Whether that block starts with its tag: in described OPAL all do, but for a byte object.
    boolean isTaggedInValue(DataType type) {
        return described && !isPmix() && type != DataType.BYTE_OBJECT;
    }

    /// The second tag that described OPAL writes for types that it packs as another type, or `null`.
    @Nullable
    DataType aliasTag(DataType type) {
        if (!described || isPmix()) {
            return null;
        }
        return switch (type) {
            case JOBID, VPID -> DataType.UINT32;
            case STATUS -> DataType.INT;
            case DATA_TYPE -> DataType.UINT8;
            default -> null;
        };
    }
}
