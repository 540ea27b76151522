// SPDX-License-Identifier: Apache-2.0
/// Flow control: [SendQuota][io.bulla.runtime.oob.internal.flow.SendQuota] bounds what the program has on its way,
/// [Credit][io.bulla.runtime.oob.internal.flow.Credit] what peers may have here,
/// [Allowance][io.bulla.runtime.oob.internal.flow.Allowance] is a peer's credit as its sender sees it.
///
/// None of it knows a peer or a session; not exported.
@NullMarked
package io.bulla.runtime.oob.internal.flow;

import org.jspecify.annotations.NullMarked;
