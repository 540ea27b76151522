// SPDX-License-Identifier: Apache-2.0
/// What is measured: a [Case][io.bulla.bench.goals.Case] gives a number, a [Goal][io.bulla.bench.goals.Goal] holds
/// two of them against each other, [Rounds][io.bulla.bench.goals.Rounds] measures,
/// [Results][io.bulla.bench.goals.Results] is what is kept.
package io.bulla.bench.goals;
