// SPDX-License-Identifier: Apache-2.0
/// Kills, stops and attacks lenders and borrowers of shared slabs, and looks for what is left.
package io.bulla.checks.shared;
