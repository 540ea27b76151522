// SPDX-License-Identifier: Apache-2.0
/// Pictures as SVG text, for a light and a dark page.
///
/// - [Bars][io.bulla.bench.pictures.Bars]: rivals as multiples of what Bulla takes.
/// - [Lines][io.bulla.bench.pictures.Lines]: values over time.
package io.bulla.bench.pictures;
