// SPDX-License-Identifier: Apache-2.0
package io.bulla.runtime.pmix;

import java.util.HashMap;
import java.util.Map;

/// A status of PMIx: the answer to a call, or the code of an event. Any number can arrive; those that are known
/// have a name.
///
/// Source of the numbers: PMIx 4.2 to 6.1, `pmix_common.h`.
///
/// @param code 0 is success, errors and events are negative
public record PmixStatus(int code) {

    /// Success.
    public static final PmixStatus SUCCESS = new PmixStatus(0);
    /// The time that the server was given is over.
    public static final PmixStatus TIMEOUT = new PmixStatus(-24);
    /// There is no server.
    public static final PmixStatus UNREACHABLE = new PmixStatus(-25);
    /// The server does not take what was sent.
    public static final PmixStatus BAD_PARAMETER = new PmixStatus(-27);
    /// A limit of this client is reached.
    public static final PmixStatus OUT_OF_RESOURCE = new PmixStatus(-29);
    /// The client is not joined: not yet, or not any more.
    public static final PmixStatus NOT_JOINED = new PmixStatus(-31);
    /// No such key.
    public static final PmixStatus NOT_FOUND = new PmixStatus(-46);
    /// The server cannot do this.
    public static final PmixStatus NOT_SUPPORTED = new PmixStatus(-47);
    /// The answer of the server cannot be read.
    public static final PmixStatus UNPACK_FAILURE = new PmixStatus(-20);
    /// A collective call ended without all of its members.
    public static final PmixStatus PARTIAL_SUCCESS = new PmixStatus(-52);
    /// A connection to a process, or to the server, was lost.
    public static final PmixStatus LOST_CONNECTION = new PmixStatus(-61);
    /// Event: a process ended without leaving its job first.
    public static final PmixStatus TERMINATED_WITHOUT_SYNC = new PmixStatus(-200);
    /// Event: a process ended.
    public static final PmixStatus PROCESS_TERMINATED = new PmixStatus(-201);
    /// Event: a process was ended by a signal.
    public static final PmixStatus ABORTED_BY_SIGNAL = new PmixStatus(-402);

    private static final Map<Integer, String> NAMES = names("""
            0 SUCCESS
            -1 ERROR
            -3 DEBUGGER_RELEASE
            -4 ERR_PROC_RESTART
            -5 ERR_PROC_CHECKPOINT
            -6 ERR_PROC_MIGRATE
            -8 ERR_PROC_REQUESTED_ABORT
            -11 ERR_EXISTS
            -12 ERR_INVALID_CRED
            -15 ERR_WOULD_BLOCK
            -16 ERR_UNKNOWN_DATA_TYPE
            -18 ERR_TYPE_MISMATCH
            -19 ERR_UNPACK_INADEQUATE_SPACE
            -20 ERR_UNPACK_FAILURE
            -21 ERR_PACK_FAILURE
            -23 ERR_NO_PERMISSIONS
            -24 ERR_TIMEOUT
            -25 ERR_UNREACH
            -27 ERR_BAD_PARAM
            -28 ERR_RESOURCE_BUSY
            -29 ERR_OUT_OF_RESOURCE
            -31 ERR_INIT
            -32 ERR_NOMEM
            -46 ERR_NOT_FOUND
            -47 ERR_NOT_SUPPORTED
            -49 ERR_COMM_FAILURE
            -50 ERR_UNPACK_READ_PAST_END_OF_BUFFER
            -51 ERR_CONFLICTING_CLEANUP_DIRECTIVES
            -52 ERR_PARTIAL_SUCCESS
            -53 ERR_DUPLICATE_KEY
            -58 READY_FOR_DEBUG
            -59 ERR_PARAM_VALUE_NOT_SUPPORTED
            -60 ERR_EMPTY
            -61 ERR_LOST_CONNECTION
            -62 ERR_EXISTS_OUTSIDE_SCOPE
            -111 PROC_TERMINATED
            -144 ERR_EVENT_REGISTRATION
            -145 EVENT_JOB_END
            -156 OPERATION_IN_PROGRESS
            -157 OPERATION_SUCCEEDED
            -158 ERR_INVALID_OPERATION
            -180 ERR_JOB_CANCELED
            -181 ERR_JOB_FAILED_TO_LAUNCH
            -182 ERR_JOB_ABORTED
            -183 ERR_JOB_KILLED_BY_CMD
            -184 ERR_JOB_ABORTED_BY_SIG
            -185 ERR_JOB_TERM_WO_SYNC
            -187 ERR_JOB_NON_ZERO_TERM
            -191 EVENT_JOB_START
            -200 ERR_PROC_TERM_WO_SYNC
            -201 EVENT_PROC_TERMINATED
            -231 EVENT_NODE_DOWN
            -232 EVENT_NODE_OFFLINE
            -400 ERR_PROC_KILLED_BY_CMD
            -401 ERR_PROC_FAILED_TO_START
            -402 ERR_PROC_ABORTED_BY_SIG
            -403 ERR_PROC_SENSOR_BOUND_EXCEEDED
            -404 ERR_EXIT_NONZERO_TERM
            """);

    /// The name in C, without its `PMIX_`.
    ///
    /// @return such as `ERR_NOT_FOUND`, or the number if it is not known
    public String name() {
        return NAMES.getOrDefault(code, Integer.toString(code));
    }

    /// Tells whether this is success.
    ///
    /// @return true for 0
    public boolean isSuccess() {
        return code == 0;
    }

    @Override
    public String toString() {
        return NAMES.containsKey(code) ? name() + "(" + code + ")" : name();
    }

    private static Map<Integer, String> names(String lines) {
        Map<Integer, String> names = new HashMap<>();
        lines.lines().forEach(line -> {
            int space = line.indexOf(' ');
            names.put(Integer.valueOf(line.substring(0, space)), line.substring(space + 1));
        });
        return Map.copyOf(names);
    }
}
