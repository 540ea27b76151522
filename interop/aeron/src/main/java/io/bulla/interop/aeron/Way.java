// SPDX-License-Identifier: Apache-2.0
package io.bulla.interop.aeron;

/// What goes between an [AeronLender] and an [AeronBorrower], big-endian.
///
/// ```
/// a place, 48 bytes:   0 number   8 arrived  16 the record that lends, 32 bytes
/// a return, 32 bytes:  0 number   8 arrived  16 slot  20 generation  24 slab
/// ```
///
/// Numbers count from 0, places and returns apart; `arrived` is how many of the other kind have come. Each side keeps
/// what it has said until it hears that it arrived, so whatever Aeron loses is said again on the socket.
///
/// Words on the socket:
///
/// | word | to the borrower | to the lender |
/// |---|---|---|
/// | 1 | the session of the places | the session of the returns: the borrower reads places |
/// | 2 | Aeron is over: so many returns have come | Aeron is over: so many places have come |
/// | 3 | so many returns have come | so many places have come |
/// | 4 | a place: its number, returns that have come, and its record | - |
final class Way {

    static final int SESSION = 1;
    static final int OVER = 2;
    static final int ARRIVED = 3;
    static final int PLACE = 4;

    static final int NUMBER_AT = 0;
    static final int ARRIVED_AT = 8;
    static final int RECORD_AT = 16;
    static final int PLACE_BYTES = 48;
    static final int RETURN_BYTES = 32;

    /// So many arrivals are told in a word of their own, if nothing goes the other way that tells of them.
    static final int TOLD_EACH = 256;

    private Way() {}
}
