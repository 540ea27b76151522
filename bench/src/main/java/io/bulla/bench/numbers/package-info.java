// SPDX-License-Identifier: Apache-2.0
/// What every part needs: medians, units that a person reads, and the machine that measures.
package io.bulla.bench.numbers;
