// SPDX-License-Identifier: Apache-2.0

/// Nodes on several hosts of this machine, in network namespaces: cables are pulled, packets lost, processes killed.
package io.bulla.checks.hosts;
