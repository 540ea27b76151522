// SPDX-License-Identifier: Apache-2.0
/// Text as C keeps it, for the packages beside this one; not exported.
///
/// - [Utf8][io.bulla.pack.text.Utf8] counts, writes and reads it.
/// - [FixedField][io.bulla.pack.text.FixedField] refuses what C would cut.
/// - [Printable][io.bulla.pack.text.Printable] shows it to a person.
@NullMarked
package io.bulla.pack.text;

import org.jspecify.annotations.NullMarked;
