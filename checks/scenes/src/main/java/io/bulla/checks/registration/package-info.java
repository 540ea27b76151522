// SPDX-License-Identifier: Apache-2.0
/// Uses registered memory as others do and as Bulla does, beside late writes and killed processes.
package io.bulla.checks.registration;
