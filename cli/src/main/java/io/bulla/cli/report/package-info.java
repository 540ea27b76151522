// SPDX-License-Identifier: Apache-2.0
/// What a person sees of a broadcast.
///
/// - [Progress][io.bulla.cli.report.Progress] paints a bar while nodes verify.
/// - [Report][io.bulla.cli.report.Report] is printed at the end.
package io.bulla.cli.report;
