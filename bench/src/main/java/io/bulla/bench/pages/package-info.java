// SPDX-License-Identifier: Apache-2.0
/// What is published: [Scoreboard][io.bulla.bench.pages.Scoreboard] writes the pages and the pictures, and finds
/// those that are stale; a [Curve][io.bulla.bench.pages.Curve] is a picture as numbers.
package io.bulla.bench.pages;
