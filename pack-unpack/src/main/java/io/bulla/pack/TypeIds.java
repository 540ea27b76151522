// SPDX-License-Identifier: Apache-2.0
package io.bulla.pack;

import io.bulla.pack.value.DataType;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Which number stands for a type on the wire. Open MPI renumbered its ids between releases without a version on the
/// wire. They are fixed here for good.
enum TypeIds {
    /// Open MPI 4.1, `opal/dss/dss_types.h`.
    OPAL,
    /// Open MPI of August 2012, the same file, and `orte/include/orte/types.h` from 31 on.
    OPAL_2012,
    /// PMIx 4.2 to 6.1, `pmix_types.h` and `pmix_common.h`. [WireFormat#PMIX_3] knows the ids up to 46.
    PMIX;

    private static final int NONE = -1;
    private static final int MOST = 0xff;

    private final int[] ids = new int[DataType.values().length];
    private final @Nullable DataType[] types = new @Nullable DataType[MOST + 1];

    static {
        // OPAL, OPAL_2012, PMIX; -1 where the type is unknown
        row(DataType.UNDEF, 0, 0, 0);
        row(DataType.BYTE, 1, 1, 2);
        row(DataType.BOOL, 2, 2, 1);
        row(DataType.STRING, 3, 3, 3);
        row(DataType.SIZE, 4, 4, 4);
        row(DataType.PID, 5, 5, 5);
        row(DataType.INT, 6, 6, 6);
        row(DataType.INT8, 7, 7, 7);
        row(DataType.INT16, 8, 8, 8);
        row(DataType.INT32, 9, 9, 9);
        row(DataType.INT64, 10, 10, 10);
        row(DataType.UINT, 11, 11, 11);
        row(DataType.UINT8, 12, 12, 12);
        row(DataType.UINT16, 13, 13, 13);
        row(DataType.UINT32, 14, 14, 14);
        row(DataType.UINT64, 15, 15, 15);
        row(DataType.FLOAT, 16, -1, 16);
        row(DataType.DOUBLE, 17, -1, 17);
        row(DataType.TIMEVAL, 18, -1, 18);
        row(DataType.TIME, 19, -1, 19);
        row(DataType.STATUS, 32, -1, 20);
        row(DataType.VALUE, -1, -1, 21);
        row(DataType.PROC, -1, -1, 22);
        row(DataType.APP, -1, -1, 23);
        row(DataType.INFO, -1, -1, 24);
        row(DataType.PDATA, -1, -1, 25);
        row(DataType.BUFFER, 27, -1, 26);
        row(DataType.BYTE_OBJECT, 20, 16, 27);
        row(DataType.KVAL, 26, 22, 28);
        row(DataType.PERSIST, -1, -1, 30);
        row(DataType.POINTER, -1, -1, 31);
        row(DataType.SCOPE, -1, -1, 32);
        row(DataType.DATA_RANGE, -1, -1, 33);
        row(DataType.COMMAND, -1, -1, 34);
        row(DataType.INFO_DIRECTIVES, -1, -1, 35);
        row(DataType.DATA_TYPE, 21, 17, 36);
        row(DataType.PROC_STATE, -1, -1, 37);
        row(DataType.PROC_INFO, -1, -1, 38);
        row(DataType.DATA_ARRAY, -1, -1, 39);
        row(DataType.PROC_RANK, -1, -1, 40);
        row(DataType.QUERY, -1, -1, 41);
        row(DataType.COMPRESSED_STRING, -1, -1, 42);
        row(DataType.ALLOC_DIRECTIVE, -1, -1, 43);
        row(DataType.IOF_CHANNEL, -1, -1, 45);
        row(DataType.ENVAR, 39, -1, 46);
        row(DataType.COORD, -1, -1, 47);
        row(DataType.REGATTR, -1, -1, 48);
        row(DataType.JOB_STATE, -1, -1, 50);
        row(DataType.LINK_STATE, -1, -1, 51);
        row(DataType.PROC_CPUSET, -1, -1, 52);
        row(DataType.GEOMETRY, -1, -1, 53);
        row(DataType.DEVICE_DIST, -1, -1, 54);
        row(DataType.ENDPOINT, -1, -1, 55);
        row(DataType.DEVTYPE, -1, -1, 57);
        row(DataType.LOCTYPE, -1, -1, 58);
        row(DataType.COMPRESSED_BYTE_OBJECT, -1, -1, 59);
        row(DataType.PROC_NSPACE, -1, -1, 60);
        row(DataType.DATA_BUFFER, -1, -1, 65);
        row(DataType.STOR_MEDIUM, -1, -1, 66);
        row(DataType.STOR_ACCESS, -1, -1, 67);
        row(DataType.STOR_PERSIST, -1, -1, 68);
        row(DataType.STOR_ACCESS_TYPE, -1, -1, 69);
        row(DataType.NULL, 22, 18, -1);
        row(DataType.NAME, 29, 32, -1);
        row(DataType.JOBID, 30, 34, -1);
        row(DataType.VPID, 31, 33, -1);
    }

    TypeIds() {
        Arrays.fill(ids, NONE);
    }

    /// The id of a type, 0 to 255, or -1 if it has none.
    int id(DataType type) {
        return ids[type.ordinal()];
    }

    /// The type of any number.
    @Nullable
    DataType type(int id) {
        return id >= 0 && id <= MOST ? types[id] : null;
    }

    private static void row(DataType type, int opal, int opal2012, int pmix) {
        OPAL.put(type, opal);
        OPAL_2012.put(type, opal2012);
        PMIX.put(type, pmix);
    }

    private void put(DataType type, int id) {
        if (id != NONE) {
            ids[type.ordinal()] = id;
            types[id] = type;
        }
    }
}
